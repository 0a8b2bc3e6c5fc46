//! Selectors by labels (`-l`) and by fields (`--field-selector`).

mod field;
mod label;
mod label_syntax;
mod requirement;

pub use field::FieldSelector;
pub use label::LabelSelector;

use super::PathError;

/// A syntax error in a selector. The messages are close to kubectl's, which scripts and users know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectorError {
    /// A requirement of a label selector is invalid.
    #[error("unable to parse requirement: {0}")]
    Requirement(String),
    /// Unexpected text between or around the requirements of a label selector.
    #[error("found '{found}', expected: {expected}")]
    Unexpected {
        /// The unexpected text; empty at the end.
        found: String,
        /// The expected text.
        expected: &'static str,
    },
    /// A term of a field selector has no operator.
    #[error("invalid selector: '{selector}'; can't understand '{term}'")]
    Term {
        /// The whole selector.
        selector: String,
        /// The term.
        term: String,
    },
    /// A value in a field selector has an invalid escape, or one of `\`, `,` and `=` without a backslash.
    #[error("invalid field selector: {0}")]
    Escape(String),
    /// The field in a field selector is not a valid path.
    #[error("invalid field selector: {0}")]
    Path(#[from] PathError),
}
