//! How much of what was asked for has come in.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What has come in so far. Relaxed: numbers on a screen.
#[derive(Default)]
pub(crate) struct Arrived {
    count: AtomicU64,
    first: OnceLock<Instant>,
}

impl Arrived {
    /// How many objects have come in.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// When the first one did.
    pub(crate) fn first(&self) -> Option<Instant> {
        self.first.get().copied()
    }

    /// One more has.
    pub(super) fn another(&self) {
        if self.count.fetch_add(1, Ordering::Relaxed) == 0 {
            // Nobody else was the first.
            let _ = self.first.set(Instant::now());
        }
    }
}
