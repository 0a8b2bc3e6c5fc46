//! The clock of a source.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// The clock of a source, which ages in tables are relative to. It follows tokio's, so that a test that pauses tokio's
/// clock pauses this one too.
pub(crate) struct Clock {
    start: Timestamp,
    started: tokio::time::Instant,
    /// The time to show, in Unix milliseconds; `None` for the time since the start. Relaxed: it orders nothing else.
    shown: Option<AtomicI64>,
}

impl Clock {
    /// Creates a clock that shows `start` now.
    pub(crate) fn new(start: Timestamp) -> Self {
        Self { start, started: tokio::time::Instant::now(), shown: None }
    }

    /// Creates a clock that shows `time` until it is set. The time since its creation still advances, so that
    /// watches time out.
    #[cfg(feature = "serve")]
    pub(crate) fn stopped(time: Timestamp) -> Self {
        Self { shown: Some(AtomicI64::new(time.as_millisecond())), ..Self::new(time) }
    }

    /// Sets the time that a stopped clock shows.
    #[cfg(feature = "serve")]
    pub(crate) fn set(&self, time: Timestamp) {
        if let Some(shown) = &self.shown {
            shown.store(time.as_millisecond(), Ordering::Relaxed);
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn now(&self) -> Timestamp {
        match &self.shown {
            Some(shown) => Timestamp::from_millisecond(shown.load(Ordering::Relaxed)).unwrap_or(self.start),
            None => self.at(self.elapsed()),
        }
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

/// Returns the output of a future, or `None` if it takes longer than `limit`.
#[cfg(feature = "serve")]
pub(crate) async fn within<F: Future>(limit: Duration, future: F) -> Option<F::Output> {
    tokio::time::timeout(limit, future).await.ok()
}
