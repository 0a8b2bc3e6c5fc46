//! Entries of the change log.

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
