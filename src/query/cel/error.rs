//! The errors of CEL expressions.

/// An expression that can't be compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct CelSyntaxError {
    /// The line of the problem, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// The problem: an unexpected token, an unknown name, or a wrong type.
    pub problem: String,
    /// The text of the line.
    pub excerpt: String,
}

/// A problem at a byte of the expression.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) at: usize,
    pub(super) message: String,
}

impl Problem {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }

    /// Adds the position in the text.
    pub(super) fn in_text(self, text: &str) -> CelSyntaxError {
        let before = text.get(..self.at).unwrap_or(text);
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let excerpt = text.split('\n').nth(line).unwrap_or_default().trim_end_matches('\r').to_owned();
        CelSyntaxError { line: line + 1, column, problem: self.message, excerpt }
    }
}

/// The reason why an expression has no result for an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum CelError {
    /// A field or key is missing. The name is a path below `object` if the expression names it as one.
    #[error("no field {0}")]
    NoField(String),
    /// A list is shorter than an index.
    #[error("no element {0}")]
    NoElement(String),
    /// A function or operator does not accept the types of its arguments.
    #[error("{0} does not accept a value of this type")]
    NoOverload(&'static str),
    /// A value can't be converted or is out of the range of a function. The message may quote the value.
    #[error("{0}")]
    Value(String),
    /// A number, duration or timestamp is out of range.
    #[error("a result is out of range")]
    Overflow,
    /// A division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// The result is no boolean.
    #[error("the result is no boolean")]
    NotBoolean,
    /// The result, or an element of it, is of a type whose values have no text.
    #[error("the result is of type {0}, which has no text")]
    NoText(&'static str),
    /// The evaluation takes too many steps, or a value becomes too large.
    #[error("the expression takes too many steps")]
    TooManySteps,
    /// The object is not JSON, or is nested too deeply.
    #[error("the object can't be read")]
    Unreadable,
}
