//! Writes recordings.

mod background;
mod failure;
mod open;
mod positions;
mod recorder;
mod retention;
mod states;

pub(in crate::recording) use positions::Positions;
pub use recorder::Writer;
