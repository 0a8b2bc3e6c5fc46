//! The state shared by the server and the simulation: the store and the clock.

use super::store::Store;
use crate::server::clock::Clock;

/// The shared state.
pub(super) struct Cluster {
    pub(super) store: Store,
    pub(super) clock: Clock,
}

impl Cluster {
    pub(super) fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock }
    }
}
