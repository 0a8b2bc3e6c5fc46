//! The state of a mirror, as its writer and its servers share it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::watch;

use super::state::State;
use crate::server::clock::Clock;

/// The state, and the counter that wakes watches.
pub(super) struct Shared {
    /// A std mutex, held for one change, or for a copy of references to the objects of a list.
    state: Mutex<State>,
    /// Counts changes, and wakes watches.
    pub(super) progress: watch::Sender<u64>,
    pub(super) clock: Clock,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self { state: Mutex::default(), progress: watch::channel(0).0, clock: Clock::new(Timestamp::now()) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes watches.
    pub(super) fn update(&self, update: impl FnOnce(&mut State)) {
        update(&mut self.lock());
        self.progress.send_modify(|count| *count += 1);
    }
}
