//! How many initial states one server is asked for at a time, and how long it is waited until one may be.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Initial states that one server is asked for at a time: enough to keep it busy, and no burst that would have it
/// turn us away.
const LISTS_AT_A_TIME: usize = 32;

/// A place for each initial state that is on its way, or for each page of it. Taken before it is asked for, and given back
/// with the end of its stream, so that whoever waits for one waits for streams that are read, or whose turn is next or next
/// but one. Clones share the places.
#[derive(Clone)]
pub(super) struct Places(Arc<Semaphore>);

impl Places {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(LISTS_AT_A_TIME)))
    }

    /// A place, as soon as there is one. The wait for it is counted.
    pub(super) async fn take(&self, waited: &Waited) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.0).try_acquire_owned() {
            return Some(place);
        }
        let _waits = waited.begin();
        // Fails when the semaphore is closed, which nobody does.
        Arc::clone(&self.0).acquire_owned().await.ok()
    }
}

/// For how long one source has waited for its places, of which it asks for one at a time. A std mutex: held to look and
/// to count.
#[derive(Default)]
pub(super) struct Waited(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    since: Option<Instant>,
    before: Duration,
}

impl Waited {
    /// In all, up to this moment.
    pub(super) fn in_all(&self) -> Duration {
        let waiting = self.lock();
        waiting.before + waiting.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    fn begin(&self) -> Wait<'_> {
        self.lock().since = Some(Instant::now());
        Wait(self)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// It waits until this is dropped: whoever asked may have given up.
struct Wait<'a>(&'a Waited);

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        if let Some(since) = waiting.since.take() {
            waiting.before += since.elapsed();
        }
    }
}

#[cfg(test)]
impl Places {
    /// All of them.
    pub(super) async fn take_all(&self) -> Vec<OwnedSemaphorePermit> {
        let mut taken = Vec::new();
        for _ in 0..LISTS_AT_A_TIME {
            taken.extend(self.take(&Waited::default()).await);
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
        let (places, waited) = (Places::new(), Waited::default());
        let mut taken = places.take_all().await;
        let limit = Duration::from_secs(100);
        assert!(timeout(limit, places.take(&waited)).await.is_err());
        sleep(limit).await;
        assert_eq!(waited.in_all(), limit, "who gave up waits no more");
        taken.pop();
        assert!(timeout(limit, places.take(&waited)).await.is_ok());
        assert_eq!(waited.in_all(), limit);
    }
}
