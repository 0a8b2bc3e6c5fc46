//! The state shared by the server and the simulation: the store and the clock.

use super::clock::Clock;
use super::http::request_body::BodyBudget;
use super::store::Store;

/// The shared state.
pub(super) struct Cluster {
    pub(super) store: Store,
    pub(super) clock: Clock,
    /// `127.0.0.1:PORT`.
    pub(super) address: String,
    pub(super) bodies: BodyBudget,
}

impl Cluster {
    pub(super) fn new(store: Store, clock: Clock, address: String) -> Self {
        Self { store, clock, address, bodies: BodyBudget::default() }
    }
}
