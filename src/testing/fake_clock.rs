//! A clock that advances only when a test advances it.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::clock::{Clock, Sleep};

/// A [`Clock`] whose time passes only by [`FakeClock::advance`]. Clones share one time.
#[derive(Clone)]
pub struct FakeClock {
    /// A std mutex, held for a read or a change, never across an `.await`.
    time: Arc<Mutex<Time>>,
}

struct Time {
    start: Instant,
    passed: Duration,
    next_sleeper: u64,
    /// The wakers and deadlines of pending sleeps. Bounded by the polled, unfinished sleeps: each removes itself.
    sleepers: BTreeMap<u64, (Duration, Waker)>,
    /// The wakers of tasks that wait for sleepers.
    watchers: Vec<Waker>,
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeClock {
    /// Creates a clock at an arbitrary time.
    #[must_use]
    pub fn new() -> Self {
        let time = Time {
            start: Instant::now(),
            passed: Duration::ZERO,
            next_sleeper: 0,
            sleepers: BTreeMap::new(),
            watchers: Vec::new(),
        };
        Self { time: Arc::new(Mutex::new(time)) }
    }

    /// Advances the time and wakes the sleepers that are due. They run once this task yields.
    pub fn advance(&self, by: Duration) {
        let due = {
            let mut time = self.lock();
            time.passed = time.passed.saturating_add(by);
            let passed = time.passed;
            let due: Vec<_> = time
                .sleepers
                .values()
                .filter(|(until, _)| *until <= passed)
                .map(|(_, waker)| waker.clone())
                .collect();
            due
        };
        due.into_iter().for_each(Waker::wake);
    }

    /// Returns the time that has passed on this clock since its creation.
    #[must_use]
    pub fn passed(&self) -> Duration {
        self.lock().passed
    }

    /// Returns the time until the first sleeper is due, or `None` without sleepers.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        let time = self.lock();
        time.sleepers.values().map(|(until, _)| until.saturating_sub(time.passed)).min()
    }

    /// Waits until there are at least this many sleepers.
    pub async fn sleeping(&self, sleepers: usize) {
        poll_fn(|context| {
            let mut time = self.lock();
            if time.sleepers.len() >= sleepers {
                return Poll::Ready(());
            }
            time.watchers.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Waits for a sleeper, advances the time until the first one is due, and returns how far.
    pub async fn advance_to_next(&self) -> Duration {
        self.sleeping(1).await;
        let due = self.next_due().unwrap_or_default();
        self.advance(due);
        due
    }

    fn lock(&self) -> MutexGuard<'_, Time> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Instant {
        let time = self.lock();
        time.start + time.passed
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let (number, until) = {
            let mut time = self.lock();
            time.next_sleeper += 1;
            (time.next_sleeper, time.passed.saturating_add(duration))
        };
        let mut sleeper = Sleeper { clock: self.clone(), number, until };
        Box::pin(poll_fn(move |context| sleeper.poll(context)))
    }
}

/// A pending sleep; dropping it removes it from the clock.
struct Sleeper {
    clock: FakeClock,
    number: u64,
    until: Duration,
}

impl Sleeper {
    fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        let watchers = {
            let mut time = self.clock.lock();
            if time.passed >= self.until {
                time.sleepers.remove(&self.number);
                return Poll::Ready(());
            }
            time.sleepers.insert(self.number, (self.until, context.waker().clone()));
            std::mem::take(&mut time.watchers)
        };
        watchers.into_iter().for_each(Waker::wake);
        Poll::Pending
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.clock.lock().sleepers.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_sleeper_wakes_exactly_when_it_is_due() {
        let clock = FakeClock::new();
        let sleep = tokio::spawn(clock.sleep(Duration::from_secs(2)));
        clock.sleeping(1).await;
        clock.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
        assert!(!sleep.is_finished());
        assert_eq!(clock.advance_to_next().await, Duration::from_secs(1));
        sleep.await.expect("awake");
        assert_eq!((clock.next_due(), clock.passed()), (None, Duration::from_secs(2)));
    }

    #[tokio::test]
    async fn a_dropped_sleep_is_removed() {
        let clock = FakeClock::new();
        let sleep = tokio::spawn(clock.sleep(Duration::from_secs(2)));
        clock.sleeping(1).await;
        sleep.abort();
        sleep.await.expect_err("aborted");
        assert_eq!(clock.next_due(), None);
    }
}
