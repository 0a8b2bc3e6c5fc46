//! The macros: `has`, those over lists and maps, and those over optional values.

use super::{CheckedExpr, Checker};
use crate::query::cel::error::Problem;
use crate::query::cel::plan::{Fold, FoldKind, Plan, may_be_bool};
use crate::query::cel::syntax::{Expr, ExprKind};
use crate::query::cel::types::Type;

impl<'e> Checker<'e> {
    /// Checks the call of a macro; `None` if it is none.
    pub(super) fn expand(
        &mut self,
        expr: &'e Expr,
        target: Option<&'e Expr>,
        name: &str,
        arguments: &'e [Expr],
    ) -> Result<Option<CheckedExpr>, Problem> {
        let Some(target) = target else {
            return match arguments {
                [argument] if name == "has" => self.has(argument).map(Some),
                _ => Ok(None),
            };
        };
        match (name, arguments) {
            ("optMap" | "optFlatMap", [variable, body]) => {
                self.optional_map(target, variable, body, name == "optFlatMap").map(Some)
            }
            ("or" | "orValue", [other]) => self.optional_or(expr, target, other, name == "orValue").map(Some),
            _ => self.fold(target, name, arguments),
        }
    }

    fn has(&mut self, argument: &'e Expr) -> Result<CheckedExpr, Problem> {
        let ExprKind::Select { operand, field, is_optional: false } = &argument.kind else {
            return Err(Problem::new(argument.at, "has needs a field, such as has(object.spec.paused)"));
        };
        let operand = self.expr(operand)?;
        let inner = match &operand.static_type {
            Type::Optional(inner) => Type::clone(inner),
            other => other.clone(),
        };
        if !matches!(inner, Type::Dyn | Type::Map(..)) {
            return Err(Problem::new(argument.at, format!("a value of type {inner} has no fields")));
        }
        let plan = match operand.plan {
            Plan::Path(parent) => Plan::HasPath(self.paths.field(parent, field)),
            plan => Plan::Has { operand: Box::new(plan), field: (**field).into() },
        };
        Ok(CheckedExpr::new(plan, Type::Bool))
    }

    fn fold(
        &mut self,
        target: &'e Expr,
        name: &str,
        arguments: &'e [Expr],
    ) -> Result<Option<CheckedExpr>, Problem> {
        let (kind, variables, filter, body) = match (name, arguments) {
            ("all", [a, body]) => (FoldKind::All, vec![a], None, body),
            ("all", [a, b, body]) => (FoldKind::All, vec![a, b], None, body),
            ("exists", [a, body]) => (FoldKind::Exists, vec![a], None, body),
            ("exists", [a, b, body]) => (FoldKind::Exists, vec![a, b], None, body),
            ("exists_one" | "existsOne", [a, body]) => (FoldKind::ExistsOne, vec![a], None, body),
            ("exists_one" | "existsOne", [a, b, body]) => (FoldKind::ExistsOne, vec![a, b], None, body),
            ("map", [a, body]) => (FoldKind::Map, vec![a], None, body),
            ("map", [a, filter, body]) => (FoldKind::Map, vec![a], Some(filter), body),
            ("filter", [a, body]) => (FoldKind::Filter, vec![a], None, body),
            ("sortBy", [a, body]) => (FoldKind::SortBy, vec![a], None, body),
            ("transformList", [a, b, body]) => (FoldKind::Map, vec![a, b], None, body),
            ("transformList", [a, b, filter, body]) => (FoldKind::Map, vec![a, b], Some(filter), body),
            ("transformMap", [a, b, body]) => (FoldKind::TransformMap, vec![a, b], None, body),
            ("transformMap", [a, b, filter, body]) => {
                (FoldKind::TransformMap, vec![a, b], Some(filter), body)
            }
            ("transformMapEntry", [a, b, body]) => (FoldKind::TransformMapEntry, vec![a, b], None, body),
            ("transformMapEntry", [a, b, filter, body]) => {
                (FoldKind::TransformMapEntry, vec![a, b], Some(filter), body)
            }
            _ => return Ok(None),
        };
        let range = self.expr(target)?;
        let has_two = variables.len() == 2;
        let types = match &range.static_type {
            Type::Dyn => [Type::Dyn, Type::Dyn],
            Type::List(element) if has_two => [Type::Int, Type::clone(element)],
            Type::List(element) => [Type::clone(element), Type::Dyn],
            Type::Map(key, value) => [Type::clone(key), Type::clone(value)],
            other => {
                return Err(Problem::new(target.at, format!("{name} needs a list or a map, not {other}")));
            }
        };
        let known = self.locals.len();
        for (variable, found) in variables.iter().zip(&types) {
            let name = variable_name(variable)?;
            self.locals.push((name, found.clone()));
        }
        let filter = filter.map(|filter| self.bool(filter, name)).transpose()?;
        let checked = self.expr(body)?;
        self.locals.truncate(known);
        let [first, _] = types;
        let found = folded(kind, first, &checked.static_type).ok_or_else(|| {
            Problem::new(body.at, format!("{name} does not accept {}", checked.static_type))
        })?;
        let filter = filter.map(|filter| filter.plan);
        let fold = Fold { kind, range: range.plan, has_two, filter, body: checked.plan };
        Ok(Some(CheckedExpr::new(Plan::Fold(Box::new(fold)), found)))
    }

