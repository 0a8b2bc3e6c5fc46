//! `jsonpath=PATH[=VALUE]`: a value at a path of an object.

use super::error::ConditionTestError;
use crate::object::{JsonPath, JsonPathError, JsonValue};

/// A path that is to have a single value: a given one, or any.
#[derive(Debug, Clone)]
pub struct ValueCondition {
    /// The template, in kubectl's complete form.
    template: String,
    path: JsonPath,
    /// `None` accepts any value.
    value: Option<String>,
}

/// Conditions are equal if their templates and values are.
impl PartialEq for ValueCondition {
    fn eq(&self, other: &Self) -> bool {
        (&self.template, &self.value) == (&other.template, &other.value)
    }
}

impl Eq for ValueCondition {}

impl ValueCondition {
    /// Parses a template in kubectl's complete form, `{.a.b}`.
    ///
    /// # Errors
    /// The template is malformed.
    pub fn parse(template: &str, value: Option<&str>) -> Result<Self, JsonPathError> {
        let path = JsonPath::parse(template)?.allow_missing_keys(true);
        Ok(Self { template: template.to_owned(), path, value: value.map(str::to_owned) })
    }

    /// Returns the template in kubectl's complete form.
    #[must_use]
    pub fn template(&self) -> &str {
        &self.template
    }

    /// Whether the path has the value. The value is compared as Go prints it, without spaces around it.
    ///
    /// # Errors
    /// The path has several values, an object or an array, or does not fit the object. If any value is accepted, it may be
    /// an object or an array.
    pub fn is_met(&self, object: &JsonValue<'_>) -> Result<bool, ConditionTestError> {
        let results = self.path.find_results(object)?;
        let found = match results.first().map_or(&[][..], Vec::as_slice) {
            [] => return Ok(false),
            _ if results.len() > 1 => return Err(ConditionTestError::SeveralLists),
            [found] => found,
            _ => return Err(ConditionTestError::SeveralValues),
        };
        let Some(value) = &self.value else { return Ok(true) };
        if matches!(&**found, JsonValue::Object(_) | JsonValue::Array(_) | JsonValue::Raw(_)) {
            return Err(ConditionTestError::Nested);
        }
        let mut text = Vec::new();
        found.write_go_text(&mut text);
        Ok(String::from_utf8_lossy(&text).trim() == value.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_met(template: &str, value: Option<&str>) -> Result<bool, String> {
        let object = br#"{"status":{"phase":"Running","n":3,"f":1.5,"t":true,"none":null,"empty":"","list":[1,2],"one":[7],"o":{"a":1}}}"#;
        let condition = ValueCondition::parse(template, value).map_err(|error| error.to_string())?;
        condition.is_met(&JsonValue::parse(object)).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_compared_as_go_prints_them() {
        for (template, value, met) in [
            ("{.status.phase}", "Running", true),
            ("{.status.phase}", " Running ", true),
            ("{.status.phase}", "running", false),
            ("{.status.n}", "3", true),
            ("{.status.f}", "1.5", true),
            ("{.status.t}", "true", true),
            ("{.status.none}", "<nil>", true),
            ("{.status.nope}", "x", false),
            ("{.status.one[*]}", "7", true),
            ("text", "text", true),
        ] {
            assert_eq!(is_met(template, Some(value)), Ok(met), "{template}={value}");
        }
    }

    #[test]
    fn any_value_may_be_expected() {
        for (template, met) in [
            ("{.status.phase}", true),
            ("{.status.empty}", true),
            ("{.status.o}", true),
            ("{.status.nope}", false),
        ] {
            assert_eq!(is_met(template, None), Ok(met), "{template}");
        }
    }

    #[test]
    fn several_and_nested_values_are_errors() {
        for (template, value, message) in [
            ("{.status.list[*]}", None, "given jsonpath expression matches more than one value"),
            ("{.status.n}{.status.n}", None, "given jsonpath expression matches more than one list"),
            ("{.status.o}", Some("x"), "jsonpath leads to a nested object or list which is not supported"),
            ("{.status.list}", Some("x"), "jsonpath leads to a nested object or list which is not supported"),
            ("{.status.one[5]}", Some("x"), "array index out of bounds: index 5, length 1"),
        ] {
            assert_eq!(is_met(template, value), Err(message.to_owned()), "{template}");
        }
    }

    #[test]
    fn conditions_are_equal_by_their_texts() {
        let parse = |template, value| ValueCondition::parse(template, value).expect("valid");
        assert_eq!(parse("{.a}", Some("x")), parse("{.a}", Some("x")));
        assert_ne!(parse("{.a}", Some("x")), parse("{.a}", None));
        assert_eq!(parse("{.a}", None).template(), "{.a}");
    }
}
