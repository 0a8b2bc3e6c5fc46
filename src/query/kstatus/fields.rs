//! The fields that the rules read; all others are skipped.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::status::StatusError;
use crate::object::{InvalidJson, JsonKind, JsonNode, JsonValue};

/// The selected part of a field: all of it, or only these members of an object or of each element of an array.
enum FieldSelection {
    Whole,
    Members(&'static [(&'static str, FieldSelection)]),
}

use FieldSelection::{Members, Whole};

const OBJECT: FieldSelection = Members(&[
    ("apiVersion", Whole),
    ("kind", Whole),
    (
        "metadata",
        Members(&[("creationTimestamp", Whole), ("deletionTimestamp", Whole), ("generation", Whole)]),
    ),
    (
        "spec",
        Members(&[
            ("clusterIP", Whole),
            ("completions", Whole),
            ("parallelism", Whole),
            ("progressDeadlineSeconds", Whole),
            ("replicas", Whole),
            ("type", Whole),
            (
                "updateStrategy",
                Members(&[("rollingUpdate", Members(&[("partition", Whole)])), ("type", Whole)]),
            ),
        ]),
    ),
    (
        "status",
        Members(&[
            ("active", Whole),
            ("availableReplicas", Whole),
            (
                "conditions",
                Members(&[("message", Whole), ("reason", Whole), ("status", Whole), ("type", Whole)]),
            ),
            (
                "containerStatuses",
                Members(&[
                    ("name", Whole),
                    ("state", Members(&[("waiting", Members(&[("reason", Whole)]))])),
                ]),
            ),
            ("currentNumberScheduled", Whole),
            ("currentReplicas", Whole),
            ("currentRevision", Whole),
            ("desiredNumberScheduled", Whole),
            ("failed", Whole),
            ("fullyLabeledReplicas", Whole),
            ("numberAvailable", Whole),
            ("numberReady", Whole),
            ("observedGeneration", Whole),
            ("phase", Whole),
            ("readyReplicas", Whole),
            ("replicas", Whole),
            ("startTime", Whole),
            ("succeeded", Whole),
            ("updateRevision", Whole),
            ("updatedNumberScheduled", Whole),
            ("updatedReplicas", Whole),
        ]),
    ),
]);

/// The levels of nesting that are read, as many as `serde_json` reads.
const DEPTH: u32 = 128;

const CONDITIONS: &str = "status.conditions";

/// An object with only the fields that the rules name.
pub(super) struct Fields<'a>(JsonValue<'a>);

/// A condition of an object. Absent members are empty.
pub(super) struct Condition<'a> {
    pub(super) kind: &'a str,
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
}

impl<'a> Fields<'a> {
    pub(super) fn parse(json: &'a [u8]) -> Result<Self, StatusError> {
        // Lazy reading finds no damage in what it skips.
        let is_json = serde_json::from_slice::<IgnoredAny>(json).is_ok();
        match read(JsonNode::root(json), &OBJECT, DEPTH) {
            Ok(object @ JsonValue::Object(_)) if is_json => Ok(Self(object)),
            _ => Err(StatusError::Malformed),
        }
    }

