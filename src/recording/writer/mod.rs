//! Writes recordings.

mod background;
mod failure;
mod open;
mod positions;
mod recorder;
mod retention;
mod states;

pub use recorder::Writer;
