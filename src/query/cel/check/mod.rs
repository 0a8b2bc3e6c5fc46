//! The checker: resolves names, functions and types, and plans the evaluation.

mod calls;
mod macros;
mod overload;
mod paths;
#[cfg(test)]
mod tests;
mod texts;

pub(super) use texts::text_overloads;

use super::error::Problem;
use super::plan::{Plan, PlannedEntry, Program, may_be_bool};
use super::syntax::{Binary, Entry, Expr, ExprKind, Literal};
use super::types::Type;
use paths::Paths;

/// The names of types that an expression can use as values.
const TYPE_NAMES: [&str; 15] = [
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "type",
    "uint",
    "optional_type",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "net.IP",
    "net.CIDR",
];

/// The purpose of an expression, which decides its variables and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The result is a boolean. The variables are `object`, `now` and, if `has_old`, `old`.
    Filter { has_old: bool },
    /// The result is a text or several. The variable is `object`.
    Values,
}

/// Checks an expression.
///
/// # Errors
/// The first problem.
pub(super) fn check(expr: &Expr, purpose: Purpose) -> Result<Program, Problem> {
    let mut checker =
        Checker { purpose, locals: Vec::new(), paths: Paths::default(), uses_now: false, formats: 0 };
    let root = checker.expr(expr)?;
    let problem = match purpose {
        Purpose::Filter { .. } if !may_be_bool(&root.static_type) => Some("not bool"),
        Purpose::Values if !texts::may_be_texts(&root.static_type) => Some("which has no text"),
        Purpose::Filter { .. } | Purpose::Values => None,
    };
    if let Some(problem) = problem {
        return Err(Problem::new(
            expr.at,
            format!("the expression is of type {}, {problem}", root.static_type),
        ));
    }
    Ok(Program { root: root.plan, paths: checker.paths.finish(), uses_now: checker.uses_now })
}

/// A checked part of an expression: its plan and its static type.
struct CheckedExpr {
    plan: Plan,
    static_type: Type,
}

impl CheckedExpr {
    fn new(plan: Plan, static_type: Type) -> Self {
        Self { plan, static_type }
    }

    fn boxed(self) -> Box<Plan> {
        Box::new(self.plan)
    }
}

/// The state of a check.
struct Checker<'e> {
    purpose: Purpose,
    /// The variables of the enclosing macros, the innermost last.
    locals: Vec<(&'e str, Type)>,
    paths: Paths,
    uses_now: bool,
    /// The number of enclosing calls of `format`.
    formats: u32,
}

impl<'e> Checker<'e> {
    /// Whether a name is a variable outside of macros.
    fn is_variable(&self, name: &str) -> bool {
        match name {
            "object" => true,
            "now" => self.purpose != Purpose::Values,
            "old" => self.purpose == Purpose::Filter { has_old: true },
            _ => false,
        }
    }

    fn expr(&mut self, expr: &'e Expr) -> Result<CheckedExpr, Problem> {
        match &expr.kind {
            ExprKind::Literal(literal) => Ok(self::literal(literal)),
            ExprKind::Ident(name) => {
                self.variable(name).ok_or_else(|| Problem::new(expr.at, format!("unknown variable {name:?}")))
            }
            ExprKind::Select { operand, field, is_optional } => {
                self.select(expr, operand, field, *is_optional)
            }
            ExprKind::Index { operand, index, is_optional } => self.index(expr, operand, index, *is_optional),
            ExprKind::Call { target, name, arguments } => self.call(expr, target.as_deref(), name, arguments),
            ExprKind::Not(operand) => {
                let operand = self.bool(operand, "!")?;
                Ok(CheckedExpr::new(Plan::Not(operand.boxed()), Type::Bool))
            }
            ExprKind::Negate(operand) => {
                let operand = self.expr(operand)?;
                if !matches!(operand.static_type, Type::Dyn | Type::Int | Type::Double) {
                    return Err(Problem::new(expr.at, format!("- does not accept {}", operand.static_type)));
                }
                let found = operand.static_type.clone();
                Ok(CheckedExpr::new(Plan::Negate(operand.boxed()), found))
            }
            ExprKind::Binary(operator, left, right) => self.binary(expr, *operator, left, right),
            ExprKind::And(terms) => Ok(CheckedExpr::new(Plan::And(self.terms(terms, "&&")?), Type::Bool)),
            ExprKind::Or(terms) => Ok(CheckedExpr::new(Plan::Or(self.terms(terms, "||")?), Type::Bool)),
            ExprKind::Conditional(parts) => self.conditional(expr, parts),
            ExprKind::List(elements) => self.list(elements),
            ExprKind::Map(entries) => self.map(entries),
        }
    }

