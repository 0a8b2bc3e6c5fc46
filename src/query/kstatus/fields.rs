//! The fields that the rules read, parsed in one pass that skips all others.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::status::StatusError;
use crate::object::JsonValue;

/// A field to read: all of it, or only these members of an object or of each element of an array.
enum Wanted {
    Whole,
    Members(&'static [(&'static str, Wanted)]),
}

use Wanted::{Members, Whole};

const OBJECT: Wanted = Members(&[
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
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let object = WantedSeed(&OBJECT).deserialize(&mut deserializer);
        match object.and_then(|object| deserializer.end().map(|()| object)) {
            Ok(object @ JsonValue::Object(_)) => Ok(Self(object)),
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
    /// It has another type.
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
    /// It has another type.
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
    /// They are not an array of objects with texts.
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

struct WantedSeed(&'static Wanted);

impl<'de> DeserializeSeed<'de> for WantedSeed {
    type Value = JsonValue<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        match self.0 {
            Whole => serde::Deserialize::deserialize(deserializer),
            Members(_) => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for WantedSeed {
    type Value = JsonValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(JsonValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(JsonValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(JsonValue::Int(value))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        // Members are looked up in it, for which any scalar is the same.
        Ok(JsonValue::Int(0))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(JsonValue::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(JsonValue::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(WantedSeed(self.0))? {
            items.push(item);
        }
        Ok(JsonValue::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let wanted = match self.0 {
            Members(wanted) => *wanted,
            Whole => &[],
        };
        // Sorted by name; the last of equal names counts.
        let mut members: Vec<(Cow<'de, str>, JsonValue<'de>)> = Vec::new();
        while let Some(found) = map.next_key_seed(NameSeed(wanted))? {
            let Some((name, wanted)) = found else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = map.next_value_seed(WantedSeed(wanted))?;
            match members.binary_search_by(|(member, _)| (**member).cmp(name)) {
                Ok(at) => members[at].1 = value,
                Err(at) => members.insert(at, (Cow::Borrowed(name), value)),
            }
        }
        Ok(JsonValue::Object(members))
    }
}

/// Finds the name of a member among the wanted ones.
struct NameSeed(&'static [(&'static str, Wanted)]);

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Option<(&'static str, &'static Wanted)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed {
    type Value = Option<(&'static str, &'static Wanted)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().find(|(wanted, _)| *wanted == name).map(|(name, wanted)| (*name, wanted)))
    }
}
