//! Equality of values, as the API server defines it for dynamic values, and the look-ups by it.

use std::cmp::Ordering;

use super::Value;
use super::items::{Items, entries, length};
use super::order::numbers;
use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;

/// Whether both are equal. Numbers of different types are compared by value; other types differ.
pub(in crate::query::cel) fn equal<'a>(
    a: &Value<'a>,
    b: &Value<'a>,
    budget: &mut Budget,
) -> Result<bool, CelError> {
    budget.charge(1)?;
    Ok(match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (
            Value::Int(_) | Value::Uint(_) | Value::Double(_),
            Value::Int(_) | Value::Uint(_) | Value::Double(_),
        ) => numbers(a, b) == Some(Ordering::Equal),
        (Value::Text(a), Value::Text(b)) => {
            budget.read(a.len().min(b.len()))?;
            **a == **b
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            budget.read(a.len().min(b.len()))?;
            a == b
        }
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::Optional(a), Value::Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => budget.nested(|budget| equal(a, b, budget))?,
            (a, b) => a.is_none() && b.is_none(),
        },
        (Value::Ip(a), Value::Ip(b)) => a == b,
        (Value::Cidr(a), Value::Cidr(b)) => a == b,
        (Value::Url(a), Value::Url(b)) => a == b,
        (Value::Quantity(a), Value::Quantity(b)) => a == b,
        (Value::Semver(a), Value::Semver(b)) => a.cmp(b) == Ordering::Equal,
        (Value::Format(a), Value::Format(b)) => a == b,
        (a, b) if a.is_list() && b.is_list() => budget.nested(|budget| equal_lists(a, b, budget))?,
        (a, b) if a.is_map() && b.is_map() => budget.nested(|budget| equal_maps(a, b, budget))?,
        _ => false,
    })
}

fn equal_lists<'a>(a: &Value<'a>, b: &Value<'a>, budget: &mut Budget) -> Result<bool, CelError> {
    let (mut a, mut b) = (Items::of(a)?, Items::of(b)?);
    loop {
        match (a.next(budget)?, b.next(budget)?) {
            (Some((_, a)), Some((_, b))) if equal(&a, &b, budget)? => {}
            (None, None) => return Ok(true),
            _ => return Ok(false),
        }
    }
}

fn equal_maps<'a>(a: &Value<'a>, b: &Value<'a>, budget: &mut Budget) -> Result<bool, CelError> {
    if length(a, budget)? != length(b, budget)? {
        return Ok(false);
    }
    for (key, value) in entries(a, budget)?.iter() {
        match find(b, key, budget)? {
            Some(found) if equal(value, &found, budget)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Returns the value of a key in a map.
pub(in crate::query::cel) fn find<'a>(
    map: &Value<'a>,
    key: &Value<'a>,
    budget: &mut Budget,
) -> Result<Option<Value<'a>>, CelError> {
    match (map, key) {
        (Value::Json(node), Value::Text(name)) => {
            let (found, read) = node.search(name)?;
            budget.skip(read)?;
            found.map(Value::of_json).transpose()
        }
        (Value::Map(entries), key) => {
            for (found, value) in entries.iter() {
                if equal(found, key, budget)? {
                    return Ok(Some(value.clone()));
                }
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// Adds an entry to a map. A key occurs once.
pub(in crate::query::cel) fn insert<'a>(
    entries: &mut Vec<(Value<'a>, Value<'a>)>,
    key: Value<'a>,
    value: Value<'a>,
    budget: &mut Budget,
) -> Result<(), CelError> {
    if !matches!(key, Value::Text(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_)) {
        return Err(CelError::NoOverload("a map"));
    }
    for (known, _) in &*entries {
        if equal(known, &key, budget)? {
            return Err(CelError::Value("a key occurs twice in a map".to_owned()));
        }
    }
    entries.push((key, value));
    Ok(())
}

/// Whether a value is an element of a list or a key of a map.
pub(in crate::query::cel) fn is_in<'a>(
    value: &Value<'a>,
    range: &Value<'a>,
    budget: &mut Budget,
) -> Result<bool, CelError> {
    if range.is_map() {
        return Ok(find(range, value, budget)?.is_some());
    }
    if !range.is_list() {
        return Err(CelError::NoOverload("in"));
    }
    let mut items = Items::of(range)?;
    while let Some((_, element)) = items.next(budget)? {
        if equal(&element, value, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}
