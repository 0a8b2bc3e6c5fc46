//! Declarations of functions, and what their implementations share.

use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;
use crate::query::cel::types::Type;
use crate::query::cel::value::{Outcome, Value};

/// An implementation. It is called only with arguments of the types of its signature.
pub(in crate::query::cel) type Builtin = for<'a> fn(&mut Budget, &[Value<'a>]) -> Outcome<'a>;

/// A signature of a function.
#[derive(Debug, Clone, Copy)]
pub(in crate::query::cel) struct Declaration {
    pub(in crate::query::cel) name: &'static str,
    /// Whether the function is called on its first argument.
    pub(in crate::query::cel) is_member: bool,
    /// The types of the arguments and the result.
    pub(in crate::query::cel) signature: &'static str,
    pub(in crate::query::cel) call: Builtin,
}

pub(super) const fn global(name: &'static str, signature: &'static str, call: Builtin) -> Declaration {
    Declaration { name, is_member: false, signature, call }
}

pub(super) const fn member(name: &'static str, signature: &'static str, call: Builtin) -> Declaration {
    Declaration { name, is_member: true, signature, call }
}

/// The error of a function that was called with other types than its signature has.
pub(super) const MISMATCH: CelError = CelError::NoOverload("the function");

/// Returns the error of a value that a function can't use.
pub(super) fn invalid(message: impl Into<String>) -> CelError {
    CelError::Value(message.into())
}

/// Quotes the start of a text for an error.
pub(super) fn quoted(text: &str) -> String {
    let start: String = text.chars().take(60).collect();
    format!("{start:?}")
}

/// Returns a length or an index.
pub(super) fn int<'a>(length: usize) -> Value<'a> {
    Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
}

/// A signature of a function, with its implementation.
#[derive(Debug, Clone)]
pub(in crate::query::cel) struct Overload {
    pub(in crate::query::cel) arguments: Vec<Type>,
    pub(in crate::query::cel) call: Builtin,
    pub(in crate::query::cel) result: Type,
}

/// Parses `string, int -> bool`.
pub(in crate::query::cel) fn parse_signature(signature: &str, call: Builtin) -> Overload {
    let (arguments, result) = signature.split_once("->").unwrap_or(("", signature));
    let mut types = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, char) in arguments.char_indices() {
        match char {
            '<' => depth += 1,
            '>' => depth -= 1,
            ',' if depth == 0 => {
                types.push(Type::parse(&arguments[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    if !arguments[start..].trim().is_empty() {
        types.push(Type::parse(&arguments[start..]));
    }
    Overload { arguments: types, call, result: Type::parse(result) }
}
