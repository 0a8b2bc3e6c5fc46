//! `-o jq`: the results of an expression, one on each line.
//!
//! The input is the document that `-o json` prints: a single object, a `List`, or the object of each change. An expression
//! over `.items[]` is evaluated on each item as it arrives.

mod comparison;
mod failure;
mod worker;

pub(crate) use comparison::JqComparison;
pub(crate) use failure::JqFailure;

use std::io::{self, Write};

use kdelta::object::{ApiResource, Object};
use kdelta::query::JqFilter;

use self::failure::Problem;
use self::worker::{Limits, Worker};
use super::json::CollectedList;
use super::template::PrintError;

/// An expression and its output. It lives as long as the process.
#[derive(Clone, Copy)]
pub(crate) struct JqProgram {
    /// The expression as the user wrote it, for a complete document.
    pub(crate) expression: &'static JqFilter,
    /// The expression for each item of a list, if that is enough.
    pub(crate) per_item: Option<&'static JqFilter>,
    /// Whether strings are printed without quotes.
    pub(crate) raw: bool,
}

/// The results of an expression.
pub(crate) struct JqResults {
    worker: Worker,
    /// The list, if it is evaluated as a whole.
    list: Option<CollectedList>,
}

impl JqResults {
    /// Creates the output of a listing; `single` is whether exactly one type and name were requested, `for_terminal`
    /// whether a terminal displays it.
    ///
    /// # Errors
    /// The thread of the interpreter can't be created.
    pub(crate) fn of_listing(program: JqProgram, single: bool, for_terminal: bool) -> io::Result<Self> {
        let (filter, list) = match program.per_item {
            _ if single => (program.expression, None),
            Some(per_item) => (per_item, None),
            None => (program.expression, Some(CollectedList::default())),
        };
        Ok(Self { worker: Worker::start(filter, program.raw, for_terminal, Limits::LIST)?, list })
    }

    /// Creates the output of a watch, which evaluates the object of each change.
    ///
    /// # Errors
    /// As [`JqResults::of_listing`].
    pub(crate) fn of_changes(program: JqProgram, for_terminal: bool) -> io::Result<Self> {
        let worker = Worker::start(program.expression, program.raw, for_terminal, Limits::CHANGE)?;
        Ok(Self { worker, list: None })
    }

    /// Writes the results for one object, or keeps it until [`JqResults::finish`].
    ///
    /// # Errors
    /// The expression fails on the object or reaches a limit, or `out` failed.
    pub(crate) fn object(
        &mut self,
        object: &Object,
        resource: &ApiResource,
        out: &mut impl Write,
    ) -> Result<(), PrintError> {
        let json = object.json_or_names();
        if let Some(list) = &mut self.list {
            list.push(&json);
            return Ok(());
        }
        self.worker
            .evaluate(json.to_vec(), out)
            .map_err(|problem| print_error(problem, Some((object, resource))))
    }

    /// Writes the results for a whole list.
    ///
    /// # Errors
    /// As [`JqResults::object`].
    pub(crate) fn finish(self, out: &mut impl Write) -> Result<(), PrintError> {
        if let Some(list) = self.list {
            self.worker.evaluate(list.finish(), out).map_err(|problem| print_error(problem, None))?;
        }
        Ok(out.flush()?)
    }
}

fn print_error(problem: Problem, object: Option<(&Object, &ApiResource)>) -> PrintError {
    match problem {
        Problem::Write(error) => PrintError::Write(error),
        problem => PrintError::Jq(JqFailure::new(&problem, object)),
    }
}
