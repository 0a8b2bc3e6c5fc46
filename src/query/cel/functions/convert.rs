//! Conversions between types, and `size`.

use std::borrow::Cow;

use super::declaration::{Declaration, MISMATCH, global, int, invalid, member, quoted};
use crate::object::format_go_float;
use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;
use crate::query::cel::time_text::{
    NANOS, format_duration, format_timestamp, in_range, parse_duration, parse_timestamp,
};
use crate::query::cel::value::{Outcome, Value, length};

pub(super) const DECLARATIONS: &[Declaration] = &[
    global("size", "string -> int", size),
    global("size", "bytes -> int", size),
    global("size", "list<A> -> int", size),
    global("size", "map<A, B> -> int", size),
    member("size", "string -> int", size),
    member("size", "bytes -> int", size),
    member("size", "list<A> -> int", size),
    member("size", "map<A, B> -> int", size),
    global("dyn", "A -> dyn", same),
    global("type", "A -> type", type_of),
    global("bool", "bool -> bool", same),
    global("bool", "string -> bool", to_bool),
    global("bytes", "bytes -> bytes", same),
    global("bytes", "string -> bytes", to_bytes),
    global("double", "double -> double", same),
    global("double", "int -> double", to_double),
    global("double", "uint -> double", to_double),
    global("double", "string -> double", to_double),
    global("int", "int -> int", same),
    global("int", "double -> int", to_int),
    global("int", "uint -> int", to_int),
    global("int", "string -> int", to_int),
    global("int", "duration -> int", to_int),
    global("int", "timestamp -> int", to_int),
    global("uint", "uint -> uint", same),
    global("uint", "int -> uint", to_uint),
    global("uint", "double -> uint", to_uint),
    global("uint", "string -> uint", to_uint),
    global("string", "string -> string", same),
    global("string", "bool -> string", to_text),
    global("string", "bytes -> string", to_text),
    global("string", "int -> string", to_text),
    global("string", "uint -> string", to_text),
    global("string", "double -> string", to_text),
    global("string", "duration -> string", to_text),
    global("string", "timestamp -> string", to_text),
    global("duration", "duration -> duration", same),
    global("duration", "string -> duration", to_duration),
    // The API server declares this signature and fails on each value.
    global("duration", "int -> duration", to_duration),
    global("timestamp", "timestamp -> timestamp", same),
    global("timestamp", "int -> timestamp", to_timestamp),
    global("timestamp", "string -> timestamp", to_timestamp),
];

fn size<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Text(text)] => {
            budget.read(text.len())?;
            Ok(int(text.chars().count()))
        }
        [Value::Bytes(bytes)] => Ok(int(bytes.len())),
        [value] if value.is_list() || value.is_map() => Ok(int(length(value, budget)?)),
        _ => Err(MISMATCH),
    }
}

fn same<'a>(_: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    arguments.first().cloned().ok_or(MISMATCH)
}

fn type_of<'a>(_: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    arguments.first().map(|value| Value::Type(value.type_name())).ok_or(MISMATCH)
}

/// Returns the error of a text that is no value of a type.
fn not_a(text: &str, kind: &str) -> CelError {
    invalid(format!("{} is no {kind}", quoted(text)))
}

fn to_bool<'a>(_: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [Value::Text(text)] = arguments else { return Err(MISMATCH) };
    match &**text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
        other => Err(not_a(other, "bool")),
    }
}

fn to_bytes<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [Value::Text(text)] = arguments else { return Err(MISMATCH) };
    budget.allocate(text.len())?;
    Ok(Value::Bytes(text.as_bytes().into()))
}

#[expect(clippy::cast_precision_loss, reason = "the conversion rounds")]
fn to_double<'a>(_: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Int(number)] => Ok(Value::Double(*number as f64)),
        [Value::Uint(number)] => Ok(Value::Double(*number as f64)),
        [Value::Text(text)] => {
            let number: f64 = without_separators(text).parse().map_err(|_| not_a(text, "double"))?;
            let is_infinity = text.to_ascii_lowercase().contains("inf");
            if number.is_infinite() && !is_infinity {
                return Err(not_a(text, "double"));
            }
            Ok(Value::Double(number))
        }
        _ => Err(MISMATCH),
    }
}

/// Returns a number without the underscores between its digits, as Go accepts them.
fn without_separators(text: &str) -> Cow<'_, str> {
    let is_digit =
        |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
    let mut underscores = text.match_indices('_').peekable();
    if underscores.peek().is_none()
        || !underscores.all(|(at, _)| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)))
    {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('_', ""))
}

fn to_int<'a>(_: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let number = match arguments {
        // The limits are 2^63, as a double.
        #[expect(clippy::cast_possible_truncation, reason = "checked before")]
        [Value::Double(number)] if number.abs() < 9_223_372_036_854_775_808.0 => Some(*number as i64),
        [Value::Double(_)] => None,
        [Value::Uint(number)] => i64::try_from(*number).ok(),
        [Value::Text(text)] => return text.parse().map(Value::Int).map_err(|_| not_a(text, "int")),
        [Value::Duration(nanos)] => Some(*nanos),
        [Value::Timestamp(nanos)] => i64::try_from(nanos.div_euclid(NANOS)).ok(),
        _ => return Err(MISMATCH),
    };
    number.map(Value::Int).ok_or(CelError::Overflow)
}

fn to_uint<'a>(_: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let number = match arguments {
        [Value::Int(number)] => u64::try_from(*number).ok(),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
        [Value::Double(number)] if (0.0..18_446_744_073_709_551_616.0).contains(number) => {
            Some(*number as u64)
        }
        [Value::Double(_)] => None,
        [Value::Text(text)] if !text.starts_with('+') => {
            return text.parse().map(Value::Uint).map_err(|_| not_a(text, "uint"));
        }
        [Value::Text(text)] => return Err(not_a(text, "uint")),
        _ => return Err(MISMATCH),
    };
    number.map(Value::Uint).ok_or(CelError::Overflow)
}

fn to_text<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [value] = arguments else { return Err(MISMATCH) };
    let text = scalar_text(value).ok_or(MISMATCH)??;
    Value::made_text(text, budget)
}

/// Returns a scalar as `string` does; `None` if it has no such form.
pub(super) fn scalar_text(value: &Value<'_>) -> Option<Result<String, CelError>> {
    Some(Ok(match value {
        Value::Text(text) => text.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) => double_text(*number),
        Value::Duration(nanos) => format_duration(*nanos),
        Value::Timestamp(nanos) => format_timestamp(*nanos),
        Value::Type(name) => (*name).to_owned(),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return Some(Err(invalid("the bytes are no UTF-8"))),
        },
        _ => return None,
    }))
}

/// Formats a double as Go's `%g`.
fn double_text(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "+Inf".to_owned() } else { "-Inf".to_owned() }
    } else {
        format_go_float(number)
    }
}

fn to_duration<'a>(_: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Text(text)] => {
            parse_duration(text).map(Value::Duration).ok_or_else(|| not_a(text, "duration"))
        }
        _ => Err(CelError::NoOverload("duration")),
    }
}

fn to_timestamp<'a>(_: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    match arguments {
        [Value::Int(seconds)] => {
            in_range(i128::from(*seconds) * NANOS).map(Value::Timestamp).ok_or(CelError::Overflow)
        }
        [Value::Text(text)] => {
            parse_timestamp(text).map(Value::Timestamp).ok_or_else(|| not_a(text, "timestamp"))
        }
        _ => Err(MISMATCH),
    }
}
