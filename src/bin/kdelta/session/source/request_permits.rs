//! Permits that limit the concurrent initial lists per server, and the time spent waiting for them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// The maximum number of concurrent initial lists per server: enough to keep it busy, but no burst that makes it reject
/// requests.
const MAX_CONCURRENT_LISTS: usize = 32;

/// One permit per initial list, or per page of it. A request acquires its permit before it is sent and releases it at
/// the end of its stream, so every waiter waits for streams that are being read or are about to be. Clones share the
/// permits.
#[derive(Clone)]
pub(super) struct RequestPermits(Arc<Semaphore>);

impl RequestPermits {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONCURRENT_LISTS)))
    }

    /// Waits for a permit and adds the time to `permit_wait`.
    pub(super) async fn acquire(&self, permit_wait: &PermitWait) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.0).try_acquire_owned() {
            return Some(permit);
        }
        let _guard = permit_wait.start();
        // Only fails if the semaphore is closed, which never happens.
        Arc::clone(&self.0).acquire_owned().await.ok()
    }
}

/// The time that one source has waited for permits, one at a time. A std mutex: held for a read or an update.
#[derive(Default)]
pub(super) struct PermitWait(Mutex<WaitTimes>);

#[derive(Default)]
struct WaitTimes {
    since: Option<Instant>,
    before: Duration,
}

impl PermitWait {
    /// Returns the total time up to now.
    pub(super) fn total(&self) -> Duration {
        let waiting = self.lock();
        waiting.before + waiting.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    fn start(&self) -> WaitGuard<'_> {
        self.lock().since = Some(Instant::now());
        WaitGuard(self)
    }

    fn lock(&self) -> MutexGuard<'_, WaitTimes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the wait on drop, so that a cancelled caller stops the clock.
struct WaitGuard<'a>(&'a PermitWait);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        if let Some(since) = waiting.since.take() {
            waiting.before += since.elapsed();
        }
    }
}

#[cfg(test)]
impl RequestPermits {
    /// Acquires all permits.
    pub(super) async fn acquire_all(&self) -> Vec<OwnedSemaphorePermit> {
        let mut taken = Vec::new();
        for _ in 0..MAX_CONCURRENT_LISTS {
            taken.extend(self.acquire(&PermitWait::default()).await);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{sleep, timeout};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn concurrent_lists_are_limited_and_waits_counted() {
        let (permits, permit_wait) = (RequestPermits::new(), PermitWait::default());
        let mut taken = permits.acquire_all().await;
        let limit = Duration::from_secs(100);
        assert!(timeout(limit, permits.acquire(&permit_wait)).await.is_err());
        sleep(limit).await;
        assert_eq!(permit_wait.total(), limit, "a cancelled wait does not count");
        taken.pop();
        assert!(timeout(limit, permits.acquire(&permit_wait)).await.is_ok());
        assert_eq!(permit_wait.total(), limit);
    }
}
