//! The arithmetic operators. Results that do not fit are errors.

use super::items::concatenated;
use super::{Outcome, Value};
use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;
use crate::query::cel::syntax::Binary;
use crate::query::cel::time_text::in_range;

/// Applies the unary minus.
///
/// # Errors
/// The operand is no int or double, or the result does not fit.
pub(in crate::query::cel) fn negate<'a>(operand: &Value<'a>) -> Outcome<'a> {
    match operand {
        Value::Int(number) => number.checked_neg().map(Value::Int).ok_or(CelError::Overflow),
        Value::Double(number) => Ok(Value::Double(-number)),
        _ => Err(CelError::NoOverload("-")),
    }
}

/// Applies a binary arithmetic operator.
///
/// # Errors
/// The operator is not defined for the types, a divisor is 0, or the result does not fit its type or the budget.
pub(in crate::query::cel) fn calculate<'a>(
    operator: Binary,
    left: &Value<'a>,
    right: &Value<'a>,
    budget: &mut Budget,
) -> Outcome<'a> {
    let fits = |result: Option<Value<'a>>| result.ok_or(CelError::Overflow);
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => ints(operator, *left, *right),
        (Value::Uint(left), Value::Uint(right)) => uints(operator, *left, *right),
        (Value::Double(left), Value::Double(right)) => doubles(operator, *left, *right),
        (Value::Duration(left), Value::Duration(right)) => match operator {
            Binary::Add => fits(left.checked_add(*right).map(Value::Duration)),
            Binary::Subtract => fits(left.checked_sub(*right).map(Value::Duration)),
            _ => Err(CelError::NoOverload(operator.symbol())),
        },
        (Value::Timestamp(time), Value::Duration(duration)) => match operator {
            Binary::Add => fits(in_range(time + i128::from(*duration)).map(Value::Timestamp)),
            Binary::Subtract => fits(in_range(time - i128::from(*duration)).map(Value::Timestamp)),
            _ => Err(CelError::NoOverload(operator.symbol())),
        },
        (Value::Duration(duration), Value::Timestamp(time)) if operator == Binary::Add => {
            fits(in_range(time + i128::from(*duration)).map(Value::Timestamp))
        }
        (Value::Timestamp(left), Value::Timestamp(right)) if operator == Binary::Subtract => {
            fits(i64::try_from(left - right).ok().map(Value::Duration))
        }
        (Value::Text(left), Value::Text(right)) if operator == Binary::Add => {
            budget.allocate(left.len() + right.len())?;
            Value::made_text(format!("{}{}", &**left, &**right), budget)
        }
        (Value::Bytes(left), Value::Bytes(right)) if operator == Binary::Add => {
            budget.allocate(left.len() + right.len())?;
            Ok(Value::Bytes([&**left, &**right].concat().into()))
        }
        (left, right) if operator == Binary::Add && left.is_list() && right.is_list() => {
            concatenated(left, right, budget)
        }
        _ => Err(CelError::NoOverload(operator.symbol())),
    }
}

/// Calculates with the checked operations of the operands' integer type; returns from the function on an error other than
/// an overflow.
macro_rules! checked {
    ($operator:expr, $left:expr, $right:expr) => {
        match $operator {
            Binary::Add => $left.checked_add($right),
            Binary::Subtract => $left.checked_sub($right),
            Binary::Multiply => $left.checked_mul($right),
            Binary::Divide | Binary::Modulo if $right == 0 => return Err(CelError::DivisionByZero),
            Binary::Divide => $left.checked_div($right),
            Binary::Modulo => $left.checked_rem($right),
            _ => return Err(CelError::NoOverload($operator.symbol())),
        }
    };
}

fn ints<'a>(operator: Binary, left: i64, right: i64) -> Outcome<'a> {
    checked!(operator, left, right).map(Value::Int).ok_or(CelError::Overflow)
}

fn uints<'a>(operator: Binary, left: u64, right: u64) -> Outcome<'a> {
    checked!(operator, left, right).map(Value::Uint).ok_or(CelError::Overflow)
}

fn doubles<'a>(operator: Binary, left: f64, right: f64) -> Outcome<'a> {
    Ok(Value::Double(match operator {
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left * right,
        Binary::Divide => left / right,
        _ => return Err(CelError::NoOverload(operator.symbol())),
    }))
}
