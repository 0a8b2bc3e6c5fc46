//! Kubernetes' quantities, with sums and differences.

use std::cmp::Ordering;

use super::declaration::{Declaration, MISMATCH, global, invalid, member, quoted};
use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;
use crate::query::cel::kubernetes::Quantity;
use crate::query::cel::value::{Outcome, Value};

pub(super) const DECLARATIONS: &[Declaration] = &[
    global("quantity", "string -> quantity", |_, arguments| match arguments {
        [Value::Text(text)] => Quantity::parse(text)
            .map(|quantity| Value::Quantity(quantity.into()))
            .ok_or_else(|| invalid(format!("{} is no quantity", quoted(text)))),
        _ => Err(MISMATCH),
    }),
    global("isQuantity", "string -> bool", |_, arguments| match arguments {
        [Value::Text(text)] => Ok(Value::Bool(Quantity::parse(text).is_some())),
        _ => Err(MISMATCH),
    }),
    global("sign", "quantity -> int", |_, arguments| match arguments {
        [Value::Quantity(quantity)] => Ok(Value::Int(quantity.sign())),
        _ => Err(MISMATCH),
    }),
    member("isGreaterThan", "quantity, quantity -> bool", |_, arguments| {
        compared(arguments, |ordering| Value::Bool(ordering.is_gt()))
    }),
    member("isLessThan", "quantity, quantity -> bool", |_, arguments| {
        compared(arguments, |ordering| Value::Bool(ordering.is_lt()))
    }),
    member("compareTo", "quantity, quantity -> int", |_, arguments| {
        compared(arguments, |ordering| Value::Int(ordering as i64))
    }),
    member("asApproximateFloat", "quantity -> double", |_, arguments| match arguments {
        [Value::Quantity(quantity)] => Ok(Value::Double(quantity.approximate())),
        _ => Err(MISMATCH),
    }),
    member("asInteger", "quantity -> int", |_, arguments| match arguments {
        [Value::Quantity(quantity)] => {
            quantity.integer().map(Value::Int).ok_or_else(|| invalid("the quantity is no integer"))
        }
        _ => Err(MISMATCH),
    }),
    member("isInteger", "quantity -> bool", |_, arguments| match arguments {
        [Value::Quantity(quantity)] => Ok(Value::Bool(quantity.integer().is_some())),
        _ => Err(MISMATCH),
    }),
    member("add", "quantity, quantity -> quantity", add),
    member("add", "quantity, int -> quantity", add),
    member("sub", "quantity, quantity -> quantity", subtract),
    member("sub", "quantity, int -> quantity", subtract),
];

fn compared<'a>(arguments: &[Value<'a>], result: fn(Ordering) -> Value<'static>) -> Outcome<'a> {
    match arguments {
        [Value::Quantity(a), Value::Quantity(b)] => Ok(result(a.exact.cmp(&b.exact))),
        _ => Err(MISMATCH),
    }
}

fn add<'a>(_: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    combined(arguments, false)
}

fn subtract<'a>(_: &mut Budget, arguments: &[Value<'a>]) -> Outcome<'a> {
    combined(arguments, true)
}

fn combined<'a>(arguments: &[Value<'a>], is_negated: bool) -> Outcome<'a> {
    let sum = match arguments {
        [Value::Quantity(a), Value::Quantity(b)] => a.sum(b, is_negated),
        [Value::Quantity(a), Value::Int(number)] => a.sum(&Quantity::of_int(*number), is_negated),
        _ => return Err(MISMATCH),
    };
    sum.map(|sum| Value::Quantity(sum.into())).ok_or(CelError::Overflow)
}