    /// Returns the value at this path; `None` if it is absent, `null` if it is that.
    ///
    /// # Errors
    /// A member of something other than an object is looked up.
    fn value(&self, path: &'static str) -> Result<Option<&JsonValue<'a>>, StatusError> {
        let mut value = &self.0;
        for name in path.split('.') {
            value = match value {
                JsonValue::Object(_) => match value.get(name) {
                    Some(member) => member,
                    None => return Ok(None),
                },
                JsonValue::Null => return Ok(None),
                _ => return Err(StatusError::FieldType { path, expected: "a field of an object" }),
            };
        }
        Ok(Some(value))
    }

    /// Returns the text at this path; the default if it is absent or has another type.
    pub(super) fn text_or(&self, path: &'static str, default: &'static str) -> &str {
        match self.value(path) {
            Ok(Some(JsonValue::Text(text))) => text,
            _ => default,
        }
    }

    /// Returns the integer at this path; the default if it is absent or has another type.
    pub(super) fn integer_or(&self, path: &'static str, default: i64) -> i64 {
        match self.value(path) {
            Ok(Some(JsonValue::Int(value))) => *value,
            _ => default,
        }
    }

    /// Returns the integer at this path, if there is any.
    ///
    /// # Errors
    /// Returns an error if the field has another type.
    pub(super) fn integer(&self, path: &'static str) -> Result<Option<i64>, StatusError> {
        match self.value(path)? {
            None => Ok(None),
            Some(JsonValue::Int(value)) => Ok(Some(*value)),
            Some(_) => Err(StatusError::FieldType { path, expected: "an integer" }),
        }
    }

    /// Returns the text at this path, if there is any.
    ///
    /// # Errors
    /// Returns an error if the field has another type.
    pub(super) fn text(&self, path: &'static str) -> Result<Option<&str>, StatusError> {
        match self.value(path)? {
            None => Ok(None),
            Some(JsonValue::Text(text)) => Ok(Some(text)),
            Some(_) => Err(StatusError::FieldType { path, expected: "a string" }),
        }
    }

    /// Returns the group and the kind; both are empty if `apiVersion` has more than one slash.
    pub(super) fn group_kind(&self) -> (&str, &str) {
        let kind = self.kind();
        match self.text_or("apiVersion", "").split_once('/') {
            None => ("", kind),
            Some((_, version)) if version.contains('/') => ("", ""),
            Some((group, _)) => (group, kind),
        }
    }

    pub(super) fn kind(&self) -> &str {
        self.text_or("kind", "")
    }

    /// Returns `status.conditions`.
    ///
    /// # Errors
    /// Returns an error if the conditions are not an array of objects with texts.
    pub(super) fn conditions(&self) -> Result<Vec<Condition<'_>>, StatusError> {
        let conditions = match self.value(CONDITIONS)? {
            None | Some(JsonValue::Null) => return Ok(Vec::new()),
            Some(JsonValue::Array(conditions)) => conditions,
            Some(_) => return Err(StatusError::FieldType { path: CONDITIONS, expected: "an array" }),
        };
        conditions.iter().map(condition).collect()
    }

    /// Returns the names of the containers that wait for this reason. Members of another type are skipped.
    ///
    /// # Errors
    /// The statuses are not an array.
    pub(super) fn containers_waiting(&self, reason: &str) -> Result<Vec<&str>, StatusError> {
        const PATH: &str = "status.containerStatuses";
        let containers = match self.value(PATH)? {
            None => return Ok(Vec::new()),
            Some(JsonValue::Array(containers)) => containers,
            Some(_) => return Err(StatusError::FieldType { path: PATH, expected: "an array" }),
        };
        let names = containers.iter().filter_map(|container| {
            let waiting = container.get("state")?.get("waiting")?;
            match (container.get("name")?, waiting.get("reason")?) {
                (JsonValue::Text(name), JsonValue::Text(found)) if found == reason => Some(&**name),
                _ => None,
            }
        });
        Ok(names.collect())
    }
}

/// Returns a condition; `null`, which has no members, is one.
fn condition<'v>(value: &'v JsonValue<'_>) -> Result<Condition<'v>, StatusError> {
    let wrong = |expected| StatusError::FieldType { path: CONDITIONS, expected };
    if !matches!(value, JsonValue::Object(_) | JsonValue::Null) {
        return Err(wrong("an array of objects"));
    }
    let member = |name| match value.get(name) {
        None | Some(JsonValue::Null) => Ok(""),
        Some(JsonValue::Text(text)) => Ok(&**text),
        Some(_) => Err(wrong("an array of objects with texts")),
    };
    Ok(Condition {
        kind: member("type")?,
        status: member("status")?,
        reason: member("reason")?,
        message: member("message")?,
    })
}

/// Reads the wanted part of a value.
fn read<'a>(
    node: JsonNode<'a>,
    wanted: &'static FieldSelection,
    depth: u32,
) -> Result<JsonValue<'a>, InvalidJson> {
    let depth = depth.checked_sub(1).ok_or(InvalidJson)?;
    match (wanted, node.kind()) {
        (Whole, _) | (_, JsonKind::Scalar) => node.scalar(),
        (Members(_), JsonKind::Array) => {
            let elements = node.elements().map(|element| read(element?, wanted, depth));
            Ok(JsonValue::Array(elements.collect::<Result<_, _>>()?))
        }
        (Members(names), JsonKind::Object) => {
            // Sorted by name; the last of equal names counts.
            let mut members: Vec<(Cow<'a, str>, JsonValue<'a>)> = Vec::new();
            for member in node.members() {
                let (name, node) = member?;
                let Some((name, wanted)) = names.iter().find(|(wanted, _)| *wanted == name) else { continue };
                let value = read(node, wanted, depth)?;
                match members.binary_search_by(|(member, _)| (**member).cmp(name)) {
                    Ok(at) => members[at].1 = value,
                    Err(at) => members.insert(at, (Cow::Borrowed(name), value)),
                }
            }
            Ok(JsonValue::Object(members))
        }
    }
}