    fn bool(&mut self, expr: &'e Expr, operator: &str) -> Result<CheckedExpr, Problem> {
        let checked = self.expr(expr)?;
        if may_be_bool(&checked.static_type) {
            return Ok(checked);
        }
        Err(Problem::new(expr.at, format!("{operator} does not accept {}", checked.static_type)))
    }

    fn terms(&mut self, terms: &'e [Expr], operator: &str) -> Result<Vec<Plan>, Problem> {
        terms.iter().map(|term| Ok(self.bool(term, operator)?.plan)).collect()
    }

    fn variable(&mut self, name: &str) -> Option<CheckedExpr> {
        if let Some(at) = self.locals.iter().rposition(|(local, _)| *local == name) {
            return Some(CheckedExpr::new(Plan::Local(at), self.locals[at].1.clone()));
        }
        if !self.is_variable(name) {
            return type_name(name);
        }
        Some(match name {
            "now" => {
                self.uses_now = true;
                CheckedExpr::new(Plan::Now, Type::Timestamp)
            }
            "old" => CheckedExpr::new(self.paths.old(), Type::Dyn),
            _ => CheckedExpr::new(self.paths.object(), Type::Dyn),
        })
    }

    /// Returns `a.b.c` as written, if the expression is that and `a` is no variable.
    fn qualified(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Ident(name) => {
                let is_variable =
                    self.locals.iter().any(|(local, _)| local == name) || self.is_variable(name);
                (!is_variable).then(|| name.clone())
            }
            ExprKind::Select { operand, field, is_optional: false } => {
                Some(format!("{}.{field}", self.qualified(operand)?))
            }
            _ => None,
        }
    }

    fn select(
        &mut self,
        expr: &'e Expr,
        operand: &'e Expr,
        field: &str,
        is_optional: bool,
    ) -> Result<CheckedExpr, Problem> {
        if let Some(found) = self.qualified(expr).as_deref().and_then(type_name) {
            return Ok(found);
        }
        let operand = self.expr(operand)?;
        let (inner, was_optional) = match &operand.static_type {
            Type::Optional(inner) => (Type::clone(inner), true),
            other => (other.clone(), false),
        };
        let value = match inner {
            Type::Dyn => Type::Dyn,
            Type::Map(_, value) => Type::clone(&value),
            other => return Err(Problem::new(expr.at, format!("a value of type {other} has no fields"))),
        };
        let found = if is_optional || was_optional { Type::optional(value) } else { value };
        let plan = match operand.plan {
            Plan::Path(parent) if is_optional => Plan::OptionalPath(self.paths.field(parent, field)),
            Plan::Path(parent) => Plan::Path(self.paths.field(parent, field)),
            plan => Plan::Select { operand: Box::new(plan), field: field.into(), is_optional },
        };
        Ok(CheckedExpr::new(plan, found))
    }

    fn index(
        &mut self,
        expr: &Expr,
        operand: &'e Expr,
        index: &'e Expr,
        is_optional: bool,
    ) -> Result<CheckedExpr, Problem> {
        let operand = self.expr(operand)?;
        let index = self.expr(index)?;
        let (inner, was_optional) = match &operand.static_type {
            Type::Optional(inner) => (Type::clone(inner), true),
            other => (other.clone(), false),
        };
        let refuse = || format!("[] does not accept {} and {}", operand.static_type, index.static_type);
        let value = match &inner {
            Type::Dyn => Type::Dyn,
            Type::List(element) if matches!(index.static_type, Type::Int | Type::Dyn) => Type::clone(element),
            Type::Map(key, value) if key.joined(&index.static_type).is_some() => Type::clone(value),
            _ => return Err(Problem::new(expr.at, refuse())),
        };
        let found = if is_optional || was_optional { Type::optional(value) } else { value };
        let place = match (&operand.plan, &index.plan) {
            (Plan::Path(parent), Plan::Literal(Literal::Text(key))) => Some(self.paths.field(*parent, key)),
            (Plan::Path(parent), Plan::Literal(Literal::Int(at))) => Some(self.paths.element(*parent, *at)),
            _ => None,
        };
        let plan = match place {
            Some(place) if is_optional => Plan::OptionalPath(place),
            Some(place) => Plan::Path(place),
            None => Plan::Index { operand: operand.boxed(), index: index.boxed(), is_optional },
        };
        Ok(CheckedExpr::new(plan, found))
    }

    fn binary(
        &mut self,
        expr: &Expr,
        operator: Binary,
        left: &'e Expr,
        right: &'e Expr,
    ) -> Result<CheckedExpr, Problem> {
        let left = self.expr(left)?;
        let right = self.expr(right)?;
        let arguments = [left.static_type, right.static_type];
        let Ok(resolution) = overload::resolve(operator.symbol(), false, &arguments) else {
            let [left, right] = &arguments;
            let problem = format!("{} does not accept {left} and {right}", operator.symbol());
            return Err(Problem::new(expr.at, problem));
        };
        // As the API server does: nothing is in an empty list, not even an error.
        if operator == Binary::In && matches!(&right.plan, Plan::List(elements) if elements.is_empty()) {
            return Ok(self::literal(&Literal::Bool(false)));
        }
        Ok(CheckedExpr::new(Plan::Binary(operator, Box::new([left.plan, right.plan])), resolution.result))
    }

    fn conditional(&mut self, expr: &Expr, parts: &'e [Expr; 3]) -> Result<CheckedExpr, Problem> {
        let [condition, then, otherwise] = parts;
        let condition = self.bool(condition, "?")?;
        let then = self.expr(then)?;
        let otherwise = self.expr(otherwise)?;
        let Some(found) = then.static_type.joined(&otherwise.static_type) else {
            let problem = format!("? returns {} or {}", then.static_type, otherwise.static_type);
            return Err(Problem::new(expr.at, problem));
        };
        let parts = Box::new([condition.plan, then.plan, otherwise.plan]);
        Ok(CheckedExpr::new(Plan::Conditional(parts), found))
    }

    fn list(&mut self, elements: &'e [(Expr, bool)]) -> Result<CheckedExpr, Problem> {
        let mut found = None;
        let mut plans = Vec::with_capacity(elements.len());
        for (element, is_optional) in elements {
            let checked = self.expr(element)?;
            self.join(&mut found, &checked, *is_optional, element.at)?;
            plans.push((checked.plan, *is_optional));
        }
        Ok(CheckedExpr::new(Plan::List(plans), Type::list(element_type(found))))
    }

    fn map(&mut self, entries: &'e [Entry]) -> Result<CheckedExpr, Problem> {
        let (mut keys, mut values) = (None, None);
        let mut plans = Vec::with_capacity(entries.len());
        for Entry { key, value, is_optional } in entries {
            let planned_key = self.expr(key)?;
            self.join(&mut keys, &planned_key, false, key.at)?;
            let planned = self.expr(value)?;
            self.join(&mut values, &planned, *is_optional, value.at)?;
            let is_optional = *is_optional;
            plans.push(PlannedEntry { key: planned_key.plan, value: planned.plan, is_optional });
        }
        let found = Type::map(element_type(keys), element_type(values));
        Ok(CheckedExpr::new(Plan::Map(plans), found))
    }

    /// Adds an element to the elements of a literal before it. They have one type, except in the arguments of `format`. A
    /// value of the object has none, and an optional element has that of its value.
    fn join(
        &self,
        joined: &mut Option<(Type, bool)>,
        element: &CheckedExpr,
        is_optional: bool,
        at: usize,
    ) -> Result<(), Problem> {
        let found = match &element.static_type {
            Type::Optional(inner) if is_optional => Type::clone(inner),
            found => found.clone(),
        };
        let is_untyped = !is_optional && found == Type::Dyn && element.plan.is_untyped();
        let Some((before, was_untyped)) = joined.take() else {
            *joined = Some((found, is_untyped));
            return Ok(());
        };
        let differs = (was_untyped && found != Type::Dyn) || (is_untyped && before != Type::Dyn);
        *joined = match before.joined(&found) {
            _ if self.formats > 0 => Some((Type::Dyn, false)),
            Some(joined) if !differs => Some((joined, is_untyped || was_untyped)),
            _ => return Err(Problem::new(at, format!("expected {before}, found {found}"))),
        };
        Ok(())
    }
}

/// Returns the type of the elements of a literal.
fn element_type(joined: Option<(Type, bool)>) -> Type {
    joined.map_or(Type::Dyn, |(found, _)| found)
}

fn literal(literal: &Literal) -> CheckedExpr {
    let found = match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::Text(_) => Type::Text,
        Literal::Bytes(_) => Type::Bytes,
    };
    CheckedExpr::new(Plan::Literal(literal.clone()), found)
}

fn type_name(name: &str) -> Option<CheckedExpr> {
    let name = TYPE_NAMES.into_iter().find(|known| *known == name)?;
    Some(CheckedExpr::new(Plan::TypeName(name), Type::Meta))
}
