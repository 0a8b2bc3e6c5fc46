//! How long a list that is put together of several answers has been on its way without being silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{self, Instant};

/// The time in which answers to several requests came in before the list that they make began, in all. Who bounds how
/// long a list may be silent leaves it out, so that the bound is one on each silence and not on their sum. Clones count
/// together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pace {
    /// In microseconds. A sum that nothing is ordered by: relaxed.
    spent: Arc<AtomicU64>,
}

impl Pace {
    /// Begins to count.
    pub(super) fn start(&self) -> Step {
        Step { pace: self.clone(), since: Instant::now() }
    }

    /// How long in all.
    pub(crate) fn spent(&self) -> Duration {
        Duration::from_micros(self.spent.load(Ordering::Relaxed))
    }
}

/// From one sign of life to the next.
pub(super) struct Step {
    pace: Pace,
    since: Instant,
}

impl Step {
    /// Something came.
    pub(super) fn came(&mut self) {
        let since = std::mem::replace(&mut self.since, Instant::now());
        let micros = u64::try_from((self.since - since).as_micros()).unwrap_or(u64::MAX);
        self.pace.spent.fetch_add(micros, Ordering::Relaxed);
    }
}

/// What is answered within that time.
pub(super) async fn within<T>(limit: Duration, answer: impl Future<Output = T>) -> Option<T> {
    time::timeout(limit, answer).await.ok()
}

/// Waits as long as a server asks for.
pub(super) async fn wait(pause: Duration) {
    time::sleep(pause).await;
}
