//! Entries of the change log.

use std::sync::Arc;

use tokio::time::Instant;

use super::stored_object::StoredObject;
use crate::demo::kinds::KindId;

/// A change of an object.
#[derive(Debug, Clone)]
pub(in crate::demo) struct Change {
    pub(in crate::demo) version: u64,
    pub(in crate::demo) kind: KindId,
    /// The state before; `None` for a creation.
    pub(in crate::demo) old: Option<Arc<StoredObject>>,
    /// The state after; for a deletion the last state with the deletion's version.
    pub(in crate::demo) new: Arc<StoredObject>,
    pub(in crate::demo) deleted: bool,
    /// The time by tokio's clock, which tests can pause.
    pub(in crate::demo) at: Instant,
}

impl Change {
    pub(super) fn size(&self) -> usize {
        self.new.json.len() + self.old.as_ref().map_or(0, |old| old.json.len())
    }
}

/// The requested version is compacted; the oldest available one is `oldest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::demo) struct Compacted {
    pub(in crate::demo) oldest: u64,
}
