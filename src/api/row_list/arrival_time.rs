//! The time that a list of several responses takes without being silent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{self, Instant};

/// The total time in which the responses of several requests arrived before the list that they form began. Callers
/// that bound the silence of a list exclude it, so that the bound applies to each pause and not to their sum. Clones
/// share the total.
#[derive(Debug, Clone, Default)]
pub(crate) struct ArrivalTime {
    /// In microseconds. Relaxed: a sum on which nothing else depends.
    spent: Arc<AtomicU64>,
}

impl ArrivalTime {
    /// Starts to count.
    pub(super) fn start(&self) -> ArrivalTimer {
        ArrivalTimer { arrival_time: self.clone(), since: Instant::now() }
    }

    /// Returns the total.
    pub(crate) fn spent(&self) -> Duration {
        Duration::from_micros(self.spent.load(Ordering::Relaxed))
    }
}

/// The time since the last part.
pub(super) struct ArrivalTimer {
    arrival_time: ArrivalTime,
    since: Instant,
}

impl ArrivalTimer {
    /// Records a part.
    pub(super) fn record(&mut self) {
        let since = std::mem::replace(&mut self.since, Instant::now());
        let micros = u64::try_from((self.since - since).as_micros()).unwrap_or(u64::MAX);
        self.arrival_time.spent.fetch_add(micros, Ordering::Relaxed);
    }
}

/// Returns the output of a future within that time.
pub(super) async fn within<T>(limit: Duration, response: impl Future<Output = T>) -> Option<T> {
    time::timeout(limit, response).await.ok()
}

/// Waits as long as a server requests.
pub(super) async fn wait(pause: Duration) {
    time::sleep(pause).await;
}
