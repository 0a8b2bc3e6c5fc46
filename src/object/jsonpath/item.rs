//! A value during evaluation, with the Go type it has in client-go: results, comparisons and texts depend on it.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::budget::Budget;
use super::error::JsonPathError;
use crate::object::{JsonValue, format_go_float};

/// A value during evaluation.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item<'v> {
    /// A part of the evaluated value. `null` is a nil interface.
    Json(&'v JsonValue<'v>),
    /// Go's invalid `reflect.Value`: a range over `null`, or the body of a range without values.
    NoValue,
    /// A text of the template.
    Text(&'v [u8]),
    /// A number of the template, an `int`.
    Int(i64),
    /// A number of the template.
    Float(f64),
    /// `true` or `false` in the template.
    Bool(bool),
    /// A byte of a string that a wildcard took apart.
    Byte(u8),
}

impl<'v> Item<'v> {
    /// Takes a value out of its interface, as the start of an evaluation does.
    pub(super) fn unwrapped(self) -> Self {
        if self.is_null() { Self::NoValue } else { self }
    }

    pub(super) fn is_null(self) -> bool {
        matches!(self, Self::Json(JsonValue::Null))
    }

    pub(super) fn as_array(self) -> Option<&'v [JsonValue<'v>]> {
        match self {
            Self::Json(JsonValue::Array(items)) => Some(items),
            _ => None,
        }
    }

    /// Returns the name of the value's Go type.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Self::Json(JsonValue::Object(_) | JsonValue::Raw(_)) => "map[string]interface {}",
            Self::Json(JsonValue::Array(_)) => "[]interface {}",
            Self::Json(JsonValue::Text(_)) | Self::Text(_) => "string",
            Self::Json(JsonValue::Int(_)) => "int64",
            Self::Json(JsonValue::Float(_)) | Self::Float(_) => "float64",
            Self::Json(JsonValue::Bool(_)) | Self::Bool(_) => "bool",
            Self::Json(JsonValue::Null) => "<nil>",
            Self::NoValue => "<invalid reflect.Value>",
            Self::Int(_) => "int",
            Self::Byte(_) => "uint8",
        }
    }

    /// Appends the value as a template prints it: arrays and objects as compact JSON, others as Go's `%v`.
    pub(super) fn print(self, out: &mut Vec<u8>) {
        match self {
            Self::Json(value @ (JsonValue::Array(_) | JsonValue::Object(_))) => value.write_compact(out),
            Self::Json(JsonValue::Null) => out.extend_from_slice(b"null"),
            Self::NoValue => out.extend_from_slice(b"<no value>"),
            other => other.write_go(out),
        }
    }

    /// Formats the value as Go's `%v`, for errors.
    pub(super) fn go_text(self) -> String {
        let mut text = Vec::new();
        self.write_go(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    fn write_go(self, out: &mut Vec<u8>) {
        match self {
            Self::Json(value) => value.write_go_text(out),
            Self::NoValue => out.extend_from_slice(b"<invalid reflect.Value>"),
            Self::Text(text) => out.extend_from_slice(text),
            Self::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Self::Float(number) => out.extend_from_slice(format_go_float(number).as_bytes()),
            Self::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
            Self::Byte(byte) => out.extend_from_slice(byte.to_string().as_bytes()),
        }
    }

    /// Returns the value for a caller; [`Item::NoValue`] becomes `null`.
    pub(super) fn into_json(self) -> Cow<'v, JsonValue<'v>> {
        Cow::Owned(match self {
            Self::Json(value) => return Cow::Borrowed(value),
            Self::NoValue => JsonValue::Null,
            Self::Text(text) => JsonValue::Text(lossy_text(text)),
            Self::Int(number) => JsonValue::Int(number),
            Self::Float(number) => JsonValue::Float(number),
            Self::Bool(value) => JsonValue::Bool(value),
            Self::Byte(byte) => JsonValue::Int(byte.into()),
        })
    }

    /// Compares two values for a filter. Numbers are equal only if both are integers or both are floats.
    pub(super) fn compare(self, operator: &str, other: Self) -> Result<bool, JsonPathError> {
        let test = match operator {
            "==" => Ordering::is_eq,
            "!=" => Ordering::is_ne,
            "<" => Ordering::is_lt,
            "<=" => Ordering::is_le,
            ">" => Ordering::is_gt,
            ">=" => Ordering::is_ge,
            _ => return Err(JsonPathError::Evaluation(format!("unrecognized filter operator {operator}"))),
        };
        let error = |text: &str| Err(JsonPathError::Evaluation(text.to_owned()));
        let (Some(left), Some(right)) = (self.comparable(), other.comparable()) else {
            return error("invalid type for comparison");
        };
        let ordering = match (left, right) {
            (Comparable::Bool(left), Comparable::Bool(right)) if matches!(operator, "==" | "!=") => {
                left.cmp(&right)
            }
            (Comparable::Bool(_), Comparable::Bool(_)) => return error("invalid type for comparison"),
            (Comparable::Int(left), Comparable::Int(right)) => left.cmp(&right),
            (Comparable::Float(left), Comparable::Float(right)) => left.total_cmp(&right),
            (Comparable::Text(left), Comparable::Text(right)) => left.cmp(right),
            _ => return error("incompatible types for comparison"),
        };
        Ok(test(ordering))
    }

    fn comparable(self) -> Option<Comparable<'v>> {
        Some(match self {
            Self::Json(JsonValue::Bool(value)) => Comparable::Bool(*value),
            Self::Json(JsonValue::Int(number)) => Comparable::Int(*number),
            Self::Json(JsonValue::Float(number)) => Comparable::float(*number),
            Self::Json(JsonValue::Text(text)) => Comparable::Text(text.as_bytes()),
            Self::Json(_) | Self::NoValue => return None,
            Self::Text(text) => Comparable::Text(text),
            Self::Int(number) => Comparable::Int(number),
            Self::Float(number) => Comparable::float(number),
            Self::Bool(value) => Comparable::Bool(value),
            Self::Byte(byte) => Comparable::Int(byte.into()),
        })
    }
}

/// Appends values with spaces between them; a space in front of the first unless it `is_first` in its set.
pub(super) fn print_joined<'v>(
    items: &[Item<'v>],
    is_first: bool,
    out: &mut Vec<u8>,
    budget: &mut Budget<'v>,
) -> Result<(), JsonPathError> {
    for (at, item) in items.iter().enumerate() {
        let start = out.len();
        out.extend((at > 0 || !is_first).then_some(b' '));
        item.print(out);
        budget.charge_bytes(out.len() - start)?;
    }
    Ok(())
}

/// A value that filters can compare.
enum Comparable<'v> {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'v [u8]),
}

impl Comparable<'_> {
    /// Makes negative zero equal to zero; neither JSON nor templates have other unordered or unequal numbers.
    fn float(number: f64) -> Self {
        Self::Float(number + 0.0)
    }
}

/// Replaces each byte that is no UTF-8, as Go does.
fn lossy_text(text: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(text) {
        return Cow::Borrowed(text);
    }
    let mut lossy = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        lossy.push_str(chunk.valid());
        lossy.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(lossy)
}
