//! How much of what was asked for has come in.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What has come in so far. Relaxed: numbers on a screen.
#[derive(Default)]
pub(crate) struct ReceivedCount {
    count: AtomicU64,
    first_at: OnceLock<Instant>,
}

impl ReceivedCount {
    /// How many objects have come in.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// When the first_at one did.
    pub(crate) fn first_at(&self) -> Option<Instant> {
        self.first_at.get().copied()
    }

    /// One more has.
    pub(super) fn increment(&self) {
        if self.count.fetch_add(1, Ordering::Relaxed) == 0 {
            // Nobody else was the first_at.
            let _ = self.first_at.set(Instant::now());
        }
    }
}
