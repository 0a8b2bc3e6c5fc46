//! The reader of the published JSON lines.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::FORMAT;

/// A line that was read. Objects and values are the bytes of the line.
///
/// A field is `None` if the line does not have it, as with `--fields`. Unknown fields are ignored, and an unknown type
/// is kept as it is: a later version may add both. Serialized, a line that this version wrote has the same bytes again.
///
/// ```
/// use kdelta::lines::Line;
///
/// let line = Line::read(br#"{"v":1,"type":"ADDED","name":"web","object":{"kind":"Pod"},"later":7}"#)?;
/// assert_eq!((line.line_type.as_deref(), line.name.as_deref()), (Some("ADDED"), Some("web")));
/// assert_eq!(line.object.map(|object| object.get()), Some(r#"{"kind":"Pod"}"#));
/// # Ok::<(), kdelta::lines::ReadError>(())
/// ```
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Line<'a> {
    /// The format; always 1 if present.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub v: Option<u64>,
    /// The number of the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The time at which the event was received.
    #[serde(skip_serializing_if = "Option::is_none", with = "milliseconds")]
    pub ts: Option<Timestamp>,
    /// `ADDED`, `MODIFIED`, `DELETED`, `SYNC`, `SYNCED`, `GAP`, `ERROR`, `STARTED`, or the type of a later version.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub line_type: Option<String>,
    /// The origin of a delta.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The version from which the watch continues after this line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// The kubeconfig context; empty where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The API group; empty for the core group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The API version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The kind of the objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The plural name in the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The namespace of the object, or the watched one; empty for all and for cluster-scoped objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name of the object, or the watched one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The uid of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// The last version before a gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The version after a gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The length of a gap in seconds, a JSON number.
    #[serde(skip_serializing_if = "Option::is_none", borrow)]
    pub seconds: Option<&'a RawValue>,
    /// The version of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
    /// The object, the content of a bookmark, or a Status.
    #[serde(skip_serializing_if = "Option::is_none", borrow)]
    pub object: Option<&'a RawValue>,
    /// Whether a delete was inferred.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_state_unknown: Option<bool>,
    /// The state before an update.
    #[serde(skip_serializing_if = "Option::is_none", borrow)]
    pub old: Option<&'a RawValue>,
    /// The differences between `old` and `object`, a JSON array.
    #[serde(skip_serializing_if = "Option::is_none", borrow)]
    pub changes: Option<&'a RawValue>,
    /// The field manager that made a change, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// The subresource through which it made the change; absent for the object itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subresource: Option<String>,
}

/// The error of a line that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is no line, or was cut off: the rest of the source is unreliable.
    #[error("malformed line: {0}")]
    Malformed(String),
    /// A later version wrote it: a newer program is needed.
    #[error("the line has the format {0}, and this version reads format 1")]
    Format(u64),
}

impl<'a> Line<'a> {
    /// Reads one line, with or without its line break. The caller bounds its length.
    ///
    /// # Errors
    /// [`ReadError`]; its text has nothing of the line.
    pub fn read(line: &'a [u8]) -> Result<Self, ReadError> {
        // An array of the fields would be accepted too.
        if !line.trim_ascii_start().starts_with(b"{") {
            return Err(ReadError::Malformed("it is no JSON object".to_owned()));
        }
        // First, since the fields of another format may have other types.
        let Head { v } = serde_json::from_slice(line).map_err(|error| malformed(&error))?;
        match v {
            Some(format) if format != FORMAT => Err(ReadError::Format(format)),
            _ => serde_json::from_slice(line).map_err(|error| malformed(&error)),
        }
    }
}

/// The format of a line.
#[derive(Deserialize)]
struct Head {
    v: Option<u64>,
}

fn malformed(error: &serde_json::Error) -> ReadError {
    ReadError::Malformed(format!("{:?} error at column {}", error.classify(), error.column()))
}

/// The time as [`super::LineWriter`] writes it.
mod milliseconds {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer, de};

    use crate::lines::writer::TIME;

    #[expect(clippy::ref_option, reason = "the signature is serde's")]
    pub(super) fn serialize<S: Serializer>(
        time: &Option<Timestamp>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => serializer.collect_str(&time.strftime(TIME)),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_and_types_of_a_later_version_are_accepted() {
        let line = Line::read(b"{\"v\":1,\"type\":\"MOVED\",\"later\":{\"a\":[1]}}\n").expect("a line");
        assert_eq!(line.line_type.as_deref(), Some("MOVED"));
        assert_eq!(serde_json::to_string(&line).expect("JSON"), r#"{"v":1,"type":"MOVED"}"#);
    }

    #[test]
    fn another_format_differs_from_a_malformed_line() {
        assert_eq!(Line::read(br#"{"v":2,"seq":"one"}"#).err(), Some(ReadError::Format(2)));
        for line in ["", "{", r#"{"v":"1"}"#, r#"{"ts":"s3cret"}"#, "[]", r#"{"v":1}{}"#] {
            let error = Line::read(line.as_bytes()).err();
            let Some(ReadError::Malformed(reason)) = error else { panic!("{line}: {error:?}") };
            assert!(!reason.contains("s3cret"), "{reason}");
        }
    }

    #[test]
    fn deeply_nested_object_is_kept_unparsed() {
        let object = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        let text = format!(r#"{{"object":{object}}}"#);
        let line = Line::read(text.as_bytes()).expect("a line");
        assert_eq!(line.object.map(RawValue::get), Some(object.as_str()));
    }
}
