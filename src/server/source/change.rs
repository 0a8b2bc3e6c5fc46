//! Entries of the change log.

use std::sync::Arc;

use tokio::time::Instant;

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
    /// The time by tokio's clock, which tests can pause.
    pub(crate) at: Instant,
}

impl Change {
    pub(crate) fn size(&self) -> usize {
        self.new.json.len() + self.old.as_ref().map_or(0, |old| old.json.len())
    }
}

/// The requested version is compacted; the oldest available one is `oldest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Compacted {
    pub(crate) oldest: u64,
}
