//! The deltas and marks that lines describe.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::listwatch::Status;
use crate::object::{ApiResource, Object, Origin, ResourceVersion};

/// The kind of a change. The variants but [`ChangeKind::Sync`] are the event types of the watch protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The object is new, or belongs to the initial state.
    Added,
    /// The object changed.
    Modified,
    /// The object was deleted.
    Deleted,
    /// No change: a requested resync.
    Sync,
}

impl ChangeKind {
    /// Returns the text in JSON lines and in the EVENT column.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Sync => "SYNC",
        }
    }
}

/// A delta: a change of one object.
#[derive(Debug, Clone)]
pub struct Change {
    /// The kind.
    pub kind: ChangeKind,
    /// The new state; for a delete, the last known state or an object with only its name.
    pub object: Arc<Object>,
    /// The state before an update, if known.
    pub old: Option<Arc<Object>>,
    /// The origin of the change.
    pub origin: Origin,
    /// Whether a delete was inferred, so that `object` may be older than the deleted state.
    pub final_state_unknown: bool,
    /// The resource of the object, or the watched one.
    pub resource: Arc<ApiResource>,
    /// The kubeconfig context; empty where there is none.
    pub context: Arc<str>,
    /// The time at which it was received; lines have milliseconds.
    pub received: Timestamp,
}

/// A message about a watched collection.
#[derive(Debug, Clone)]
pub struct Mark {
    /// The kind, with what only that kind has.
    pub kind: MarkKind,
    /// The resource of the object, or the watched one.
    pub resource: Arc<ApiResource>,
    /// The kubeconfig context; empty where there is none.
    pub context: Arc<str>,
    /// The watched namespace; empty for all namespaces and for cluster-scoped types.
    pub namespace: Arc<str>,
    /// The watched name, if the mark is about a single named object.
    pub name: Option<Arc<str>>,
    /// The time at which it was received; lines have milliseconds.
    pub received: Timestamp,
}

/// The kind of a mark.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum MarkKind {
    /// The initial state is complete.
    Synced {
        /// The version of the initial state.
        version: ResourceVersion,
    },
    /// A watch was lost, and a new list was compared with the known state.
    Gap {
        /// The last version before the loss.
        from: ResourceVersion,
        /// The version of the new list.
        to: ResourceVersion,
        /// The time from the loss to the new list.
        lasted: Duration,
    },
    /// This part of the watch has ended: the server's status, or one made from the error.
    Error(Status),
}

impl MarkKind {
    /// Returns the text in JSON lines.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Synced { .. } => "SYNCED",
            Self::Gap { .. } => "GAP",
            Self::Error(_) => "ERROR",
        }
    }
}
