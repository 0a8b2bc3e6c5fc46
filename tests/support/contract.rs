//! The contract of JSON lines, `schema/watch-line.schema.json`: every line that a test reads is validated against it.

use std::sync::OnceLock;

use jsonschema::Validator;
use kdelta::lines::Line;
use serde_json::Value;

/// The part of the schema that applies to the lines of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contract {
    Whole,
    /// The rules for single fields, none of which is required: with `--fields`.
    SelectedFields,
}

/// Returns the parsed schema.
pub(crate) fn schema() -> Value {
    serde_json::from_str(include_str!("../../schema/watch-line.schema.json")).expect("JSON")
}

impl Contract {
    /// Returns the contract of a call with these arguments, if it prints JSON lines.
    pub(super) fn of(arguments: &[&str]) -> Option<Self> {
        let has = |names: &[&str]| arguments.iter().any(|argument| names.contains(argument));
        // With --explain it prints its plan.
        let watches = has(&["watch"]) && !arguments.iter().any(|argument| argument.starts_with("--explain"));
        let json = has(&["-ojson", "-o=json", "--output=json"])
            || arguments.windows(2).any(|pair| pair == ["-o", "json"] || pair == ["--output", "json"]);
        let chosen = arguments.iter().any(|argument| argument.starts_with("--fields"));
        (watches && json).then_some(if chosen { Self::SelectedFields } else { Self::Whole })
    }

    /// Fails the test if the line violates the contract.
    #[track_caller]
    pub(super) fn check(self, line: &str) {
        static WHOLE: OnceLock<Validator> = OnceLock::new();
        static CHOSEN: OnceLock<Validator> = OnceLock::new();
        let made = |schema: &Value| jsonschema::validator_for(schema).expect("a schema");
        let validator = match self {
            Self::Whole => WHOLE.get_or_init(|| made(&schema())),
            Self::SelectedFields => CHOSEN.get_or_init(|| {
                let mut schema = schema();
                let rules = schema.as_object_mut().expect("an object");
                rules.retain(|name, _| !["required", "allOf"].contains(&name.as_str()));
                made(&schema)
            }),
        };
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        let wrong: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{}\nin {line}", wrong.join("\n"));
        let read = Line::read(line.as_bytes()).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        assert_eq!(
            serde_json::to_string(&read).expect("JSON"),
            line.trim_end(),
            "it was read as another line"
        );
    }
}
