//! Entries of the change log, and the reasons why data can't be read.

use std::sync::Arc;

use super::kind::KindId;
use super::stored_object::StoredObject;

/// A change of an object.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) version: u64,
    pub(crate) kind: KindId,
    /// The state before; `None` for a creation.
    pub(crate) old: Option<Arc<StoredObject>>,
    /// The state after; for a deletion the last state with the deletion's version.
    pub(crate) new: Arc<StoredObject>,
    pub(crate) deleted: bool,
}

/// The requested version is compacted; the oldest available one is `oldest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compacted {
    pub(crate) oldest: u64,
}

/// Stored data can't be read, for this reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) String);

/// The reason why a version of a collection can't be returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReadError {
    Compacted(Compacted),
    Unreadable(Unreadable),
}

impl From<Compacted> for ReadError {
    fn from(compacted: Compacted) -> Self {
        Self::Compacted(compacted)
    }
}

impl From<Unreadable> for ReadError {
    fn from(unreadable: Unreadable) -> Self {
        Self::Unreadable(unreadable)
    }
}
