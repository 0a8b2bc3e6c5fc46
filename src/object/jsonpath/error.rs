//! The errors of jsonpath templates.

/// An error of a jsonpath template. Its text is client-go's where client-go has the error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonPathError {
    /// The template is malformed.
    #[error("{0}")]
    Syntax(String),
    /// No value has this field, and missing keys are not allowed.
    #[error("{0} is not found")]
    NotFound(String),
    /// The template does not fit the value, such as an index beyond an array's end.
    #[error("{0}")]
    Evaluation(String),
    /// Evaluation was stopped because the template multiplies the value's size too often.
    #[error(
        "jsonpath needs more than {limit} steps on this object, use fewer nested ranges, unions and '..'"
    )]
    TooManySteps {
        /// The number of steps allowed for the value.
        limit: u64,
    },
}

impl JsonPathError {
    pub(super) fn syntax(text: impl Into<String>) -> Self {
        Self::Syntax(text.into())
    }
}