    fn optional_map(
        &mut self,
        target: &'e Expr,
        variable: &'e Expr,
        body: &'e Expr,
        is_flat: bool,
    ) -> Result<CheckedExpr, Problem> {
        let operand = self.expr(target)?;
        let inner = optional_of(&operand.static_type).ok_or_else(|| {
            Problem::new(target.at, format!("expected optional, found {}", operand.static_type))
        })?;
        self.locals.push((variable_name(variable)?, inner));
        let checked = self.expr(body)?;
        self.locals.pop();
        let found = match checked.static_type {
            found if !is_flat => Type::optional(found),
            found @ (Type::Optional(_) | Type::Dyn) => found,
            found => return Err(Problem::new(body.at, format!("expected optional, found {found}"))),
        };
        let body = Box::new(checked.plan);
        Ok(CheckedExpr::new(Plan::OptionalMap { operand: operand.boxed(), body, is_flat }, found))
    }

    fn optional_or(
        &mut self,
        expr: &Expr,
        target: &'e Expr,
        other: &'e Expr,
        is_value: bool,
    ) -> Result<CheckedExpr, Problem> {
        let operand = self.expr(target)?;
        let other = self.expr(other)?;
        let inner = optional_of(&operand.static_type);
        let other_inner =
            if is_value { Some(other.static_type.clone()) } else { optional_of(&other.static_type) };
        let joined = inner.zip(other_inner).and_then(|(inner, other)| inner.joined(&other));
        let Some(joined) = joined else {
            let name = if is_value { "orValue" } else { "or" };
            let problem = format!(
                "the function {name:?} does not accept {}, {}",
                operand.static_type, other.static_type
            );
            return Err(Problem::new(expr.at, problem));
        };
        let found = if is_value { joined } else { Type::optional(joined) };
        let plan = Plan::OptionalOr { operand: operand.boxed(), other: other.boxed(), is_value };
        Ok(CheckedExpr::new(plan, found))
    }
}

/// Returns the type inside an optional value.
fn optional_of(kind: &Type) -> Option<Type> {
    match kind {
        Type::Dyn => Some(Type::Dyn),
        Type::Optional(inner) => Some(Type::clone(inner)),
        _ => None,
    }
}

fn variable_name(variable: &Expr) -> Result<&str, Problem> {
    match &variable.kind {
        ExprKind::Ident(name) => Ok(name),
        _ => Err(Problem::new(variable.at, "expected the name of a variable")),
    }
}

/// Returns the type of the result, given those of the first variable and the body.
fn folded(kind: FoldKind, first: Type, body: &Type) -> Option<Type> {
    match kind {
        FoldKind::All | FoldKind::Exists | FoldKind::ExistsOne => may_be_bool(body).then_some(Type::Bool),
        FoldKind::Filter => may_be_bool(body).then(|| Type::list(first)),
        FoldKind::Map => Some(Type::list(body.clone())),
        FoldKind::SortBy => body.fits('C').then(|| Type::list(first)),
        FoldKind::TransformMap => Some(Type::map(first, body.clone())),
        FoldKind::TransformMapEntry => matches!(body, Type::Map(..) | Type::Dyn).then(|| body.clone()),
    }
}
