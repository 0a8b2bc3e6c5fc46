//! Delays between the tries of an item.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::{Clock, TokioClock};

/// Chooses how long an item that failed waits before it is tried again (client-go: `TypedRateLimiter`).
pub trait RateLimiter<T>: Send + Sync {
    /// Counts a try, and returns how long the item has to wait for it.
    fn when(&self, item: &T) -> Duration;

    /// Forgets the tries of an item, because it succeeded or will not be tried again.
    fn forget(&self, item: &T);

    /// Returns the number of tries that are counted for an item.
    fn num_requeues(&self, item: &T) -> usize;
}

/// The number of tries of each item. It grows with the number of items until they are forgotten.
struct Tries<T>(Mutex<HashMap<T, usize>>);

impl<T: Clone + Eq + Hash> Tries<T> {
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// A std mutex: it is held for one access to the map.
    fn lock(&self) -> MutexGuard<'_, HashMap<T, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a try, and returns the number of tries before it.
    fn count(&self, item: &T) -> usize {
        let mut tries = self.lock();
        if let Some(count) = tries.get_mut(item) {
            *count += 1;
            return *count - 1;
        }
        tries.insert(item.clone(), 1);
        0
    }

    fn get(&self, item: &T) -> usize {
        self.lock().get(item).copied().unwrap_or_default()
    }

    fn forget(&self, item: &T) {
        self.lock().remove(item);
    }
}

/// Doubles the delay of an item with each try, up to a maximum.
///
/// ```
/// # use std::time::Duration;
/// # use kdelta::workqueue::{ItemExponentialFailureRateLimiter, RateLimiter};
/// let limiter = ItemExponentialFailureRateLimiter::new(Duration::from_millis(1), Duration::from_millis(3));
/// let delays = [(); 3].map(|()| limiter.when(&"shop/web").as_millis());
/// assert_eq!(delays, [1, 2, 3]);
/// limiter.forget(&"shop/web");
/// assert_eq!(limiter.when(&"shop/web").as_millis(), 1);
/// ```
pub struct ItemExponentialFailureRateLimiter<T> {
    tries: Tries<T>,
    base_delay: Duration,
    max_delay: Duration,
}

impl<T: Clone + Eq + Hash> ItemExponentialFailureRateLimiter<T> {
    /// Creates a limiter that delays the first try by `base_delay`.
    #[must_use]
    pub fn new(base_delay: Duration, max_delay: Duration) -> Self {
        Self { tries: Tries::new(), base_delay, max_delay }
    }
}

impl<T: Clone + Eq + Hash + Send> RateLimiter<T> for ItemExponentialFailureRateLimiter<T> {
    fn when(&self, item: &T) -> Duration {
        let doublings = u32::try_from(self.tries.count(item)).unwrap_or(u32::MAX);
        let factor = 2_u32.checked_pow(doublings).unwrap_or(u32::MAX);
        self.base_delay.saturating_mul(factor).min(self.max_delay)
    }

    fn forget(&self, item: &T) {
        self.tries.forget(item);
    }

    fn num_requeues(&self, item: &T) -> usize {
        self.tries.get(item)
    }
}

/// Delays the first tries of an item briefly and the later ones longer.
///
/// ```
/// # use std::time::Duration;
/// # use kdelta::workqueue::{ItemFastSlowRateLimiter, RateLimiter};
/// let limiter = ItemFastSlowRateLimiter::new(Duration::from_millis(5), Duration::from_secs(10), 2);
/// let delays = [(); 3].map(|()| limiter.when(&"shop/web").as_millis());
/// assert_eq!(delays, [5, 5, 10_000]);
/// ```
pub struct ItemFastSlowRateLimiter<T> {
    tries: Tries<T>,
    fast_delay: Duration,
    slow_delay: Duration,
    max_fast_attempts: usize,
}

impl<T: Clone + Eq + Hash> ItemFastSlowRateLimiter<T> {
    /// Creates a limiter that uses `fast_delay` for the first `max_fast_attempts` tries.
    #[must_use]
    pub fn new(fast_delay: Duration, slow_delay: Duration, max_fast_attempts: usize) -> Self {
        Self { tries: Tries::new(), fast_delay, slow_delay, max_fast_attempts }
    }
}

impl<T: Clone + Eq + Hash + Send> RateLimiter<T> for ItemFastSlowRateLimiter<T> {
    fn when(&self, item: &T) -> Duration {
        if self.tries.count(item) < self.max_fast_attempts { self.fast_delay } else { self.slow_delay }
    }

    fn forget(&self, item: &T) {
        self.tries.forget(item);
    }

