//! What a user selects objects by: labels (`-l`) and fields (`--field-selector`).

mod field;
mod label;
mod label_syntax;

pub use field::FieldSelector;
pub use label::LabelSelector;

use super::PathError;

/// Why a text is no selector. The words are close to kubectl's, which scripts and users know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectorError {
    /// A requirement of a label selector is none.
    #[error("unable to parse requirement: {0}")]
    Requirement(String),
    /// Something stands between or around the requirements of a label selector.
    #[error("found '{found}', expected: {expected}")]
    Unexpected {
        /// What stands there; empty at the end of the text.
        found: String,
        /// What may.
        expected: &'static str,
    },
    /// A term of a field selector has no operator.
    #[error("invalid selector: '{selector}'; can't understand '{term}'")]
    Term {
        /// The whole text.
        selector: String,
        /// The term.
        term: String,
    },
    /// A value of a field selector has a backslash before anything but `\`, `,` and `=`, or one of these without a
    /// backslash.
    #[error("invalid field selector: {0}")]
    Escape(String),
    /// The field of a field selector is no path.
    #[error("invalid field selector: {0}")]
    Path(#[from] PathError),
}
