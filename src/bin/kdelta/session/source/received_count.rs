//! A counter of received objects, and the time of the last message of a watch.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Counts received objects and records the time of the first. Relaxed: the numbers are only displayed.
#[derive(Default)]
pub(crate) struct ReceivedCount {
    count: AtomicU64,
    first_at: OnceLock<Instant>,
    /// Whether a watch has been established.
    has_watch: AtomicBool,
    /// Whether the time of the last message is kept: reading the clock for each event has a price.
    keeps_last_message: AtomicBool,
    /// Milliseconds since the Unix epoch; 0 before the first message.
    last_message: AtomicU64,
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

    /// Keeps the time of the last message from now on.
    pub(crate) fn keep_last_message(&self) {
        self.keeps_last_message.store(true, Ordering::Relaxed);
    }

    /// Returns the time of the last event or bookmark since the Unix epoch, if it is kept.
    pub(crate) fn last_message(&self) -> Option<Duration> {
        match self.last_message.load(Ordering::Relaxed) {
            0 => None,
            millis => Some(Duration::from_millis(millis)),
        }
    }

    /// Whether a watch has been established.
    pub(crate) fn has_watch(&self) -> bool {
        self.has_watch.load(Ordering::Relaxed)
    }

    /// Records that a watch is established.
    pub(super) fn watch_started(&self) {
        self.has_watch.store(true, Ordering::Relaxed);
    }

    /// Records an event or a bookmark.
    pub(super) fn message_received(&self) {
        if self.keeps_last_message.load(Ordering::Relaxed) {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            self.last_message.store(u64::try_from(now.as_millis()).unwrap_or_default(), Ordering::Relaxed);
        }
    }

    /// Counts one object.
    pub(super) fn increment(&self) {
        if self.count.fetch_add(1, Ordering::Relaxed) == 0 {
            // Cannot fail: only the first increment sets it.
            let _ = self.first_at.set(Instant::now());
        }
    }
}