    fn num_requeues(&self, item: &T) -> usize {
        self.tries.get(item)
    }
}

/// Limits the rate of all items together: a token bucket, which tries may overdraw by waiting.
///
/// ```
/// # use std::time::Duration;
/// # use kdelta::workqueue::{BucketRateLimiter, RateLimiter};
/// let limiter = BucketRateLimiter::new(10.0, 2);
/// let delays = [(); 3].map(|()| limiter.when(&"shop/web"));
/// assert_eq!(delays[..2], [Duration::ZERO; 2], "the burst");
/// assert!(delays[2] > Duration::ZERO);
/// ```
pub struct BucketRateLimiter {
    per_second: f64,
    burst: f64,
    clock: Arc<dyn Clock>,
    /// A std mutex: it is held for a computation.
    bucket: Mutex<Bucket>,
}

struct Bucket {
    /// Negative while tries wait for tokens.
    tokens: f64,
    filled: Instant,
}

impl BucketRateLimiter {
    /// Creates a limiter that allows this rate, which must be positive, and `burst` tries at once.
    #[must_use]
    pub fn new(per_second: f64, burst: u32) -> Self {
        Self::with_clock(per_second, burst, Arc::new(TokioClock))
    }

    /// Creates a limiter on another clock.
    #[must_use]
    pub fn with_clock(per_second: f64, burst: u32, clock: Arc<dyn Clock>) -> Self {
        let bucket = Mutex::new(Bucket { tokens: f64::from(burst), filled: clock.now() });
        Self { per_second, burst: f64::from(burst), clock, bucket }
    }
}

impl<T> RateLimiter<T> for BucketRateLimiter {
    fn when(&self, _item: &T) -> Duration {
        let now = self.clock.now();
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let refilled = now.saturating_duration_since(bucket.filled).as_secs_f64() * self.per_second;
        bucket.tokens = (bucket.tokens + refilled).min(self.burst) - 1.0;
        bucket.filled = now;
        let seconds = (-bucket.tokens / self.per_second).max(0.0);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    fn forget(&self, _item: &T) {}

    fn num_requeues(&self, _item: &T) -> usize {
        0
    }
}

/// The longest delay of several limiters.
pub struct MaxOfRateLimiter<T>(Vec<Box<dyn RateLimiter<T>>>);

impl<T> MaxOfRateLimiter<T> {
    /// Combines limiters.
    #[must_use]
    pub fn new(limiters: Vec<Box<dyn RateLimiter<T>>>) -> Self {
        Self(limiters)
    }
}

impl<T> RateLimiter<T> for MaxOfRateLimiter<T> {
    /// Counts a try in every limiter.
    fn when(&self, item: &T) -> Duration {
        self.0.iter().map(|limiter| limiter.when(item)).max().unwrap_or_default()
    }

    fn forget(&self, item: &T) {
        self.0.iter().for_each(|limiter| limiter.forget(item));
    }

    fn num_requeues(&self, item: &T) -> usize {
        self.0.iter().map(|limiter| limiter.num_requeues(item)).max().unwrap_or_default()
    }
}

/// A limiter whose delays are cut to a maximum.
pub struct WithMaxWaitRateLimiter<T> {
    limiter: Box<dyn RateLimiter<T>>,
    max_delay: Duration,
}

impl<T> WithMaxWaitRateLimiter<T> {
    /// Bounds the delays of `limiter`.
    #[must_use]
    pub fn new(limiter: Box<dyn RateLimiter<T>>, max_delay: Duration) -> Self {
        Self { limiter, max_delay }
    }
}

impl<T> RateLimiter<T> for WithMaxWaitRateLimiter<T> {
    fn when(&self, item: &T) -> Duration {
        self.limiter.when(item).min(self.max_delay)
    }

    fn forget(&self, item: &T) {
        self.limiter.forget(item);
    }

