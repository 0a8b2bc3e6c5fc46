//! The moments and ranges of recordings, and the arguments of the commands that read a range.

mod changes;
mod history;
mod moment;
mod range;
mod replay;

pub(crate) use changes::{CHANGES_FORMATS, Changes, ChangesFormat};
pub(crate) use history::{HISTORY_FORMATS, History};
pub(crate) use moment::RequestedMoment;
pub(crate) use range::Range;
pub(crate) use replay::Replay;
pub(in crate::settings) use replay::replay_speed;
