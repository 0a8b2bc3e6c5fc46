//! A clock that stands still until it is told to go on.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crate::clock::{Clock, Sleep};

/// A [`Clock`] whose time passes only by [`FakeClock::advance`]. Clones share one time.
#[derive(Clone)]
pub struct FakeClock {
    /// A std mutex: it is held for a look or a change, never across an `.await`.
    time: Arc<Mutex<Time>>,
}

struct Time {
    start: Instant,
    passed: Duration,
    next_sleeper: u64,
    /// Who sleeps, by number, until when. Bounded by the sleeps that are polled and not done: each takes itself out.
    sleepers: BTreeMap<u64, (Duration, Waker)>,
    /// Who waits for sleepers to be there.
    watchers: Vec<Waker>,
}

impl Default for FakeClock {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeClock {
    /// A clock at some time.
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

    /// Lets that much time pass and wakes whom it was the time to wake. They run once this task yields.
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

    /// How much time has passed since this clock was made.
    #[must_use]
    pub fn passed(&self) -> Duration {
        self.lock().passed
    }

    /// In how long the first sleeper is due; nothing when nobody sleeps.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        let time = self.lock();
        time.sleepers.values().map(|(until, _)| until.saturating_sub(time.passed)).min()
    }

    /// Waits until at least that many sleep.
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

    /// Waits until somebody sleeps and lets as much time pass as the first sleeper is waiting for; answers how much
    /// that was.
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

/// One sleep. Dropped, it is no sleeper any more.
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
    async fn a_sleeper_wakes_when_the_clock_says_so_and_not_before() {
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
    async fn a_sleep_that_is_dropped_is_forgotten() {
        let clock = FakeClock::new();
        let sleep = tokio::spawn(clock.sleep(Duration::from_secs(2)));
        clock.sleeping(1).await;
        sleep.abort();
        sleep.await.expect_err("aborted");
        assert_eq!(clock.next_due(), None);
    }
}
