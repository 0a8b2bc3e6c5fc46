//! Changes of objects and marks of a watch, as passed from the commands to the output.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kdelta::listwatch::Status;
use kdelta::object::{ApiResource, Object, Origin, ResourceVersion};

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ChangeKind {
    Added,
    Modified,
    Deleted,
    /// No change: a requested resync.
    Sync,
}

impl ChangeKind {
    /// Returns the text in JSON lines and in the EVENT column.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Sync => "SYNC",
        }
    }
}

/// A delta to print.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    /// The new state; for a delete, the last known state or an object with only its name.
    pub(crate) object: Arc<Object>,
    /// The state before an update, if known.
    pub(crate) old: Option<Arc<Object>>,
    pub(crate) origin: Origin,
    /// Whether a delete was inferred, so that `object` may be older than the deleted state.
    pub(crate) final_state_unknown: bool,
    pub(crate) resource: Arc<ApiResource>,
    /// The kubeconfig context; empty where there is none.
    pub(crate) context: Arc<str>,
    pub(crate) received: Timestamp,
}

/// A message about a watched collection.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) kind: MarkKind,
    pub(crate) resource: Arc<ApiResource>,
    pub(crate) context: Arc<str>,
    /// The watched namespace; empty for all namespaces and for cluster-scoped types.
    pub(crate) namespace: Arc<str>,
    /// The watched name, if the mark is about a single named object.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) received: Timestamp,
}

/// The kind of a mark.
#[derive(Debug, Clone)]
pub(crate) enum MarkKind {
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
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Synced { .. } => "SYNCED",
            Self::Gap { .. } => "GAP",
            Self::Error(_) => "ERROR",
        }
    }
}
