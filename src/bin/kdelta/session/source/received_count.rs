//! A counter of received objects.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Counts received objects and records the time of the first. Relaxed: the numbers are only displayed.
#[derive(Default)]
pub(crate) struct ReceivedCount {
    count: AtomicU64,
    first_at: OnceLock<Instant>,
}

impl ReceivedCount {
    /// Returns the number of objects received so far.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Returns the time of the first object.
    pub(crate) fn first_at(&self) -> Option<Instant> {
        self.first_at.get().copied()
    }

    /// Counts one object.
    pub(super) fn increment(&self) {
        if self.count.fetch_add(1, Ordering::Relaxed) == 0 {
            // Cannot fail: only the first increment sets it.
            let _ = self.first_at.set(Instant::now());
        }
    }
}
