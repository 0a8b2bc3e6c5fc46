//! Regular expressions.

use regex_bites::{Regex, RegexBuilder};

use super::declaration::{Declaration, MISMATCH, global, invalid, member};
use crate::query::cel::budget::Budget;
use crate::query::cel::error::CelError;
use crate::query::cel::value::{Outcome, Text, Value};

/// The functions whose second argument is a regular expression.
const FUNCTIONS: [&str; 3] = ["matches", "find", "findAll"];

pub(super) const DECLARATIONS: &[Declaration] = &[
    global("matches", "string, string -> bool", |budget, arguments| {
        dynamic_call(budget, "matches", arguments)
    }),
    member("matches", "string, string -> bool", |budget, arguments| {
        dynamic_call(budget, "matches", arguments)
    }),
    member("find", "string, string -> string", |budget, arguments| dynamic_call(budget, "find", arguments)),
    member("findAll", "string, string -> list<string>", |budget, arguments| {
        dynamic_call(budget, "findAll", arguments)
    }),
    member("findAll", "string, string, int -> list<string>", |budget, arguments| {
        dynamic_call(budget, "findAll", arguments)
    }),
];

/// The memory of a compiled expression in bytes.
const SIZE_LIMIT: usize = 256 << 10;

/// The longest expression in bytes.
const MAX_PATTERN: usize = 10_000;

/// The steps for a byte of text are at most this.
const MAX_WEIGHT: usize = 10_000;

/// Compiles an expression.
fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > MAX_PATTERN {
        return Err("it is too long".to_owned());
    }
    RegexBuilder::new(pattern).size_limit(SIZE_LIMIT).build().map_err(|error| error.to_string())
}

/// Estimates the number of states that a match tries for each byte of text: the length of the pattern, times its
/// repetitions.
fn weight(pattern: &str) -> usize {
    let repetitions = pattern.split('{').skip(1).filter_map(|counts| {
        let counts = counts.split('}').next()?;
        counts.rsplit(',').find_map(|count| count.trim().parse::<usize>().ok())
    });
    let repeated = repetitions.fold(1_usize, |product, count| product.saturating_mul(count.max(1)));
    pattern.len().max(1).saturating_mul(repeated).min(MAX_WEIGHT)
}

/// A function with an expression that is a constant.
#[derive(Debug)]
pub(in crate::query::cel) struct ConstantRegex {
    name: &'static str,
    regex: Regex,
    weight: usize,
}

impl ConstantRegex {
    /// Compiles the expression for a function; `None` if the function does not take one.
    ///
    /// # Errors
    /// The reason why the expression is invalid.
    pub(in crate::query::cel) fn new(name: &'static str, pattern: &str) -> Result<Option<Self>, String> {
        if !FUNCTIONS.contains(&name) {
            return Ok(None);
        }
        Ok(Some(Self { name, regex: compile(pattern)?, weight: weight(pattern) }))
    }

    /// Calls the function on a text, with the number of matches to find.
    pub(in crate::query::cel) fn call<'a>(
        &self,
        subject: &Value<'a>,
        limit: Option<&Value<'a>>,
        budget: &mut Budget,
    ) -> Outcome<'a> {
        let Value::Text(text) = subject else { return Err(CelError::NoOverload(self.name)) };
        let limit = match limit {
            None => -1,
            Some(Value::Int(limit)) => *limit,
            Some(_) => return Err(CelError::NoOverload(self.name)),
        };
        budget.read(text.len().saturating_mul(self.weight))?;
        run(self.name, &self.regex, text, limit, self.weight, budget)
    }
}

/// Calls a function with an expression that is compiled for this call.
fn dynamic_call<'a>(budget: &mut Budget, name: &str, arguments: &[Value<'a>]) -> Outcome<'a> {
    let (text, pattern, limit) = match arguments {
        [Value::Text(text), Value::Text(pattern)] => (text, pattern, -1),
        [Value::Text(text), Value::Text(pattern), Value::Int(limit)] => (text, pattern, *limit),
        _ => return Err(MISMATCH),
    };
    let weight = weight(pattern);
    // Compiling takes time for each state.
    budget.charge(pattern.len().saturating_add(weight) as u64)?;
    budget.read(text.len().saturating_mul(weight))?;
    let regex =
        compile(pattern).map_err(|reason| invalid(format!("invalid regular expression: {reason}")))?;
    run(name, &regex, text, limit, weight, budget)
}

fn run<'a>(
    name: &str,
    regex: &Regex,
    text: &Text<'a>,
    limit: i64,
    weight: usize,
    budget: &mut Budget,
) -> Outcome<'a> {
    match name {
        "matches" => Ok(Value::Bool(regex.is_match(text))),
        "find" => {
            let found = regex.find(text).map_or("", |found| found.as_str());
            Value::made_text(found.to_owned(), budget)
        }
        _ => {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let mut found = Vec::new();
            let mut end = 0;
            for matched in regex.find_iter(text).take(limit) {
                // A search may look at everything behind its start.
                budget.charge(1)?;
                budget.read((text.len() - end).saturating_mul(weight) / 16)?;
                end = matched.end();
                found.push(Value::made_text(matched.as_str().to_owned(), budget)?);
            }
            Ok(Value::made_list(found))
        }
    }
}
