//! The run-time check of a value against the type of a parameter.

use super::{Items, Value};
use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;
use crate::query::cel::types::Type;

/// Whether the value has this type. Of a list or a map, the first element counts, as in cel-go.
pub(in crate::query::cel) fn fits(
    value: &Value<'_>,
    expected: &Type,
    budget: &mut Budget,
) -> Result<bool, CelError> {
    Ok(match (expected, value) {
        (Type::Dyn, _)
        | (Type::Null, Value::Null)
        | (Type::Bool, Value::Bool(_))
        | (Type::Int, Value::Int(_))
        | (Type::Uint, Value::Uint(_))
        | (Type::Double, Value::Double(_))
        | (Type::Text, Value::Text(_))
        | (Type::Bytes, Value::Bytes(_))
        | (Type::Duration, Value::Duration(_))
        | (Type::Timestamp, Value::Timestamp(_))
        | (Type::Meta, Value::Type(_))
        | (Type::Ip, Value::Ip(_))
        | (Type::Cidr, Value::Cidr(_))
        | (Type::Url, Value::Url(_))
        | (Type::Quantity, Value::Quantity(_))
        | (Type::Semver, Value::Semver(_))
        | (Type::Format, Value::Format(_))
        | (Type::Optional(_), Value::Optional(_)) => true,
        (Type::Param(param), value) => value.static_type().fits(*param),
        (Type::List(element), value) if value.is_list() => match Items::of(value)?.next(budget)? {
            Some((_, first)) => fits(&first, element, budget)?,
            None => true,
        },
        (Type::Map(key, _), value) if value.is_map() => match Items::of(value)?.next(budget)? {
            Some((first, _)) => fits(&first, key, budget)?,
            None => true,
        },
        _ => false,
    })
}
