//! What an informer tells.

use std::sync::Arc;

use crate::object::{DeletedObject, Object, Origin};
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
}
