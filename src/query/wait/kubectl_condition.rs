//! The conditions of kubectl's `wait --for`.

use super::status_condition::StatusCondition;
use super::value_condition::ValueCondition;
use crate::object::{JsonPathError, go_quote, relaxed_jsonpath};

/// A condition of `kubectl wait --for`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KubectlCondition {
    /// `create`: the object exists.
    Create,
    /// `delete`: the object does not exist.
    Delete,
    /// `condition=TYPE[=STATUS]`.
    Status(StatusCondition),
    /// `jsonpath=PATH[=VALUE]`.
    Value(ValueCondition),
}

/// A condition that kubectl rejects, with its message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KubectlConditionError {
    /// No form of a condition.
    #[error("unrecognized condition: {}", go_quote(.0))]
    Unrecognized(String),
    /// More than one value.
    #[error(
        "jsonpath wait format must be --for=jsonpath='{{.status.readyReplicas}}'=3 or --for=jsonpath='{{.status.readyReplicas}}'"
    )]
    SeveralValues,
    /// The value after the equal sign is empty.
    #[error(
        "jsonpath wait has to have a value after equal sign, like --for=jsonpath='{{.status.readyReplicas}}'=3"
    )]
    NoValue,
    /// The path is empty.
    #[error("jsonpath expression cannot be empty")]
    NoPath,
    /// The path is malformed.
    #[error(transparent)]
    Path(#[from] JsonPathError),
}

impl KubectlCondition {
    /// Parses the value of `--for`.
    ///
    /// # Errors
    /// kubectl rejects it.
    pub fn parse(text: &str) -> Result<Self, KubectlConditionError> {
        if let Some(condition) = text.strip_prefix("condition=") {
            return Ok(Self::Status(StatusCondition::parse(condition)));
        }
        if let Some(input) = text.strip_prefix("jsonpath=") {
            return value_condition(input).map(Self::Value);
        }
        match text.to_lowercase().as_str() {
            "create" => Ok(Self::Create),
            "delete" => Ok(Self::Delete),
            _ => Err(KubectlConditionError::Unrecognized(text.to_owned())),
        }
    }
}

/// Parses `PATH[=VALUE]`.
fn value_condition(input: &str) -> Result<ValueCondition, KubectlConditionError> {
    let parts = split_at_single_equal_signs(input);
    let (path, value) = match parts.as_slice() {
        [path] => (path, None),
        [path, value] => (path, Some(value.trim_matches(['\'', '"']))),
        _ => return Err(KubectlConditionError::SeveralValues),
    };
    let template = relaxed_jsonpath(path)?;
    match value {
        Some("") => Err(KubectlConditionError::NoValue),
        _ if template.is_empty() => Err(KubectlConditionError::NoPath),
        value => Ok(ValueCondition::parse(&template, value)?),
    }
}

/// Splits at each `=` that is no part of `==`.
fn split_at_single_equal_signs(text: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some(at) = rest.find('=') {
        part.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('=') {
            part.push_str("==");
            rest = after;
        } else {
            parts.push(std::mem::take(&mut part));
        }
    }
    part.push_str(rest);
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(template: &str, value: Option<&str>) -> KubectlCondition {
        KubectlCondition::Value(ValueCondition::parse(template, value).expect("valid"))
    }

    fn parse(text: &str) -> Result<KubectlCondition, String> {
        KubectlCondition::parse(text).map_err(|error| error.to_string())
    }

    #[test]
    fn forms_are_kubectls() {
        for (text, expected) in [
            ("create", KubectlCondition::Create),
            ("Delete", KubectlCondition::Delete),
            ("condition=Ready", KubectlCondition::Status(StatusCondition::parse("Ready=true"))),
            ("condition=Ready=False", KubectlCondition::Status(StatusCondition::parse("Ready=False"))),
            ("condition=", KubectlCondition::Status(StatusCondition::parse(""))),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        for (text, template, expected) in [
            ("jsonpath={.status.phase}=Running", "{.status.phase}", Some("Running")),
            ("jsonpath=.status.phase='Running'", "{.status.phase}", Some("Running")),
            ("jsonpath=status.phase", "{.status.phase}", None),
            (
                r#"jsonpath={.status.conditions[?(@.type=="Ready")].status}=True"#,
                r#"{.status.conditions[?(@.type=="Ready")].status}"#,
                Some("True"),
            ),
        ] {
            assert_eq!(parse(text), Ok(value(template, expected)), "{text}");
        }
    }

    #[test]
    fn errors_have_kubectls_text() {
        for (text, message) in [
            ("", r#"unrecognized condition: """#),
            ("Condition=Ready", r#"unrecognized condition: "Condition=Ready""#),
            ("created", r#"unrecognized condition: "created""#),
            ("jsonpath", r#"unrecognized condition: "jsonpath""#),
            ("jsonpath=", "jsonpath expression cannot be empty"),
            (
                "jsonpath={.a}=",
                "jsonpath wait has to have a value after equal sign, like --for=jsonpath='{.status.readyReplicas}'=3",
            ),
            (
                "jsonpath={.a}=b=c",
                "jsonpath wait format must be --for=jsonpath='{.status.readyReplicas}'=3 or --for=jsonpath='{.status.readyReplicas}'",
            ),
            (
                "jsonpath={.a}{.b}",
                "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'",
            ),
            ("jsonpath={.a[}", "unterminated array"),
        ] {
            assert_eq!(parse(text), Err(message.to_owned()), "{text}");
        }
    }

    // Taken from kubectl.
    #[test]
    fn double_equal_signs_do_not_split() {
        assert_eq!(
            split_at_single_equal_signs("a.b.c====d.e.f===g.h.i==="),
            ["a.b.c====d.e.f==", "g.h.i==", ""]
        );
        assert_eq!(split_at_single_equal_signs(""), [""]);
    }
}
