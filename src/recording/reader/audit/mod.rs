//! Audits of all files: sizes, counts and damage.

mod usage;
mod verify;

pub(super) use verify::verify;
