//! The execution of a template on an object, step by step as Go's `text/template` does it.

mod budget;
mod call;
mod pipeline;
mod state;
mod walk;

pub(super) use budget::Budget;
pub(super) use state::{Executor, Failure, FailureKind, Options};
pub(super) use walk::Flow;
