//! The view of a queue on the store that it feeds.

use std::sync::Arc;

use crate::object::KeyListerGetter;

/// Read access to the store that a queue feeds, to find objects that a list lacks (client-go: `KnownObjects`). The
/// queue calls it with its lock held, so it must never call the queue.
pub type KnownObjects = Arc<dyn KeyListerGetter>;
