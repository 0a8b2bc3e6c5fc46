//! What an informer tells.

use std::fmt;
use std::sync::Arc;

use crate::object::{DeletedObject, Key, Object, Origin};
use crate::queue::Mark;

/// One thing that happened, told after the store holds it. The store may already be ahead of it.
#[derive(Debug, Clone)]
pub enum Notification {
    /// An object is there that was not.
    Added {
        /// The object.
        object: Arc<Object>,
        /// Whether it belongs to what was there already: the initial state, or for a handler that came late what the
        /// store held then.
        is_in_initial_list: bool,
        /// What brought it.
        origin: Origin,
    },
    /// An object changed. With [`Origin::Resync`] it did not: `old` and `new` are the same, told again to those who
    /// asked for it.
    Updated {
        /// The state that was told before.
        old: Arc<Object>,
        /// The state now. States between the two may have been missed while a watch was down.
        new: Arc<Object>,
        /// What brought it.
        origin: Origin,
    },
    /// An object that was there is gone.
    Deleted {
        /// Its last state; see [`DeletedObject`] for which one that is.
        object: DeletedObject,
        /// What brought it.
        origin: Origin,
    },
    /// Something happened to the stream; with an ordered queue only.
    Mark(Mark),
}

impl Notification {
    /// Whether it is one of those that have to be handled before a handler has synced.
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

    /// About how many bytes it takes while it waits somewhere: those of its objects.
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

/// One line for logs and tests, without anything of a body: `+` added (`!` as initial), `>` updated, `-` deleted (`?` by
/// a tombstone), each with key, version and origin: `+shop/web@12! list`, `shop/web@12>14 watch`, `-shop/web@15 watch`.
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
        }
    }
}
