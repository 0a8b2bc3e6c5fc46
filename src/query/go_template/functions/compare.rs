//! The comparisons `eq ne lt le gt ge`.

use crate::query::go_template::format::{Buffer, print_verb};
use crate::query::go_template::value::{Data, Value};

const BAD_TYPE: &str = "invalid type for comparison";
/// The longest value in a message.
const MAX_SHOWN: usize = 1 << 20;

/// A value of a type that can be compared. Values of different kinds can't, except for integers.
#[derive(Debug, PartialEq)]
enum Basic<'v> {
    Bool(bool),
    Complex(f64, f64),
    Int(i64),
    Float(f64),
    Text(&'v [u8]),
    /// An integer of an unsigned type.
    Unsigned(u8),
}

fn basic<'v>(value: &'v Value<'_>) -> Option<Basic<'v>> {
    Some(match &value.data {
        Data::Bool(value) => Basic::Bool(*value),
        Data::Int(value) | Data::Int64(value) => Basic::Int(*value),
        Data::Byte(value) => Basic::Unsigned(*value),
        Data::Float(value) => Basic::Float(*value),
        Data::Complex(real, imaginary) => Basic::Complex(*real, *imaginary),
        Data::Text(text) => Basic::Text(text.bytes()),
        Data::Nil | Data::List(_) | Data::Map(_) | Data::Raw(_) => return None,
    })
}

/// Returns the two arguments of a comparison.
pub(super) fn pair<'v, 'a>(
    first: &'v Value<'a>,
    rest: &'v [Value<'a>],
) -> Result<(&'v Value<'a>, &'v Value<'a>), String> {
    rest.first().map(|second| (first, second)).ok_or_else(missing)
}

fn missing() -> String {
    "missing argument for comparison".to_owned()
}

/// Returns whether the first value equals one of the others.
pub(super) fn eq(first: &Value<'_>, others: &[Value<'_>]) -> Result<bool, String> {
    if others.is_empty() {
        return Err(missing());
    }
    for other in others {
        if equals(first, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn equals(first: &Value<'_>, other: &Value<'_>) -> Result<bool, String> {
    let (first_data, other_data) = (&first.data, &other.data);
    match (basic(first), basic(other)) {
        (Some(Basic::Int(int)), Some(Basic::Unsigned(unsigned)))
        | (Some(Basic::Unsigned(unsigned)), Some(Basic::Int(int))) => Ok(int == i64::from(unsigned)),
        (Some(a), Some(b)) if std::mem::discriminant(&a) == std::mem::discriminant(&b) => Ok(a == b),
        (None, None) => match (first_data, other_data) {
            (Data::Nil, Data::Nil) => Ok(true),
            (Data::Nil, _) | (_, Data::Nil) => Ok(false),
            (a, b) if a.type_name() == b.type_name() => {
                Err(format!("non-comparable type {}: {}", shown(other, 's'), b.type_name()))
            }
            (a, b) => Err(format!(
                "non-comparable types {}: {}, {}: {}",
                shown(first, 's'),
                a.type_name(),
                b.type_name(),
                shown(other, 'v')
            )),
        },
        _ if matches!(first_data, Data::Nil) || matches!(other_data, Data::Nil) => Ok(false),
        _ => Err(incompatible(first, other)),
    }
}

fn incompatible(first: &Value<'_>, other: &Value<'_>) -> String {
    let (first, other) = (first.data.type_name(), other.data.type_name());
    format!("incompatible types for comparison: {first} and {other}")
}

fn shown(value: &Value<'_>, verb: char) -> String {
    let mut bytes = Vec::new();
    print_verb(value, verb, &mut Buffer::new(&mut bytes, MAX_SHOWN));
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(super) fn lt(first: &Value<'_>, other: &Value<'_>) -> Result<bool, String> {
    match (basic(first).ok_or(BAD_TYPE)?, basic(other).ok_or(BAD_TYPE)?) {
        (Basic::Int(int), Basic::Unsigned(unsigned)) => Ok(int < i64::from(unsigned)),
        (Basic::Unsigned(unsigned), Basic::Int(int)) => Ok(i64::from(unsigned) < int),
        (Basic::Int(a), Basic::Int(b)) => Ok(a < b),
        (Basic::Float(a), Basic::Float(b)) => Ok(a < b),
        (Basic::Text(a), Basic::Text(b)) => Ok(a < b),
        (Basic::Unsigned(a), Basic::Unsigned(b)) => Ok(a < b),
        (Basic::Bool(_), Basic::Bool(_)) | (Basic::Complex(..), Basic::Complex(..)) => {
            Err(BAD_TYPE.to_owned())
        }
        _ => Err(incompatible(first, other)),
    }
}

pub(super) fn le(first: &Value<'_>, other: &Value<'_>) -> Result<bool, String> {
    Ok(lt(first, other)? || equals(first, other)?)
}

pub(super) fn gt(first: &Value<'_>, other: &Value<'_>) -> Result<bool, String> {
    le(first, other).map(|is_less| !is_less)
}

pub(super) fn ge(first: &Value<'_>, other: &Value<'_>) -> Result<bool, String> {
    lt(first, other).map(|is_less| !is_less)
}
