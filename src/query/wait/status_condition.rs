//! `condition=TYPE[=STATUS]`: a condition in an object's status.

use super::case_folding::equal_fold;
use super::error::ConditionTestError;
use crate::object::JsonValue;

/// The status that a condition is to have if none is named.
const DEFAULT_STATUS: &str = "true";

/// A condition in `status.conditions`, with the status that it is to have. Case does not matter in either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusCondition {
    kind: String,
    status: String,
}

impl StatusCondition {
    /// Parses `TYPE` or `TYPE=STATUS`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let (kind, status) = text.split_once('=').unwrap_or((text, DEFAULT_STATUS));
        Self { kind: kind.to_owned(), status: status.to_owned() }
    }

    /// Whether this is for a condition of this type with this status. Case does not matter.
    #[must_use]
    pub fn is_for(&self, kind: &str, status: &str) -> bool {
        equal_fold(&self.kind, kind) && equal_fold(&self.status, status)
    }

    /// Whether the object has the condition with this status. The first condition of the type counts. One that its
    /// controller set before the last change of the object does not count as met.
    ///
    /// # Errors
    /// [`ConditionTestError::FieldType`]: the conditions are not an array.
    pub fn is_met(&self, object: &JsonValue<'_>) -> Result<bool, ConditionTestError> {
        let found = conditions(object)?.iter().find_map(|condition| {
            let kind = text(condition, "type")?;
            let status = text(condition, "status")?;
            equal_fold(kind, &self.kind).then_some((condition, status))
        });
        let Some((condition, status)) = found else { return Ok(false) };
        Ok(!is_outdated(object, condition) && equal_fold(status, &self.status))
    }
}

/// Returns the conditions; none if the object has none.
fn conditions<'v, 'a>(object: &'v JsonValue<'a>) -> Result<&'v [JsonValue<'a>], ConditionTestError> {
    let wrong = |path, value: &JsonValue<'_>, expected| {
        let (value, found) = (go_text(value), go_type(value));
        Err(ConditionTestError::FieldType { path, value, found, expected })
    };
    match object.get("status") {
        None | Some(JsonValue::Null) => Ok(&[]),
        Some(status @ JsonValue::Object(_)) => match status.get("conditions") {
            None => Ok(&[]),
            Some(JsonValue::Array(conditions)) => Ok(conditions),
            Some(other) => wrong(".status.conditions", other, "[]interface{}"),
        },
        Some(other) => wrong(".status.conditions", other, "map[string]interface{}"),
    }
}

/// Whether the condition, or the whole status, describes an older generation of the object.
fn is_outdated(object: &JsonValue<'_>, condition: &JsonValue<'_>) -> bool {
    let integer = |parent: Option<&JsonValue<'_>>, name| match parent?.get(name) {
        Some(JsonValue::Int(number)) => Some(*number),
        _ => None,
    };
    let observed = integer(Some(condition), "observedGeneration")
        .or_else(|| integer(object.get("status"), "observedGeneration"));
    match (integer(object.get("metadata"), "generation"), observed) {
        (Some(generation), Some(observed)) => observed < generation,
        _ => false,
    }
}

fn text<'v>(parent: &'v JsonValue<'_>, name: &str) -> Option<&'v str> {
    match parent.get(name) {
        Some(JsonValue::Text(text)) => Some(text),
        _ => None,
    }
}

fn go_text(value: &JsonValue<'_>) -> String {
    let mut text = Vec::new();
    value.write_go_text(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the name of the type that Go has the value in.
fn go_type(value: &JsonValue<'_>) -> &'static str {
    match value {
        JsonValue::Null => "<nil>",
        JsonValue::Bool(_) => "bool",
        JsonValue::Int(_) => "int64",
        JsonValue::Float(_) => "float64",
        JsonValue::Text(_) => "string",
        JsonValue::Array(_) => "[]interface {}",
        JsonValue::Object(_) | JsonValue::Raw(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_met(condition: &str, object: &str) -> Result<bool, String> {
        let object = JsonValue::parse(object.as_bytes());
        StatusCondition::parse(condition).is_met(&object).map_err(|error| error.to_string())
    }

    #[test]
    fn type_and_status_ignore_case() {
        let pod = r#"{"status":{"conditions":[{"type":"Ready","status":"False"},{"type":"Initialized","status":"True"}]}}"#;
        for (condition, met) in [
            ("Initialized", true),
            ("initialized=TRUE", true),
            ("Ready", false),
            ("Ready=false", true),
            ("Ready=", false),
            ("Ready=a=b", false),
            ("PodScheduled=False", false),
            ("", false),
        ] {
            assert_eq!(is_met(condition, pod), Ok(met), "{condition}");
        }
    }

    #[test]
    fn first_condition_with_a_status_counts() {
        let object = r#"{"status":{"conditions":["x",{"type":"A"},{"type":"A","status":1},{"type":"a","status":"True"},{"type":"A","status":"False"}]}}"#;
        assert_eq!(is_met("A", object), Ok(true));
        assert_eq!(is_met("A=False", object), Ok(false));
    }

    #[test]
    fn outdated_condition_is_not_met() {
        let object = |generation: u32, in_condition: &str, in_status: &str| {
            format!(
                r#"{{"metadata":{{"generation":{generation}}},"status":{{{in_status}"conditions":[{{{in_condition}"type":"A","status":"True"}}]}}}}"#
            )
        };
        let observed = |generation: u32| format!(r#""observedGeneration":{generation},"#);
        for (object, met) in [
            (object(2, "", ""), true),
            (object(2, "", &observed(1)), false),
            (object(2, "", &observed(2)), true),
            (object(2, &observed(2), &observed(1)), true),
            (object(2, &observed(1), &observed(2)), false),
            (object(2, &observed(3), ""), true),
        ] {
            assert_eq!(is_met("A", &object), Ok(met), "{object}");
        }
    }

    #[test]
    fn objects_without_conditions_meet_none() {
        for object in ["{}", r#"{"status":null}"#, r#"{"status":{}}"#, r#"{"status":{"conditions":[]}}"#] {
            assert_eq!(is_met("Ready", object), Ok(false), "{object}");
        }
    }

    #[test]
    fn conditions_of_another_type_are_an_error() {
        for (object, message) in [
            (
                r#"{"status":{"conditions":{"a":1}}}"#,
                ".status.conditions accessor error: map[a:1] is of the type map[string]interface {}, expected []interface{}",
            ),
            (
                r#"{"status":{"conditions":null}}"#,
                ".status.conditions accessor error: <nil> is of the type <nil>, expected []interface{}",
            ),
            (
                r#"{"status":"done"}"#,
                ".status.conditions accessor error: done is of the type string, expected map[string]interface{}",
            ),
        ] {
            assert_eq!(is_met("Ready", object), Err(message.to_owned()), "{object}");
        }
    }
}
