//! What all parts of the server share: the store, and the time.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::request_body::BodyRoom;
use super::store::Store;

/// The time of the demo. It follows tokio's clock, so that a test which pauses that one moves this one too.
pub(super) struct Clock {
    start: Timestamp,
    started: tokio::time::Instant,
}

impl Clock {
    /// A clock that shows `start` now.
    pub(super) fn new(start: Timestamp) -> Self {
        Self { start, started: tokio::time::Instant::now() }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn now(&self) -> Timestamp {
        self.at(self.elapsed())
    }

    /// The time so long after the start.
    pub(super) fn at(&self, elapsed: Duration) -> Timestamp {
        let elapsed = SignedDuration::try_from(elapsed).unwrap_or(SignedDuration::MAX);
        self.start.checked_add(elapsed).unwrap_or(Timestamp::MAX)
    }

    /// Done when it is so long after the start.
    pub(super) async fn reaches(&self, elapsed: Duration) {
        tokio::time::sleep_until(self.started + elapsed).await;
    }
}

/// The pause after a connection that could not be taken.
pub(super) async fn pause() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// A time as objects carry it: whole seconds.
pub(super) fn stamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A time as leases and the eventTime of Events carry it.
pub(super) fn micro_stamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

/// The server's state.
pub(super) struct Cluster {
    pub(super) store: Store,
    pub(super) clock: Clock,
    /// `127.0.0.1:PORT`.
    pub(super) address: String,
    pub(super) bodies: BodyRoom,
}

impl Cluster {
    pub(super) fn new(store: Store, clock: Clock, address: String) -> Self {
        Self { store, clock, address, bodies: BodyRoom::default() }
    }
}
