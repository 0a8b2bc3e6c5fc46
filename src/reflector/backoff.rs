//! How long to wait before the next try.

use std::time::Duration;

use super::options::Jitter;

/// How the waits grow. The default is client-go's: 800 ms, doubled up to 30 s, each spread over up to twice itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackoffOptions {
    /// The first wait.
    pub start: Duration,
    /// What each wait is multiplied with to give the next.
    pub factor: f64,
    /// The longest wait, before jitter.
    pub cap: Duration,
    /// How far a wait `d` is spread: uniform in `[d, d + jitter * d)`, so that many clients do not come back at once.
    pub jitter: f64,
}

impl Default for BackoffOptions {
    fn default() -> Self {
        Self { start: Duration::from_millis(800), factor: 2.0, cap: Duration::from_secs(30), jitter: 1.0 }
    }
}

/// A duration times a factor that somebody has set; itself where that would be no duration any more.
pub(super) fn scaled(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(duration)
}

/// The wait that comes next.
pub(super) struct Backoff {
    options: BackoffOptions,
    jitter: Jitter,
    next: Duration,
}

impl Backoff {
    pub(super) fn new(options: BackoffOptions, jitter: Jitter) -> Self {
        Self { options, jitter, next: options.start.min(options.cap) }
    }

    /// How long to wait now. What the server asked for counts more than our own sequence, which then stays where it
    /// is; a request to come back at once is not followed.
    pub(super) fn next(&mut self, retry_after: Option<Duration>) -> Duration {
        if let Some(asked) = retry_after {
            return asked.max(self.options.start.min(self.options.cap));
        }
        let wait = self.next;
        self.next = scaled(wait, self.options.factor.max(1.0)).min(self.options.cap);
        scaled(wait, 1.0 + self.options.jitter.max(0.0) * (self.jitter)())
    }

    /// Things went well: the next trouble is a first one.
    pub(super) fn reset(&mut self) {
        self.next = self.options.start.min(self.options.cap);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn seconds(jitter: f64, waits: usize) -> Vec<f64> {
        let mut backoff = Backoff::new(BackoffOptions::default(), Arc::new(move || jitter));
        (0..waits).map(|_| backoff.next(None).as_secs_f64()).collect()
    }

    #[test]
    fn waits_double_up_to_the_cap() {
        assert_eq!(seconds(0.0, 8), [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]);
    }

    proptest! {
        #[test]
        fn every_wait_is_between_itself_and_twice_itself(jitter in 0.0..1.0_f64) {
            for (plain, spread) in seconds(0.0, 9).into_iter().zip(seconds(jitter, 9)) {
                prop_assert!((plain..plain * 2.0 + 1e-9).contains(&spread));
            }
        }
    }

    #[test]
    fn no_number_that_is_set_upsets_it() {
        for number in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            let (start, cap) = (Duration::from_secs(1), Duration::MAX);
            let options = BackoffOptions { start, factor: number, cap, jitter: number };
            let mut backoff = Backoff::new(options, Arc::new(move || number));
            for _ in 0..3 {
                assert!(backoff.next(None) >= start);
            }
        }
    }

    #[test]
    fn a_reset_starts_the_sequence_again() {
        let mut backoff = Backoff::new(BackoffOptions::default(), Arc::new(|| 0.0));
        assert!(backoff.next(None) < backoff.next(None));
        backoff.reset();
        assert_eq!(backoff.next(None), Duration::from_millis(800));
    }

    #[test]
    fn the_servers_wish_counts_and_leaves_the_sequence() {
        let mut backoff = Backoff::new(BackoffOptions::default(), Arc::new(|| 0.5));
        assert_eq!(backoff.next(Some(Duration::from_secs(7))), Duration::from_secs(7));
        assert_eq!(backoff.next(Some(Duration::ZERO)), Duration::from_millis(800));
        assert_eq!(backoff.next(None), Duration::from_millis(1200));
    }
}