    fn num_requeues(&self, item: &T) -> usize {
        self.limiter.num_requeues(item)
    }
}

/// Returns client-go's default for controllers: for each item 5 ms, doubled with each try up to 1,000 s; for all items
/// together 10 tries a second and 100 at once.
#[must_use]
pub fn default_controller_rate_limiter<T>(clock: Arc<dyn Clock>) -> MaxOfRateLimiter<T>
where
    T: Clone + Eq + Hash + Send + 'static,
{
    let each = ItemExponentialFailureRateLimiter::new(Duration::from_millis(5), Duration::from_secs(1000));
    MaxOfRateLimiter::new(vec![Box::new(each), Box::new(BucketRateLimiter::with_clock(10.0, 100, clock))])
}

/// Returns client-go's default for single items: 1 ms, doubled with each try up to 1,000 s.
#[must_use]
pub fn default_item_based_rate_limiter<T: Clone + Eq + Hash>() -> ItemExponentialFailureRateLimiter<T> {
    ItemExponentialFailureRateLimiter::new(Duration::from_millis(1), Duration::from_secs(1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeClock;

    fn millis(limiter: &dyn RateLimiter<&'static str>, item: &'static str, tries: usize) -> Vec<u128> {
        (0..tries).map(|_| limiter.when(&item).as_millis()).collect()
    }

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    // TestItemExponentialFailureRateLimiter
    #[test]
    fn exponential_delays_are_counted_for_each_item() {
        let limiter = ItemExponentialFailureRateLimiter::new(ms(1), ms(1000));
        assert_eq!(millis(&limiter, "one", 5), [1, 2, 4, 8, 16]);
        assert_eq!(millis(&limiter, "two", 2), [1, 2]);
        assert_eq!((limiter.num_requeues(&"one"), limiter.num_requeues(&"two")), (5, 2));
        limiter.forget(&"one");
        assert_eq!(limiter.num_requeues(&"one"), 0);
        assert_eq!(millis(&limiter, "one", 1), [1]);
    }

    // TestItemExponentialFailureRateLimiterOverFlow
    #[test]
    fn exponential_delays_do_not_overflow() {
        for (base, max, tries, expected) in [
            (ms(1), Duration::from_secs(1000), 6, 32),
            (ms(1), Duration::from_secs(1000), 1001, 1_000_000),
            (ms(60_000), Duration::from_hours(1000), 3, 240_000),
            (ms(60_000), Duration::from_hours(1000), 1001, 3_600_000_000),
        ] {
            let limiter = ItemExponentialFailureRateLimiter::new(base, max);
            assert_eq!(millis(&limiter, "one", tries).last(), Some(&expected));
        }
    }

    // TestItemFastSlowRateLimiter
    #[test]
    fn delays_are_long_after_the_fast_tries() {
        let limiter = ItemFastSlowRateLimiter::new(ms(5), ms(10_000), 3);
        assert_eq!(millis(&limiter, "one", 5), [5, 5, 5, 10_000, 10_000]);
        assert_eq!(millis(&limiter, "two", 2), [5, 5]);
        assert_eq!((limiter.num_requeues(&"one"), limiter.num_requeues(&"two")), (5, 2));
        limiter.forget(&"one");
        assert_eq!(limiter.num_requeues(&"one"), 0);
        assert_eq!(millis(&limiter, "one", 1), [5]);
    }

    // TestMaxOfRateLimiter
    #[test]
    fn longest_delay_of_several_limiters_holds() {
        let limiter = MaxOfRateLimiter::new(vec![
            Box::new(ItemFastSlowRateLimiter::new(ms(5), ms(3000), 3)),
            Box::new(ItemExponentialFailureRateLimiter::new(ms(1), ms(1000))),
        ]);
        assert_eq!(millis(&limiter, "one", 5), [5, 5, 5, 3000, 3000]);
        assert_eq!(millis(&limiter, "two", 2), [5, 5]);
        assert_eq!((limiter.num_requeues(&"one"), limiter.num_requeues(&"two")), (5, 2));
        limiter.forget(&"one");
        assert_eq!(limiter.num_requeues(&"one"), 0);
        assert_eq!(millis(&limiter, "one", 1), [5]);
    }

    // TestWithMaxWaitRateLimiter
    #[test]
    fn delays_are_cut_to_the_maximum() {
        let steps = ItemFastSlowRateLimiter::new(ms(5), ms(1_000_000), 100);
        let limiter = WithMaxWaitRateLimiter::new(Box::new(steps), ms(500_000));
        let delays = millis(&limiter, "one", 200);
        assert!(delays[..100].iter().all(|delay| *delay == 5));
        assert!(delays[100..].iter().all(|delay| *delay == 500_000));
    }

    #[test]
    fn bucket_refills_with_time_up_to_the_burst() {
        let clock = Arc::new(FakeClock::new());
        let limiter = BucketRateLimiter::with_clock(10.0, 2, Arc::clone(&clock) as _);
        assert_eq!(millis(&limiter, "one", 4), [0, 0, 100, 200]);
        clock.advance(ms(300));
        assert_eq!(millis(&limiter, "two", 2), [0, 100]);
        clock.advance(Duration::from_mins(1));
        assert_eq!(millis(&limiter, "one", 3), [0, 0, 100]);
    }
}
