//! The order of values.

use std::cmp::Ordering;

use super::Value;
use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;

/// Returns the order of two values of one type, or of two numbers.
pub(in crate::query::cel) fn compare(
    a: &Value<'_>,
    b: &Value<'_>,
    budget: &mut Budget,
) -> Result<Ordering, CelError> {
    budget.charge(1)?;
    Ok(match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (
            Value::Int(_) | Value::Uint(_) | Value::Double(_),
            Value::Int(_) | Value::Uint(_) | Value::Double(_),
        ) => numbers(a, b).ok_or_else(|| CelError::Value("NaN has no order".to_owned()))?,
        (Value::Text(a), Value::Text(b)) => {
            budget.read(a.len().min(b.len()))?;
            a.as_bytes().cmp(b.as_bytes())
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            budget.read(a.len().min(b.len()))?;
            a.cmp(b)
        }
        (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
        (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
        _ => return Err(CelError::NoOverload("a comparison")),
    })
}

/// Returns the order of two numbers; `None` if one is not a number.
pub(super) fn numbers(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Uint(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Double(a), b) => with_double(b, *a).map(Ordering::reverse),
        (a, Value::Double(b)) => with_double(a, *b),
        _ => None,
    }
}

/// Returns the order of an integer and a double.
#[expect(clippy::cast_precision_loss, reason = "cel-go converts the integer, too")]
fn with_double(integer: &Value<'_>, double: f64) -> Option<Ordering> {
    match integer {
        Value::Int(number) => (*number as f64).partial_cmp(&double),
        Value::Uint(number) => (*number as f64).partial_cmp(&double),
        _ => None,
    }
}
