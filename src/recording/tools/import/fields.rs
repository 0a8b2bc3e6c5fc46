//! The fields of JSON lines, as a recording has them.

use std::time::Duration;

use jiff::Timestamp;

use crate::lines::{Line, ReadError};
use crate::listwatch::Status;
use crate::object::{Origin, ResourceVersion};

/// The fields that every line has.
pub(super) struct Place {
    pub(super) received: Timestamp,
    pub(super) context: String,
}

/// The fields that the line of a type has.
pub(super) struct Head {
    pub(super) place: Place,
    /// Group, version, plural and kind.
    pub(super) names: [String; 4],
}

impl Place {
    pub(super) fn read(line: &Line<'_>) -> Result<Self, String> {
        Ok(Self {
            received: line.ts.ok_or_else(|| missing("ts"))?,
            context: line.context.clone().ok_or_else(|| missing("context"))?,
        })
    }
}

impl Head {
    pub(super) fn read(line: &Line<'_>) -> Result<Self, String> {
        let field = |name: &str, value: &Option<String>| value.clone().ok_or_else(|| missing(name));
        Ok(Self {
            place: Place::read(line)?,
            names: [
                field("group", &line.group)?,
                field("version", &line.version)?,
                field("resource", &line.resource)?,
                field("kind", &line.kind)?,
            ],
        })
    }
}

/// Returns the length of a gap.
pub(super) fn lasted(line: &Line<'_>) -> Result<Duration, String> {
    let seconds = line.seconds.and_then(|seconds| seconds.get().parse::<f64>().ok());
    let lasted = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    lasted.ok_or_else(|| missing("seconds"))
}

pub(super) fn missing(field: &str) -> String {
    format!(
        "the field {field:?} is missing: only lines with all fields can be imported, as `watch -o json` writes them without --fields"
    )
}

pub(super) fn unreadable(error: &ReadError) -> String {
    match error {
        ReadError::Malformed(reason) => format!("it is no JSON line of `watch -o json`: {reason}"),
        error => error.to_string(),
    }
}

pub(super) fn version(text: Option<&str>) -> ResourceVersion {
    ResourceVersion::new(text.unwrap_or_default())
}

/// Returns the origin of a change. A line without one is from the watch of another program.
pub(super) fn origin(text: Option<&str>) -> Origin {
    let all = [Origin::List, Origin::Relist, Origin::Filter];
    all.into_iter().find(|origin| Some(origin.as_str()) == text).unwrap_or(Origin::Watch)
}

/// Parses a Status. Other JSON becomes a Status that has only this JSON.
pub(super) fn status(json: &str) -> Status {
    let value: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    Status {
        code: value["code"].as_u64().and_then(|code| u16::try_from(code).ok()),
        reason: text(&value["reason"]),
        message: text(&value["message"]),
        name: value["details"]["name"].as_str().map(Into::into),
        json: json.to_owned(),
    }
}
