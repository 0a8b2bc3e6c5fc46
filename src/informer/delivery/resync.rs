//! The resync period of each handler, and the period at which the informer checks which handlers are due.
//!
//! The rules are client-go's: each handler requests a period. Before the start, the check period is lowered to the shortest
//! requested one; after the start it does not change, and handlers get no shorter period. An informer built without a check
//! period never resyncs.

use std::time::{Duration, Instant};

/// The shortest resync period of a handler.
const MINIMUM_PERIOD: Duration = Duration::from_secs(1);

/// The period at which the informer checks for due handlers.
#[derive(Debug)]
pub(in crate::informer) struct CheckPeriod {
    period: Option<Duration>,
    started: bool,
}

/// The resync timer of one handler.
#[derive(Debug)]
pub(in crate::informer) struct ResyncTimer {
    desired: Option<Duration>,
    period: Option<Duration>,
    next: Option<Instant>,
    due: bool,
}

impl CheckPeriod {
    /// Creates the check period; `None` and zero disable resyncs.
    pub(in crate::informer) fn new(period: Option<Duration>) -> Self {
        Self { period: period.filter(|period| !period.is_zero()), started: false }
    }

    pub(in crate::informer) fn get(&self) -> Option<Duration> {
        self.period
    }

    /// Fixes the period.
    pub(in crate::informer) fn start(&mut self) {
        self.started = true;
    }

    /// Creates the timer of a handler that requests this period. This may shorten the check period: the caller then
    /// calls [`ResyncTimer::update_period`] on the existing timers.
    pub(in crate::informer) fn new_timer(&mut self, desired: Option<Duration>, now: Instant) -> ResyncTimer {
        let desired = desired.filter(|period| !period.is_zero()).map(|period| period.max(MINIMUM_PERIOD));
        if let (Some(desired), Some(check)) = (desired, self.period)
            && desired < check
        {
            if self.started {
                tracing::warn!(?desired, ?check, "the informer runs already and resyncs no more often");
            } else {
                self.period = Some(desired);
            }
        }
        if desired.is_some() && self.period.is_none() {
            tracing::warn!("the informer was made without a resync period, so a handler can't have one");
        }
        let mut timer = ResyncTimer { desired, period: None, next: None, due: false };
        timer.update_period(self);
        timer.set(now);
        timer
    }
}

impl ResyncTimer {
    /// Sets the effective period: the requested one, but not below the check period.
    pub(in crate::informer) fn update_period(&mut self, check: &CheckPeriod) {
        self.period = self.desired.and_then(|desired| Some(desired.max(check.period?)));
    }

    /// Checks whether the handler is due, and if so schedules its next resync. [`ResyncTimer::is_due`] returns the result
    /// until the next check.
    pub(in crate::informer) fn check(&mut self, now: Instant) -> bool {
        self.due = self.next.is_some_and(|next| now >= next);
        if self.due {
            self.set(now);
        }
        self.due
    }

    /// Schedules the next resync; none if the time can't be represented.
    fn set(&mut self, now: Instant) {
        self.next = self.period.and_then(|period| now.checked_add(period));
    }

    pub(in crate::informer) fn is_due(&self) -> bool {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF_A_DAY: Option<Duration> = Some(Duration::from_hours(12));
    const MINUTE: Option<Duration> = Some(Duration::from_mins(1));

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    // I2
    #[test]
    fn the_check_period_follows_the_shortest_requested_period_before_the_start() {
        let now = Instant::now();
        let mut check = CheckPeriod::new(HALF_A_DAY);
        let mut timers = Vec::new();
        let (longer, shorter) = (Some(seconds(55)), Some(seconds(5)));
        for (requested, expected) in
            [(None, HALF_A_DAY), (MINUTE, MINUTE), (longer, longer), (shorter, shorter)]
        {
            timers.push(check.new_timer(requested, now));
            for timer in &mut timers {
                timer.update_period(&check);
            }
            assert_eq!(check.get(), expected);
        }
        let periods: Vec<_> = timers.iter().map(|timer| timer.period).collect();
        assert_eq!(periods, [None, MINUTE, longer, shorter]);
    }

    #[test]
    fn a_period_is_at_least_the_check_period_and_the_minimum() {
        let now = Instant::now();
        let mut check = CheckPeriod::new(Some(seconds(10)));
        check.start();
        assert_eq!(check.new_timer(Some(seconds(3)), now).period, Some(seconds(10)));
        assert_eq!(check.new_timer(Some(seconds(30)), now).period, Some(seconds(30)));
        assert_eq!(CheckPeriod::new(None).new_timer(Some(seconds(3)), now).period, None);
        let short = Some(Duration::from_millis(5));
        assert_eq!(CheckPeriod::new(Some(seconds(10))).new_timer(short, now).period, Some(MINIMUM_PERIOD));
        assert_eq!(CheckPeriod::new(Some(Duration::ZERO)).get(), None);
    }

    #[test]
    fn a_period_too_long_to_represent_never_ends() {
        let now = Instant::now();
        let mut timer = CheckPeriod::new(Some(seconds(1))).new_timer(Some(Duration::MAX), now);
        assert!(!timer.check(now + Duration::from_hours(1)));
    }

    #[test]
    fn a_timer_is_due_once_per_period() {
        let start = Instant::now();
        let mut check = CheckPeriod::new(Some(seconds(1)));
        let (mut two, mut never) = (check.new_timer(Some(seconds(2)), start), check.new_timer(None, start));
        let at = |seconds| start + Duration::from_secs(seconds);
        let due: Vec<u64> = (1..=6).filter(|second| two.check(at(*second))).collect();
        assert_eq!(due, [2, 4, 6]);
        assert!(two.is_due());
        assert!(!never.check(at(100)));
    }
}
