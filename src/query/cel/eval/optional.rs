//! The macros over optional values.

use super::Evaluation;
use crate::query::cel::error::CelError;
use crate::query::cel::plan::Plan;
use crate::query::cel::value::{Outcome, Value};

impl<'a> Evaluation<'a> {
    pub(super) fn optional_map(&mut self, operand: &'a Plan, body: &'a Plan, is_flat: bool) -> Outcome<'a> {
        let inner = match self.value(operand)? {
            Value::Optional(None) => return Ok(Value::Optional(None)),
            Value::Optional(Some(inner)) => Value::clone(&inner),
            _ => return Err(CelError::NoOverload(if is_flat { "optFlatMap" } else { "optMap" })),
        };
        self.locals.push(inner);
        let result = self.value(body);
        self.locals.pop();
        if is_flat { result } else { result.map(Value::some) }
    }

    pub(super) fn optional_or(&mut self, operand: &'a Plan, other: &'a Plan, is_value: bool) -> Outcome<'a> {
        match self.value(operand)? {
            Value::Optional(Some(inner)) if is_value => Ok(Value::clone(&inner)),
            found @ Value::Optional(Some(_)) => Ok(found),
            Value::Optional(None) => self.value(other),
            _ => Err(CelError::NoOverload(if is_value { "orValue" } else { "or" })),
        }
    }
}
