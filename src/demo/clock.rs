//! The demo's clock and the formats of its timestamps.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// The demo's clock. It follows tokio's, so that a test that pauses tokio's clock pauses this one too.
pub(super) struct Clock {
    start: Timestamp,
    started: tokio::time::Instant,
}

impl Clock {
    /// Creates a clock that shows `start` now.
    pub(super) fn new(start: Timestamp) -> Self {
        Self { start, started: tokio::time::Instant::now() }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn now(&self) -> Timestamp {
        self.at(self.elapsed())
    }

    /// Returns the time this long after the start.
    pub(super) fn at(&self, elapsed: Duration) -> Timestamp {
        let elapsed = SignedDuration::try_from(elapsed).unwrap_or(SignedDuration::MAX);
        self.start.checked_add(elapsed).unwrap_or(Timestamp::MAX)
    }

    /// Waits until this long after the start.
    pub(super) async fn reaches(&self, elapsed: Duration) {
        tokio::time::sleep_until(self.started + elapsed).await;
    }
}

/// Pauses after a connection that could not be accepted.
pub(super) async fn pause() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// Formats a timestamp of an object, in whole seconds.
pub(super) fn stamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Formats a timestamp of a Lease or of an Event's eventTime, in microseconds.
pub(super) fn micro_stamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}
