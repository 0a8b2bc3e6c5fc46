//! The fields of an object that has rollouts.

use crate::object::JsonValue;

/// An object, whose absent fields have Go's zero values.
pub(super) struct Fields<'v, 'a>(pub(super) &'v JsonValue<'a>);

impl<'v, 'a> Fields<'v, 'a> {
    /// Returns the value at this path, if there is one.
    pub(super) fn value(&self, path: &[&str]) -> Option<&'v JsonValue<'a>> {
        let found = path.iter().try_fold(self.0, |value, name| value.get(name))?;
        Some(found).filter(|found| !matches!(found, JsonValue::Null))
    }

    /// Returns the number at this path, if there is one.
    pub(super) fn number(&self, path: &[&str]) -> Option<i64> {
        match self.value(path) {
            Some(JsonValue::Int(number)) => Some(*number),
            _ => None,
        }
    }

    /// Returns the text at this path, which is empty if there is none.
    pub(super) fn text(&self, path: &[&str]) -> &'v str {
        match self.value(path) {
            Some(JsonValue::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns a number of the status.
    pub(super) fn status(&self, name: &str) -> i64 {
        self.number(&["status", name]).unwrap_or_default()
    }

    pub(super) fn name(&self) -> &'v str {
        self.text(&["metadata", "name"])
    }

    pub(super) fn generation(&self) -> i64 {
        self.number(&["metadata", "generation"]).unwrap_or_default()
    }

    /// Returns the reason of a condition of the status, if the object has the condition.
    pub(super) fn reason_of_condition(&self, kind: &str) -> Option<&'v str> {
        let Some(JsonValue::Array(conditions)) = self.value(&["status", "conditions"]) else { return None };
        let condition = conditions.iter().find(|condition| Fields(condition).text(&["type"]) == kind)?;
        Some(Fields(condition).text(&["reason"]))
    }
}
