//! Calls of functions.

use super::overload::{Unresolved, resolve};
use super::{CheckedExpr, Checker};
use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;
use crate::query::cel::error::Problem;
use crate::query::cel::functions::{ConstantRegex, Overload, check_format};
use crate::query::cel::plan::Plan;
use crate::query::cel::syntax::{Expr, ExprKind, Literal};
use crate::query::cel::types::Type;
use crate::query::cel::value::{Value, fits};

/// The functions that the API server evaluates on constants when it compiles an expression.
const CONVERSIONS: [&str; 8] = ["bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint"];

impl<'e> Checker<'e> {
    pub(super) fn call(
        &mut self,
        expr: &'e Expr,
        target: Option<&'e Expr>,
        name: &'e str,
        arguments: &'e [Expr],
    ) -> Result<CheckedExpr, Problem> {
        if let Some(expanded) = self.expand(expr, target, name, arguments)? {
            return Ok(expanded);
        }
        // A function of a library, such as `sets.contains`, looks like a call on a field.
        if let Some(library) = target.and_then(|target| self.qualified(target)) {
            let qualified = format!("{library}.{name}");
            let checked = self.function(expr, &qualified, None, arguments)?;
            if let Some(checked) = checked {
                return Ok(checked);
            }
        }
        match self.function(expr, name, target, arguments)? {
            Some(checked) => Ok(checked),
            None => Err(Problem::new(expr.at, format!("unknown function {name:?}"))),
        }
    }

    /// Checks a call of a declared function; `None` if there is none of this name.
    fn function(
        &mut self,
        expr: &Expr,
        name: &str,
        target: Option<&'e Expr>,
        arguments: &'e [Expr],
    ) -> Result<Option<CheckedExpr>, Problem> {
        let is_member = target.is_some();
        if let Err(Unresolved::Name { is_in_other_style }) = resolve(name, is_member, &[]) {
            let style = if is_member { "is not called on a value" } else { "is called on a value" };
            let problem = Problem::new(expr.at, format!("the function {name:?} {style}"));
            return if is_in_other_style { Err(problem) } else { Ok(None) };
        }
        let mut plans = Vec::new();
        let mut types = Vec::new();
        self.formats += u32::from(name == "format");
        for argument in target.into_iter().chain(arguments) {
            let checked = self.expr(argument)?;
            plans.push(checked.plan);
            types.push(checked.static_type);
        }
        self.formats -= u32::from(name == "format");
        let resolution = match resolve(name, is_member, &types) {
            Ok(resolution) => resolution,
            Err(Unresolved::Count(counts)) => {
                return Err(Problem::new(expr.at, wrong_count(name, &counts, arguments.len())));
            }
            Err(_) => {
                let types: Vec<String> = types.iter().map(Type::to_string).collect();
                let problem = format!("the function {name:?} does not accept {}", types.join(", "));
                return Err(Problem::new(expr.at, problem));
            }
        };
        let name = resolution.name;
        if name == "format" {
            check_clauses(target, arguments)?;
        }
        if CONVERSIONS.contains(&name)
            && let [Plan::Literal(literal)] = &plans[..]
        {
            let at = arguments.first().map_or(expr.at, |argument| argument.at);
            convert(name, &resolution.overloads, literal)
                .map_err(|error| Problem::new(at, error.to_string()))?;
        }
        let plan = match constant_regex(name, target.into_iter().chain(arguments).nth(1))? {
            Some(regex) => with_regex(regex, plans),
            None => Plan::Call { name, overloads: resolution.overloads, arguments: plans },
        };
        Ok(Some(CheckedExpr::new(plan, resolution.result)))
    }
}

fn wrong_count(name: &str, counts: &[usize], found: usize) -> String {
    let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
    let plural = if counts == ["1"] { "argument" } else { "arguments" };
    format!("the function {name:?} takes {} {plural}, not {found}", counts.join(" or "))
}

/// Checks that a constant can be converted.
fn convert(name: &'static str, overloads: &[Overload], literal: &Literal) -> Result<(), CelError> {
    let value = Value::of_literal(literal);
    let budget = &mut Budget::default();
    for overload in overloads {
        if let [expected] = &overload.arguments[..]
            && fits(&value, expected, budget)?
        {
            return (overload.call)(budget, &[value]).map(drop);
        }
    }
    Err(CelError::NoOverload(name))
}

/// Checks the clauses of a constant text against the arguments, if those are a literal.
fn check_clauses(target: Option<&Expr>, arguments: &[Expr]) -> Result<(), Problem> {
    let Some(Expr { kind: ExprKind::Literal(Literal::Text(text)), at, .. }) = target else { return Ok(()) };
    let [Expr { kind: ExprKind::List(elements), .. }] = arguments else { return Ok(()) };
    check_format(text, elements.len()).map_err(|problem| Problem::new(*at, problem))
}

/// Compiles the regular expression of a function that takes one, if it is a constant.
fn constant_regex(name: &'static str, pattern: Option<&Expr>) -> Result<Option<ConstantRegex>, Problem> {
    let Some(Expr { kind: ExprKind::Literal(Literal::Text(text)), at, .. }) = pattern else {
        return Ok(None);
    };
    ConstantRegex::new(name, text)
        .map_err(|reason| Problem::new(*at, format!("invalid regular expression: {reason}")))
}

/// Plans a call with a constant regular expression, the second argument.
fn with_regex(regex: ConstantRegex, arguments: Vec<Plan>) -> Plan {
    let mut arguments = arguments.into_iter();
    let subject = arguments.next().unwrap_or(Plan::Literal(Literal::Null));
    let limit = arguments.nth(1).map(Box::new);
    Plan::Regex { regex: Box::new(regex), subject: Box::new(subject), limit }
}
