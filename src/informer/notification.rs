//! The notifications that handlers receive.

use std::fmt;
use std::sync::Arc;

use crate::object::{DeletedObject, Key, Object, Origin};
use crate::queue::Mark;

/// An event that handlers receive after it was applied to the store. The store may already hold later states.
///
/// The set of variants is complete, because a handler that skipped an unknown one would diverge from the store. Later versions
/// report other facts as a [`Mark`].
#[derive(Debug, Clone)]
pub enum Notification {
    /// An object was added.
    Added {
        /// The object.
        object: Arc<Object>,
        /// Whether the object belongs to the initial state: for a handler registered later, the objects in the store at
        /// that time.
        is_in_initial_list: bool,
        /// The origin of this state.
        origin: Origin,
    },
    /// An object changed. With [`Origin::Resync`] it did not: `old` and `new` are the same, sent again to handlers that
    /// requested resyncs.
    Updated {
        /// The state of the previous notification.
        old: Arc<Object>,
        /// The new state. Intermediate states may have been missed while a watch was down.
        new: Arc<Object>,
        /// The origin of this state.
        origin: Origin,
    },
    /// An object was deleted.
    Deleted {
        /// The last known state; see [`DeletedObject`].
        object: DeletedObject,
        /// The origin of this state.
        origin: Origin,
    },
    /// An event of the stream itself. Only ordered queues produce these.
    Mark(Mark),
}

impl Notification {
    /// Returns true for an add of the initial state: a handler has synced once it has handled all of these.
    #[must_use]
    pub fn is_initial(&self) -> bool {
        matches!(self, Self::Added { is_in_initial_list: true, .. })
    }

    /// Returns the key of the object, under which a controller queues its work; `None` for a mark.
    #[must_use]
    pub fn key(&self) -> Option<&Key> {
        match self {
            Self::Added { object, .. } | Self::Updated { new: object, .. } => Some(object.key()),
            Self::Deleted { object, .. } => Some(object.key()),
            Self::Mark(_) => None,
        }
    }

    /// Returns the approximate size in bytes of the objects in this notification.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Self::Added { object, .. } => object.weight(),
            Self::Updated { old, new, .. } => old.weight() + new.weight(),
            Self::Deleted { object, .. } => object.object().map_or(0, |object| object.weight()),
            Self::Mark(_) => 0,
        }
    }
}

/// Formats one line for logs and tests, without the objects' bodies: `+` added (`!` initial), `>` updated, `-` deleted (`?`
/// tombstone), each with key, version and origin: `+shop/web@12! list`, `shop/web@12>14 watch`, `-shop/web@15 watch`.
impl fmt::Display for Notification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added { object, is_in_initial_list, origin } => {
                let initial = if *is_in_initial_list { "!" } else { "" };
                write!(f, "+{}@{}{initial} {origin}", object.key(), object.resource_version())
            }
            Self::Updated { old, new, origin } => {
                write!(f, "{}@{}>{} {origin}", old.key(), old.resource_version(), new.resource_version())
            }
            Self::Deleted { object, origin } => {
                let unknown = if object.is_final_state_unknown() { "?" } else { "" };
                let version = object.object().map(|last| last.resource_version().clone()).unwrap_or_default();
                write!(f, "-{}@{version}{unknown} {origin}", object.key())
            }
            Self::Mark(Mark::Synced { resource_version }) => write!(f, "SYNCED {resource_version}"),
            Self::Mark(Mark::Gap { from, to, .. }) => write!(f, "GAP {from} {to}"),
            Self::Mark(Mark::Bookmark { resource_version }) => write!(f, "BOOKMARK {resource_version}"),
        }
    }
}
