//! The age of the oldest event that was taken by the output and is not written yet.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::Timestamp;

/// The time at which the event that is being written was received. Relaxed: it is only displayed.
#[derive(Debug, Default)]
pub(crate) struct OutputDelay {
    /// Milliseconds since the Unix epoch; 0 if nothing is being written.
    since: AtomicI64,
}

impl OutputDelay {
    /// Records that an event which was received at this time is being written.
    pub(crate) fn begin(&self, received: Timestamp) {
        self.since.store(received.as_millisecond(), Ordering::Relaxed);
    }

    /// Records that everything that was taken is written.
    pub(crate) fn end(&self) {
        self.since.store(0, Ordering::Relaxed);
    }

    /// Returns the age of the event that is being written.
    pub(super) fn get(&self) -> Duration {
        let since = self.since.load(Ordering::Relaxed);
        let age = Timestamp::now().as_millisecond().saturating_sub(since);
        // Negative if the system's clock was set back.
        let age = if since == 0 { 0 } else { u64::try_from(age).unwrap_or_default() };
        Duration::from_millis(age)
    }
}
