//! The errors of jq expressions.

/// An expression that can't be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct JqSyntaxError {
    /// The line of the problem, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// The problem: an unexpected or missing token, or an undefined name.
    pub problem: String,
}

impl JqSyntaxError {
    /// Returns the error at a byte of the expression.
    pub(super) fn at(text: &str, byte: usize, problem: String) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column, problem }
    }
}

/// An expression that does not fit a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JqError {
    /// The expression failed, with jq's reason. It may quote the value.
    #[error("{0}")]
    Failed(String),
    /// The value is nested too deeply.
    #[error("the object is nested too deeply")]
    TooDeep,
    /// A result is nested too deeply.
    #[error("a result is nested too deeply")]
    ResultTooDeep,
}
