//! The evaluator of checked expressions.

mod access;
mod comparison;
mod fold;
mod junction;
mod optional;
mod texts;
mod validity;

pub(super) use validity::Validity;

use std::cmp::Ordering;

use super::budget::Budget;
use super::error::CelError;
use super::plan::{Plan, PlannedEntry, Program};
use super::syntax::Binary;
use super::value::{Outcome, Value, calculate, compare, equal, fits, insert, is_in, negate};
use junction::Junction;

/// The result of looking up a path; `None` if there is no value.
type Lookup<'a> = Result<Option<Value<'a>>, CelError>;

/// The values of the variables.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variables<'a> {
    pub(super) object: &'a [u8],
    pub(super) old: Option<&'a [u8]>,
    /// In nanoseconds since 1970.
    pub(super) now: i128,
}

/// An evaluation in progress.
pub(super) struct Evaluation<'a> {
    program: &'a Program,
    variables: Variables<'a>,
    /// The variables of the enclosing macros, the innermost last.
    locals: Vec<Value<'a>>,
    /// The values at the paths that were looked up.
    memo: Vec<Option<Lookup<'a>>>,
    budget: Budget,
    validity: Validity,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(program: &'a Program, variables: Variables<'a>) -> Self {
        let memo = vec![None; program.paths.len()];
        let (budget, validity) = (Budget::default(), Validity::default());
        Self { program, variables, locals: Vec::new(), memo, budget, validity }
    }

    /// Returns whether the expression is true, the time for which it is, and the budget that is left.
    pub(super) fn boolean(mut self) -> (Result<bool, CelError>, Validity, Budget) {
        let result = match self.value(&self.program.root) {
            Ok(Value::Bool(result)) => Ok(result),
            Ok(_) => Err(CelError::NotBoolean),
            Err(error) => Err(error),
        };
        (result, self.validity, self.budget)
    }

    fn value(&mut self, plan: &'a Plan) -> Outcome<'a> {
        self.budget.charge(1)?;
        match plan {
            Plan::Literal(literal) => Ok(Value::of_literal(literal)),
            Plan::TypeName(name) => Ok(Value::Type(name)),
            Plan::Now => {
                self.validity.read_now();
                Ok(Value::Timestamp(self.variables.now))
            }
            Plan::Local(at) => self.locals.get(*at).cloned().ok_or(CelError::Unreadable),
            Plan::Path(place) => self.at_path(*place),
            Plan::HasPath(place) => Ok(Value::Bool(self.find_path(*place)?.is_some())),
            Plan::OptionalPath(place) => Ok(Value::Optional(self.find_path(*place)?.map(std::rc::Rc::new))),
            Plan::Select { operand, field, is_optional } => self.select(operand, field, *is_optional),
            Plan::Has { operand, field } => {
                let operand = self.value(operand)?;
                Ok(Value::Bool(self.field_of(&operand, field)?.is_some()))
            }
            Plan::Index { operand, index, is_optional } => self.index(operand, index, *is_optional),
            Plan::Not(operand) => match self.value(operand)? {
                Value::Bool(value) => Ok(Value::Bool(!value)),
                _ => Err(CelError::NoOverload("!")),
            },
            Plan::Negate(operand) => negate(&self.value(operand)?),
            Plan::Binary(operator, operands) => self.binary(*operator, operands),
            Plan::And(terms) => self.logical(terms, Junction::all("&&")),
            Plan::Or(terms) => self.logical(terms, Junction::any("||")),
            Plan::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                match self.value(condition)? {
                    Value::Bool(true) => self.value(then),
                    Value::Bool(false) => self.value(otherwise),
                    _ => Err(CelError::NoOverload("?")),
                }
            }
            Plan::Call { name, overloads, arguments } => {
                let arguments = self.values(arguments)?;
                for overload in overloads {
                    let mut is_accepted = true;
                    for (expected, argument) in overload.arguments.iter().zip(&arguments) {
                        is_accepted = is_accepted && fits(argument, expected, &mut self.budget)?;
                    }
                    if is_accepted {
                        return (overload.call)(&mut self.budget, &arguments);
                    }
                }
                Err(CelError::NoOverload(name))
            }
            Plan::Regex { regex, subject, limit } => {
                let subject = self.value(subject)?;
                let limit = limit.as_ref().map(|limit| self.value(limit)).transpose()?;
                regex.call(&subject, limit.as_ref(), &mut self.budget)
            }
            Plan::List(elements) => self.list(elements),
            Plan::Map(entries) => self.map(entries),
            Plan::Fold(fold) => self.fold(fold),
            Plan::OptionalMap { operand, body, is_flat } => self.optional_map(operand, body, *is_flat),
            Plan::OptionalOr { operand, other, is_value } => self.optional_or(operand, other, *is_value),
        }
    }

    fn values(&mut self, plans: &'a [Plan]) -> Result<Vec<Value<'a>>, CelError> {
        plans.iter().map(|plan| self.value(plan)).collect()
    }

    /// Evaluates the terms of `&&` or `||`.
    fn logical(&mut self, terms: &'a [Plan], mut junction: Junction) -> Outcome<'a> {
        for term in terms {
            if junction.add(self.value(term))? {
                return Ok(junction.decided());
            }
        }
        junction.undecided()
    }

    fn binary(&mut self, operator: Binary, operands: &'a [Plan; 2]) -> Outcome<'a> {
        let [left, right] = if self.program.uses_now && operator.is_comparison() {
            self.compared(operands)?
        } else {
            [self.value(&operands[0])?, self.value(&operands[1])?]
        };
        let budget = &mut self.budget;
        let ordered = |budget: &mut Budget, holds: fn(Ordering) -> bool| {
            let ordering = compare(&left, &right, budget).map_err(|error| match error {
                CelError::NoOverload(_) => CelError::NoOverload(operator.symbol()),
                other => other,
            })?;
            Ok(Value::Bool(holds(ordering)))
        };
        match operator {
            Binary::Equal => Ok(Value::Bool(equal(&left, &right, budget)?)),
            Binary::NotEqual => Ok(Value::Bool(!equal(&left, &right, budget)?)),
            Binary::Less => ordered(budget, Ordering::is_lt),
            Binary::LessEqual => ordered(budget, Ordering::is_le),
            Binary::Greater => ordered(budget, Ordering::is_gt),
            Binary::GreaterEqual => ordered(budget, Ordering::is_ge),
            Binary::In => is_in(&left, &right, budget).map(Value::Bool),
            _ => calculate(operator, &left, &right, budget),
        }
    }

    fn list(&mut self, elements: &'a [(Plan, bool)]) -> Outcome<'a> {
        let mut values = Vec::with_capacity(elements.len());
        for (element, is_optional) in elements {
            match self.value(element)? {
                Value::Optional(None) if *is_optional => {}
                Value::Optional(Some(value)) if *is_optional => values.push((*value).clone()),
                _ if *is_optional => return Err(CelError::NoOverload("[?]")),
                value => values.push(value),
            }
        }
        Ok(Value::made_list(values))
    }

    fn map(&mut self, entries: &'a [PlannedEntry]) -> Outcome<'a> {
        let mut values: Vec<(Value<'a>, Value<'a>)> = Vec::with_capacity(entries.len());
        for entry in entries {
            let key = self.value(&entry.key)?;
            let value = match self.value(&entry.value)? {
                Value::Optional(None) if entry.is_optional => continue,
                Value::Optional(Some(value)) if entry.is_optional => (*value).clone(),
                _ if entry.is_optional => return Err(CelError::NoOverload("{?}")),
                value => value,
            };
            insert(&mut values, key, value, &mut self.budget)?;
        }
        Ok(Value::Map(values.into()))
    }
}
