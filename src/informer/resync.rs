//! How often each handler is told everything again, and how often the informer looks whose turn it is.
//!
//! The rules are client-go's: a handler asks for a period; before the start the informer checks as often as the most
//! eager one needs, after it no more often than it does; an informer made without a check period never resyncs.

use std::time::{Duration, Instant};

/// Nobody is told everything more often.
const MINIMUM_PERIOD: Duration = Duration::from_secs(1);

/// How often the informer checks.
#[derive(Debug)]
pub(super) struct CheckPeriod {
    period: Option<Duration>,
    started: bool,
}

/// When one handler is due.
#[derive(Debug)]
pub(super) struct ResyncTimer {
    desired: Option<Duration>,
    period: Option<Duration>,
    next: Option<Instant>,
    due: bool,
}

impl CheckPeriod {
    /// `None` and zero are never.
    pub(super) fn new(period: Option<Duration>) -> Self {
        Self { period: period.filter(|period| !period.is_zero()), started: false }
    }

    pub(super) fn get(&self) -> Option<Duration> {
        self.period
    }

    /// From now on the period stands.
    pub(super) fn start(&mut self) {
        self.started = true;
    }

    /// A timer for a handler that asks for this period, by which the informer may come to check more often: those
    /// that are there are then to be told with [`ResyncTimer::update_period`].
    pub(super) fn new_timer(&mut self, desired: Option<Duration>, now: Instant) -> ResyncTimer {
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
    /// What the handler gets of what it asked for.
    pub(super) fn update_period(&mut self, check: &CheckPeriod) {
        self.period = self.desired.and_then(|desired| Some(desired.max(check.period?)));
    }

    /// Looks whether it is time, and if so sets the next. The answer holds until the next look.
    pub(super) fn check(&mut self, now: Instant) -> bool {
        self.due = self.next.is_some_and(|next| now >= next);
        if self.due {
            self.set(now);
        }
        self.due
    }

    /// A period that ends beyond all time is never.
    fn set(&mut self, now: Instant) {
        self.next = self.period.and_then(|period| now.checked_add(period));
    }

    pub(super) fn is_due(&self) -> bool {
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
    fn before_the_start_the_informer_checks_as_often_as_the_most_eager_handler_needs() {
        let now = Instant::now();
        let mut check = CheckPeriod::new(HALF_A_DAY);
        let mut timers = Vec::new();
        let (some, more) = (Some(seconds(55)), Some(seconds(5)));
        for (asked, wanted) in [(None, HALF_A_DAY), (MINUTE, MINUTE), (some, some), (more, more)] {
            timers.push(check.new_timer(asked, now));
            for timer in &mut timers {
                timer.update_period(&check);
            }
            assert_eq!(check.get(), wanted);
        }
        let periods: Vec<_> = timers.iter().map(|timer| timer.period).collect();
        assert_eq!(periods, [None, MINUTE, some, more]);
    }

    #[test]
    fn a_handler_gets_no_more_than_the_informer_has() {
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
    fn a_period_beyond_all_time_is_never() {
        let now = Instant::now();
        let mut timer = CheckPeriod::new(Some(seconds(1))).new_timer(Some(Duration::MAX), now);
        assert!(!timer.check(now + Duration::from_hours(1)));
    }

    #[test]
    fn a_timer_is_due_once_a_period() {
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
