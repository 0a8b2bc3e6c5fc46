//! Keyframes: the complete state before an entry.

mod base;
mod objects;
mod read;
mod texts;
mod write;

pub(in crate::recording) use objects::{KeyframeObjects, KeyframeRow};
pub(in crate::recording) use read::Keyframe;
pub(in crate::recording) use write::{Snapshot, write};
