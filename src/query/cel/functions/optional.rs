//! Functions of optional values.

use super::declaration::{Declaration, MISMATCH, global, invalid, member};
use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;
use crate::query::cel::value::{Outcome, Value, length, list_items};

pub(super) const DECLARATIONS: &[Declaration] = &[
    global("optional.of", "T -> optional<T>", |_, arguments| match arguments {
        [value] => Ok(Value::some(value.clone())),
        _ => Err(MISMATCH),
    }),
    global("optional.none", "-> optional<T>", |_, _| Ok(Value::Optional(None))),
    global("optional.ofNonZeroValue", "T -> optional<T>", of_non_zero),
    global("optional.unwrap", "list<optional<T>> -> list<T>", unwrap),
    member("unwrapOpt", "list<optional<T>> -> list<T>", unwrap),
    member("hasValue", "optional<T> -> bool", |_, arguments| match arguments {
        [Value::Optional(value)] => Ok(Value::Bool(value.is_some())),
        _ => Err(MISMATCH),
    }),
    member("value", "optional<T> -> T", |_, arguments| match arguments {
        [Value::Optional(Some(value))] => Ok(Value::clone(value)),
        [Value::Optional(None)] => Err(invalid("an optional value is missing")),
        _ => Err(MISMATCH),
    }),
    member("first", "list<T> -> optional<T>", |budget, arguments| edge(budget, arguments, false)),
    member("last", "list<T> -> optional<T>", |budget, arguments| edge(budget, arguments, true)),
];

fn of_non_zero<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [value] = arguments else { return Err(MISMATCH) };
    let is_zero = match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(number) => *number == 0,
        Value::Uint(number) => *number == 0,
        Value::Double(number) => *number == 0.0,
        Value::Text(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::Duration(nanos) => *nanos == 0,
        Value::Optional(value) => value.is_none(),
        value if value.is_list() || value.is_map() => length(value, budget)? == 0,
        _ => false,
    };
    Ok(if is_zero { Value::Optional(None) } else { Value::some(value.clone()) })
}

fn unwrap<'a>(budget: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    let [list] = arguments else { return Err(MISMATCH) };
    let mut values = Vec::new();
    for element in list_items(list, budget)?.iter() {
        match element {
            Value::Optional(Some(value)) => values.push(Value::clone(value)),
            Value::Optional(None) => {}
            _ => return Err(CelError::NoOverload("unwrap")),
        }
    }
    Ok(Value::made_list(values))
}

fn edge<'a>(budget: &mut Budget, arguments: &[Value<'a>], is_last: bool) -> Outcome<'a> {
    let [list] = arguments else { return Err(MISMATCH) };
    let elements = list_items(list, budget)?;
    let found = if is_last { elements.last() } else { elements.first() };
    Ok(found.map_or(Value::Optional(None), |value| Value::some(value.clone())))
}
