//! Reads all files: sizes, counts, damage.

mod usage;
mod verify;

pub(super) use verify::verify;
