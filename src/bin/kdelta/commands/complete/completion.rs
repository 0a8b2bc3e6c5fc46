//! The values that may complete the last word of a line, and the text around them. No I/O.

use super::field_path::PathStyle;
use crate::settings::IndexName;

/// A completion candidate with its description.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub(super) value: String,
    pub(super) help: String,
    /// The text after the value.
    pub(super) tail: &'static str,
    /// Whether the word continues after it.
    pub(super) continues: bool,
}

impl Candidate {
    pub(super) fn new(value: impl Into<String>) -> Self {
        Self::with_help(value, "")
    }

    pub(super) fn with_help(value: impl Into<String>, help: impl Into<String>) -> Self {
        Self { value: value.into(), help: help.into(), tail: "", continues: false }
    }

    /// Adds a text after the value, after which the word continues.
    pub(super) fn and_then(self, tail: &'static str) -> Self {
        Self { tail, continues: true, ..self }
    }
}

/// The values expected at the end of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Completion {
    /// The text of the word before the value.
    pub(super) head: String,
    /// The typed part of the value.
    pub(super) typed: String,
    pub(super) source: ValueSource,
    /// The text after the value that the word continues with.
    pub(super) tail: &'static str,
}

/// The source of the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValueSource {
    /// A fixed list.
    Fixed(Vec<Candidate>),
    /// Files, which the shell completes.
    Files,
    Contexts,
    Clusters,
    Users,
    Namespaces,
    /// Resource types.
    Types,
    /// Names of objects of these types, except those already on the line.
    Names {
        types: Vec<String>,
        taken: Vec<String>,
    },
    /// Keys of the labels or annotations of objects of these types.
    Labels(Vec<String>),
    Annotations(Vec<String>),
    /// Values of an index over objects of these types.
    Values(IndexName, Vec<String>),
    /// Fields of a resource or field, for `explain`: its path, and the version to explain.
    Fields {
        of: String,
        api_version: Option<String>,
    },
    /// Fields of objects of these types, below the field with this path.
    ObjectFields {
        types: Vec<String>,
        path: Vec<String>,
        style: PathStyle,
    },
    /// Attributes of the served resources.
    Groups,
    Versions,
    Verbs,
    Categories,
}

impl Completion {
    pub(super) fn of(source: ValueSource, head: impl Into<String>, typed: impl Into<String>) -> Self {
        Self { head: head.into(), typed: typed.into(), source, tail: "" }
    }

    pub(super) fn nothing() -> Self {
        Self::of(ValueSource::Fixed(Vec::new()), "", "")
    }

    pub(super) fn and_then(self, tail: &'static str) -> Self {
        Self { tail, ..self }
    }

    /// Completes the last item of a comma-separated list.
    pub(super) fn of_list(source: ValueSource, head: &str, typed: &str) -> Self {
        let (before, typed) = typed.rsplit_once(',').map_or(("", typed), |(before, typed)| (before, typed));
        let comma = if before.is_empty() { "" } else { "," };
        Self::of(source, format!("{head}{before}{comma}"), typed)
    }
}
