//! How many initial states one server is asked for at a time, and how long it is permit_wait until one may be.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Initial states that one server is asked for at a time: enough to keep it busy, and no burst that would have it
/// turn us away.
const MAX_CONCURRENT_LISTS: usize = 32;

/// A permit for each initial state that is on its way, or for each page of it. Taken before it is asked for, and given back
/// with the end of its stream, so that whoever waits for one waits for streams that are read, or whose turn is next or next
/// but one. Clones share the permits.
#[derive(Clone)]
pub(super) struct RequestPermits(Arc<Semaphore>);

impl RequestPermits {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONCURRENT_LISTS)))
    }

    /// A permit, as soon as there is one. The wait for it is counted.
    pub(super) async fn acquire(&self, permit_wait: &PermitWait) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.0).try_acquire_owned() {
            return Some(permit);
        }
        let _guard = permit_wait.start();
        // Fails when the semaphore is closed, which nobody does.
        Arc::clone(&self.0).acquire_owned().await.ok()
    }
}

/// For how long one source has permit_wait for its permits, of which it asks for one at a time. A std mutex: held to look and
/// to count.
#[derive(Default)]
pub(super) struct PermitWait(Mutex<WaitTimes>);

#[derive(Default)]
struct WaitTimes {
    since: Option<Instant>,
    before: Duration,
}

impl PermitWait {
    /// In all, up to this moment.
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

/// It waits until this is dropped: whoever asked may have given up.
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
    /// All of them.
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
    async fn so_many_initial_states_are_asked_for_at_a_time_and_the_wait_for_more_is_counted() {
        let (permits, permit_wait) = (RequestPermits::new(), PermitWait::default());
        let mut taken = permits.acquire_all().await;
        let limit = Duration::from_secs(100);
        assert!(timeout(limit, permits.acquire(&permit_wait)).await.is_err());
        sleep(limit).await;
        assert_eq!(permit_wait.total(), limit, "who gave up waits no more");
        taken.pop();
        assert!(timeout(limit, permits.acquire(&permit_wait)).await.is_ok());
        assert_eq!(permit_wait.total(), limit);
    }
}
