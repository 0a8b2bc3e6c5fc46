//! The pace of a replay.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// The times at which recorded entries are replayed.
pub(super) struct Pace {
    /// The speed relative to that of the recording; `None` without pauses.
    speed: Option<f64>,
    /// The recorded time of the first entry, and the time at which it was replayed.
    start: Option<(Timestamp, Instant)>,
}

impl Pace {
    pub(super) fn new(speed: Option<f64>) -> Self {
        Self { speed, start: None }
    }

    /// Returns the time at which an entry is to be replayed; `None` if it is due.
    pub(super) fn due(&mut self, received: Timestamp) -> Option<Instant> {
        let speed = self.speed?;
        let now = Instant::now();
        let (first, start) = *self.start.get_or_insert((received, now));
        let recorded = Duration::try_from(received.duration_since(first)).unwrap_or_default();
        let delay = Duration::try_from_secs_f64(recorded.as_secs_f64() / speed).unwrap_or(Duration::MAX);
        // A time that no clock reaches is never due.
        let due = start.checked_add(delay).unwrap_or(now + Duration::from_hours(1));
        (due > now).then_some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + seconds).expect("in range")
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_are_those_of_the_recording_divided_by_the_speed() {
        let start = Instant::now();
        let mut pace = Pace::new(Some(10.0));
        assert_eq!(pace.due(at(0)), None, "the first entry is due at once");
        assert_eq!(pace.due(at(5)), Some(start + Duration::from_millis(500)));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(pace.due(at(5)), None, "a late entry is due");
        assert_eq!(pace.due(at(20)), Some(start + Duration::from_secs(2)), "lateness is caught up");
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_speed_everything_is_due() {
        let mut pace = Pace::new(None);
        assert!(pace.due(at(0)).is_none() && pace.due(at(1_000_000)).is_none());
        let mut slow = Pace::new(Some(f64::MIN_POSITIVE));
        assert_eq!(slow.due(at(0)), None);
        assert!(slow.due(at(1)).is_some_and(|due| due > Instant::now()));
    }
}
