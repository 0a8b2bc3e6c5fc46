//! Keyframes: the complete state before an entry.

mod read;
mod write;

pub(in crate::recording) use read::{Keyframe, KeyframeObjects};
pub(in crate::recording) use write::{Snapshot, write};
