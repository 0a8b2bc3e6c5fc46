//! What happened to one object, or to a watch as a whole, as the program's commands hand it to the output.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kdelta::listwatch::Status;
use kdelta::object::{ApiResource, Object, Origin, ResourceVersion};

/// What kind of change a line stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ChangeKind {
    Added,
    Modified,
    Deleted,
    /// Nothing changed: a resync that was asked for.
    Sync,
}

impl ChangeKind {
    /// The word in the JSON line and in the EVENT column.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Sync => "SYNC",
        }
    }
}

/// One delta, ready to be printed.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    /// The new state; of a delete the last one that is known, or the name alone.
    pub(crate) object: Arc<Object>,
    /// The state before an update, where it is known.
    pub(crate) old: Option<Arc<Object>>,
    pub(crate) origin: Origin,
    /// A delete that was inferred: `object` may be older than what was deleted.
    pub(crate) final_state_unknown: bool,
    pub(crate) resource: Arc<ApiResource>,
    /// The kubeconfig context; empty where there is none.
    pub(crate) context: Arc<str>,
    pub(crate) received: Timestamp,
}

/// Something to say about a watched collection, not about one object.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) kind: MarkKind,
    pub(crate) resource: Arc<ApiResource>,
    pub(crate) context: Arc<str>,
    /// The namespace watched; empty for all of them, and for what lives in none.
    pub(crate) namespace: Arc<str>,
    /// The one name that is watched there, where the mark is not of the whole collection.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) received: Timestamp,
}

/// What a mark says.
#[derive(Debug, Clone)]
pub(crate) enum MarkKind {
    /// The initial state is complete.
    Synced {
        /// The version it is complete at.
        version: ResourceVersion,
    },
    /// A watch was lost, and what changed meanwhile was found by listing anew.
    Gap {
        /// The last version known before.
        from: ResourceVersion,
        /// The version of the new list.
        to: ResourceVersion,
        /// From the loss to the new list.
        lasted: Duration,
    },
    /// This part of the watch has ended.
    Error {
        /// The server's words, or what stands for them.
        status: Status,
        /// The number that says the same, where a server would have one for it.
        code: Option<u16>,
    },
}

impl MarkKind {
    /// The word in the JSON line.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Synced { .. } => "SYNCED",
            Self::Gap { .. } => "GAP",
            Self::Error { .. } => "ERROR",
        }
    }
}
