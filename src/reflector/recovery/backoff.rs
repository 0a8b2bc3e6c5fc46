//! Waits between tries: one exponential sequence, and the two that a reflector uses.

use std::time::Duration;

use crate::reflector::jitter::Jitter;

/// The lifetime of a watch that resets the back-off between watches.
pub(in crate::reflector) const SETTLED: Duration = Duration::from_secs(30);

/// The lifetime of a watch that resets the back-off between lists. client-go resets its only back-off after as long.
pub(in crate::reflector) const HEALTHY: Duration = Duration::from_mins(2);

/// The growth of the waits between tries. The default is client-go's: 800 ms, doubled up to 30 s, each spread over up to
/// twice itself.
///
/// A reflector runs two sequences with these numbers. Lists and watches are paced separately, because a list costs the
/// server the whole collection:
/// - between watches, the sequence starts again after a watch that lived for 30 s;
/// - between lists, it starts again after a watch that lived for two minutes. The first list after such a watch is sent
///   at once, in place of the first wait; every other one waits, a list that follows a 410 included.
///
/// Events, bookmarks and successful lists reset neither sequence. A watch that the source ends cleanly after 30 s or more
/// is followed by the next one at once; after less, the next watch waits too.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BackoffOptions {
    /// The first wait.
    pub start: Duration,
    /// The factor between one wait and the next.
    pub factor: f64,
    /// The longest wait, before jitter: with the default jitter, waits at the cap are between `cap` and `2 * cap`.
    pub cap: Duration,
    /// The spread of a wait `d`: uniform in `[d, d + jitter * d)`, so that many clients do not return at once.
    pub jitter: f64,
}

impl Default for BackoffOptions {
    fn default() -> Self {
        Self { start: Duration::from_millis(800), factor: 2.0, cap: Duration::from_secs(30), jitter: 1.0 }
    }
}

setters!(BackoffOptions { start: Duration, factor: f64, cap: Duration, jitter: f64 });

/// Multiplies a duration by a configured factor; returns the duration itself where the product is none.
pub(in crate::reflector) fn scaled(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor).unwrap_or(duration)
}

/// One sequence of growing waits.
pub(in crate::reflector) struct Backoff {
    options: BackoffOptions,
    jitter: Jitter,
    next: Duration,
}

impl Backoff {
    pub(in crate::reflector) fn new(options: BackoffOptions, jitter: Jitter) -> Self {
        Self { options, jitter, next: options.start.min(options.cap) }
    }

    /// Returns the next wait. A wait that the server requested replaces the sequence's own and does not advance it, but is at
    /// least the first wait of the sequence.
    pub(in crate::reflector) fn next(&mut self, retry_after: Option<Duration>) -> Duration {
        if let Some(requested) = retry_after {
            return requested.max(self.options.start.min(self.options.cap));
        }
        let wait = self.next;
        self.next = scaled(wait, self.options.factor.max(1.0)).min(self.options.cap);
        scaled(wait, 1.0 + self.options.jitter.max(0.0) * (self.jitter)())
    }

    /// Starts the sequence again.
    pub(in crate::reflector) fn reset(&mut self) {
        self.next = self.options.start.min(self.options.cap);
    }
}

/// The two sequences of a reflector, reset by the lifetimes of its watches and by nothing else.
pub(in crate::reflector) struct Backoffs {
    pub(in crate::reflector) relist: Backoff,
    pub(in crate::reflector) rewatch: Backoff,
    /// Whether a watch lived for [`HEALTHY`] and no list was made since.
    relists_at_once: bool,
}

impl Backoffs {
    pub(in crate::reflector) fn new(options: BackoffOptions, jitter: &Jitter) -> Self {
        let sequence = || Backoff::new(options, Jitter::clone(jitter));
        Self { relist: sequence(), rewatch: sequence(), relists_at_once: false }
    }

    /// Records that a watch has ended.
    pub(in crate::reflector) fn watch_ended(&mut self, lived: Duration) {
        if lived >= SETTLED {
            self.rewatch.reset();
        }
        if lived >= HEALTHY {
            self.relist.reset();
            self.relists_at_once = true;
        }
    }

    /// Returns the wait before the next list, or `None` if it may be sent at once. That list still takes the first step of the
    /// sequence, so that the one after it is not sent sooner than client-go's.
    pub(in crate::reflector) fn before_list(&mut self, retry_after: Option<Duration>) -> Option<Duration> {
        let at_once = std::mem::take(&mut self.relists_at_once) && retry_after.is_none();
        let wait = self.relist.next(retry_after);
        (!at_once).then_some(wait)
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
        fn jitter_at_most_doubles_a_wait(jitter in 0.0..1.0_f64) {
            for (plain, spread) in seconds(0.0, 9).into_iter().zip(seconds(jitter, 9)) {
                prop_assert!((plain..plain * 2.0 + 1e-9).contains(&spread));
            }
        }
    }

    #[test]
    fn unusual_options_never_shorten_the_first_wait() {
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
    fn reset_starts_the_sequence_again() {
        let mut backoff = Backoff::new(BackoffOptions::default(), Arc::new(|| 0.0));
        assert!(backoff.next(None) < backoff.next(None));
        backoff.reset();
        assert_eq!(backoff.next(None), Duration::from_millis(800));
    }

    #[test]
    fn requested_wait_does_not_advance_the_sequence() {
        let mut backoff = Backoff::new(BackoffOptions::default(), Arc::new(|| 0.5));
        assert_eq!(backoff.next(Some(Duration::from_secs(7))), Duration::from_secs(7));
        assert_eq!(backoff.next(Some(Duration::ZERO)), Duration::from_millis(800));
        assert_eq!(backoff.next(None), Duration::from_millis(1200));
    }

    fn both() -> Backoffs {
        let jitter: Jitter = Arc::new(|| 0.0);
        Backoffs::new(BackoffOptions::default(), &jitter)
    }

    #[test]
    fn lifetime_of_a_watch_resets_what_it_is_long_enough_for() {
        let millis = |wait: Option<Duration>| wait.map(|wait| wait.as_millis());
        for (lived, rewatch, relist) in [
            (0, 1600, Some(1600)),
            (29_999, 1600, Some(1600)),
            (30_000, 800, Some(1600)),
            (119_999, 800, Some(1600)),
            (120_000, 800, None),
        ] {
            let mut backoffs = both();
            let first = (backoffs.rewatch.next(None).as_millis(), millis(backoffs.before_list(None)));
            assert_eq!(first, (800, Some(800)));
            backoffs.watch_ended(Duration::from_millis(lived));
            assert_eq!(backoffs.rewatch.next(None).as_millis(), rewatch, "{lived}");
            assert_eq!(millis(backoffs.before_list(None)), relist, "{lived}");
        }
    }

    #[test]
    fn only_the_first_list_after_a_healthy_watch_is_sent_at_once() {
        let mut backoffs = both();
        backoffs.watch_ended(HEALTHY);
        backoffs.watch_ended(HEALTHY);
        assert_eq!(backoffs.before_list(None), None);
        assert_eq!(backoffs.before_list(None), Some(Duration::from_millis(1600)));
        backoffs.watch_ended(HEALTHY);
        assert_eq!(backoffs.before_list(Some(Duration::from_secs(3))), Some(Duration::from_secs(3)));
    }
}
