//! The parts of the state from which a writer continues a recording.

use std::sync::Arc;

use bytes::Bytes;

use crate::lines::ChangeKind;
use crate::object::{ApiResource, Origin};
use crate::recording::entry::Item;
use crate::recording::flags::Flags;
use crate::recording::last_state::LastState;
use crate::recording::names::split_key;
use crate::recording::position::Position;

/// The parts of an entry that affect the positions of watches.
pub(in crate::recording) enum Step {
    Item(Item),
    /// A change of the object with this namespace and name.
    Change {
        resource: Arc<ApiResource>,
        namespace: String,
        name: String,
        kind: ChangeKind,
        origin: Origin,
        version: u64,
    },
}

/// A part of the end of a recording: a large recording in memory at once would take many times the memory of a recorder.
pub(in crate::recording) enum Continued {
    /// The state of an object of a type, in place of an earlier one.
    State(Arc<ApiResource>, LastState),
    /// The deletion of the object with this key.
    Deleted(Arc<ApiResource>, Arc<str>),
    /// A position of the last keyframe.
    Position(Position),
    /// A type with objects in the last keyframe.
    Complete(Arc<ApiResource>),
    /// An entry after it.
    Step(Step),
    /// A document, in place of an earlier one of its path.
    Document(Arc<str>, Bytes),
    /// The highest version of some entries.
    Version(u64),
}

/// The receiver of the end of a recording.
pub(in crate::recording) trait ContinuedEnd {
    /// Receives the next part.
    fn receive(&mut self, part: Continued);

    /// Returns the last state of an object that was received, unless its deletion was.
    fn state(&self, resource: &ApiResource, key: &str) -> Option<LastState>;
}

/// Returns the step of a change of the object with this key and length of its namespace.
pub(super) fn change_step(
    resource: &Arc<ApiResource>,
    (key, namespace_len): (&str, u16),
    flags: Flags,
    version: u64,
) -> Step {
    let (namespace, name) = split_key(key, namespace_len);
    let (namespace, name) = (namespace.to_owned(), name.to_owned());
    let (resource, kind, origin) = (Arc::clone(resource), flags.kind(), flags.origin());
    Step::Change { resource, namespace, name, kind, origin, version }
}
