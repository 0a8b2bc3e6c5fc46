//! An event in a tree.

use jiff::Timestamp;
use kdelta::object::JsonValue;

use super::fields::text;

/// The content of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventNote {
    /// `Normal`, `Warning` or another type.
    pub(crate) event_type: String,
    pub(crate) reason: String,
    pub(crate) message: String,
    /// The number of occurrences.
    pub(crate) count: i64,
    pub(crate) last_seen: Option<Timestamp>,
    /// The UID of the object, unless it is a node, of which events have the name in its place.
    pub(super) about: Option<String>,
}

impl EventNote {
    pub(super) fn read(event: &JsonValue<'_>) -> Self {
        let field = |name| text(event, &[name]).unwrap_or_default().to_owned();
        let times = [
            &["series", "lastObservedTime"][..],
            &["lastTimestamp"],
            &["eventTime"],
            &["firstTimestamp"],
            &["metadata", "creationTimestamp"],
        ];
        let count = |of: &JsonValue<'_>| match of.get("count") {
            Some(JsonValue::Int(count)) => Some(*count),
            _ => None,
        };
        let is_node = text(event, &["involvedObject", "kind"]) == Some("Node");
        let uid = text(event, &["involvedObject", "uid"]).filter(|uid| !uid.is_empty() && !is_node);
        Self {
            event_type: field("type"),
            reason: field("reason"),
            message: field("message").trim_end().to_owned(),
            count: event.get("series").and_then(count).or_else(|| count(event)).unwrap_or(1).max(1),
            last_seen: times.into_iter().find_map(|at| text(event, at)?.parse().ok()),
            about: uid.map(str::to_owned),
        }
    }

    pub(crate) fn is_warning(&self) -> bool {
        self.event_type == "Warning"
    }

    /// Returns the title of its row: the reason, and the number of occurrences if there are several.
    pub(crate) fn title(&self) -> String {
        match self.count {
            1 => self.reason.clone(),
            count => format!("{} (x{count})", self.reason),
        }
    }
}
