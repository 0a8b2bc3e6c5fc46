//! The arguments of the commands that read a range of a recording.

mod changes;
mod history;
mod range;
mod replay;

pub(crate) use changes::{CHANGES_FORMATS, Changes, ChangesFormat};
pub(crate) use history::{HISTORY_FORMATS, History};
pub(crate) use range::Range;
pub(crate) use replay::Replay;
