//! Recordings: the one that is read in place of a cluster, its moments, ranges and replays, and the arguments of the
//! commands that read a range.

mod changes;
mod history;
mod keys;
mod moment;
mod range;
mod replay;
mod source;

pub(crate) use changes::{CHANGES_FORMATS, Changes, ChangesFormat};
pub(crate) use history::{HISTORY_FORMATS, History};
pub(crate) use keys::Keys;
pub(crate) use moment::RequestedMoment;
pub(crate) use range::Range;
pub(crate) use replay::Replay;
pub(in crate::settings) use replay::replay_speed;
pub(crate) use source::Recording;
