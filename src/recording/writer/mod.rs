//! Writes recordings.

mod background;
mod failure;
mod object_table;
mod open;
mod positions;
mod recording_writer;
mod retention;
mod states;

pub(in crate::recording) use positions::Positions;
pub use recording_writer::Writer;
