//! The output of a wait for a set of objects: its state while it lasts, and its result.

mod result;
mod status_line;

pub(crate) use result::{ConditionResult, ResultObject, WaitResult};
pub(super) use status_line::StatusLine;
