//! The clock of a source.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// The clock of a source, which ages in tables are relative to. It follows tokio's, so that a test that pauses tokio's
/// clock pauses this one too.
pub(crate) struct Clock {
    start: Timestamp,
    started: tokio::time::Instant,
}

impl Clock {
    /// Creates a clock that shows `start` now.
    pub(crate) fn new(start: Timestamp) -> Self {
        Self { start, started: tokio::time::Instant::now() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.at(self.elapsed())
    }

    /// Returns the time this long after the start.
    pub(crate) fn at(&self, elapsed: Duration) -> Timestamp {
        let elapsed = SignedDuration::try_from(elapsed).unwrap_or(SignedDuration::MAX);
        self.start.checked_add(elapsed).unwrap_or(Timestamp::MAX)
    }

    /// Waits until this long after the start.
    pub(crate) async fn reaches(&self, elapsed: Duration) {
        tokio::time::sleep_until(self.started + elapsed).await;
    }
}

/// Pauses after a connection that could not be accepted.
pub(crate) async fn pause() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}
