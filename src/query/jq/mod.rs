//! jq expressions over objects, by jaq's interpreter.
//!
//! Expressions have no modules, no further inputs, and no access to files or standard error. Their recursion is limited by
//! the stack; they have no limit of their own on time and memory: a caller runs them where it can abandon them.

mod error;
mod recursion;
mod streaming;
#[cfg(test)]
mod tests;
mod value;

pub use error::{JqError, JqSyntaxError};

use std::fmt;
use std::ops::ControlFlow;

use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::native::{Fun, v};
use jaq_core::{Compiler, Ctx, Filter, Native, Vars};
use jaq_json::Val;

use self::value::Data;
use crate::object::JsonValue;

/// Definitions in addition to the interpreter's.
const FORMATS: &str = include_str!("formats.jq");

/// A compiled jq expression.
pub struct JqFilter {
    filter: Filter<Data>,
    text: String,
}

impl JqFilter {
    /// Compiles an expression.
    ///
    /// # Errors
    /// The first problem, with its position.
    pub fn parse(text: &str) -> Result<Self, JqSyntaxError> {
        let filter = compile(text)?;
        let checked = recursion::with_checks(text);
        // Only the text without checks has the positions of the user's errors.
        let filter = if checked == text { filter } else { compile(&checked)? };
        Ok(Self { filter, text: text.to_owned() })
    }

    /// Returns the expression to apply to each item of a list instead of the list, with the same results: that behind
    /// `.items[]`. `None` if the expression does not start so, or looks at anything else of the list.
    #[must_use]
    pub fn per_item(&self) -> Option<Self> {
        Self::parse(&streaming::per_item(&self.text)?).ok()
    }

    /// Evaluates the expression on a value and passes each result as a line without its end: as compact JSON, and a
    /// string without its quotes if `raw`. The receiver may end the evaluation. It uses at most about twice `stack` bytes
    /// of the thread's stack: definitions that recurse more deeply fail.
    ///
    /// # Errors
    /// Returns an error if the expression fails. The results before the failure have been passed on.
    pub fn run(
        &self,
        value: &JsonValue<'_>,
        raw: bool,
        stack: usize,
        mut receive: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), JqError> {
        recursion::limit_stack(stack);
        let context = Ctx::<Data>::new(&self.filter.lut, Vars::new([]));
        let mut json = Vec::new();
        for result in self.filter.id.run((context, value::of_json(value)?)) {
            let flow = match result {
                Ok(Val::TStr(text) | Val::BStr(text)) if raw => receive(&text),
                Ok(value) => {
                    json.clear();
                    value::write_json(&value, 0, &mut json)?;
                    receive(&json)
                }
                Err(exception) => match exception.get_err() {
                    Ok(error) => return Err(failure(&error.into_val())?),
                    // `halt` ends without a result.
                    Err(_) => ControlFlow::Break(()),
                },
            };
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Shows the expression.
impl fmt::Debug for JqFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JqFilter").field(&self.text).finish()
    }
}

/// Returns the failure for the value that an expression raised: a text, or any other value as JSON.
///
/// # Errors
/// The value is nested too deeply.
fn failure(reason: &Val) -> Result<JqError, JqError> {
    let mut json = Vec::new();
    let text = match reason {
        Val::TStr(text) => &text[..],
        other => {
            value::write_json(other, 0, &mut json)?;
            &json
        }
    };
    Ok(JqError::Failed(String::from_utf8_lossy(text).into_owned()))
}

fn compile(text: &str) -> Result<Filter<Data>, JqSyntaxError> {
    let arena = Arena::default();
    let own = load::parse(FORMATS, |parser| parser.defs()).unwrap_or_default();
    let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let loader = Loader::new(definitions.chain(own));
    let modules = loader.load(&arena, File { code: text, path: () });
    let modules = modules.map_err(|errors| syntax_error(text, errors))?;
    let compiled = Compiler::default().with_funs(functions()).compile(modules);
    compiled.map_err(|errors| undefined(text, errors))
}

/// Returns the native functions. `debug` and `stderr` print nothing: the program alone writes to standard error.
fn functions() -> impl Iterator<Item = Fun<Data>> {
    let silent = |name| -> Fun<Data> { (name, v(0), Native::new(|_| Box::new(std::iter::empty()))) };
    let standard = jaq_std::funs().filter(|(name, ..)| !matches!(*name, "debug_empty" | "stderr_empty"));
    jaq_core::funs()
        .chain(standard)
        .chain(jaq_json::funs())
        .chain(["debug_empty", "stderr_empty"].map(silent))
        .chain([recursion::check()])
}

fn syntax_error(text: &str, errors: load::Errors<&str, ()>) -> JqSyntaxError {
    let expected = |name: &str| format!("expected {name}");
    let first = errors.into_iter().next().and_then(|(_, error)| match error {
        load::Error::Lex(errors) => errors.into_iter().next().map(|(e, part)| (part, expected(e.as_str()))),
        load::Error::Parse(errors) => errors.into_iter().next().map(|(e, part)| (part, expected(e.as_str()))),
        load::Error::Io(errors) => {
            errors.into_iter().next().map(|(path, _)| (path, "modules can't be imported".to_owned()))
        }
    });
    let (part, problem) = first.unwrap_or_default();
    let byte = position(text, part);
    let found = text.get(byte..).and_then(|rest| rest.chars().next());
    let problem = match found {
        Some(found) if problem.starts_with("expected") => format!("{problem}, found {found:?}"),
        None if problem.starts_with("expected") => format!("{problem}, found the end"),
        _ => problem,
    };
    JqSyntaxError::at(text, byte, problem)
}

fn undefined(text: &str, errors: jaq_core::compile::Errors<&str, ()>) -> JqSyntaxError {
    let first = errors.into_iter().flat_map(|(_, errors)| errors).next();
    let (name, kind) = first.unwrap_or(("", jaq_core::compile::Undefined::Mod));
    let problem = match kind {
        jaq_core::compile::Undefined::Filter(arity) => format!("undefined filter {name}/{arity}"),
        kind => format!("undefined {} {name}", kind.as_str()),
    };
    JqSyntaxError::at(text, position(text, name), problem)
}

/// Returns the byte at which a part of the expression starts; its end for any other text.
fn position(text: &str, part: &str) -> usize {
    let inside = text.as_bytes().as_ptr_range();
    if inside.contains(&part.as_ptr()) { load::span(text, part).start } else { text.len() }
}
