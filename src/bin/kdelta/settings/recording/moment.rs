//! Moments of a recording, as flags specify them.

use std::time::Duration;

use jiff::civil::Time;
use jiff::{SignedDuration, Timestamp, ToSpan, Zoned};

use crate::settings::{UsageError, duration};

/// A moment of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestedMoment {
    End,
    /// This long before the end.
    BeforeEnd(SignedDuration),
    Time(Timestamp),
    /// `rv:N`: the states up to a resource version.
    Version(u64),
}

impl RequestedMoment {
    /// Parses the value of a flag, which the error names: RFC 3339, `03:12` (local time, the most recent past), `-10m` or
    /// `rv:N`. `now` returns the local time: asking for its zone reads many directories, and only a time of the day needs it.
    pub(crate) fn parse(flag: &'static str, text: &str, now: fn() -> Zoned) -> Result<Self, UsageError> {
        let invalid = || UsageError::Moment { flag, text: text.to_owned() };
        parsed(text, now).ok_or_else(invalid)
    }

    /// Returns the time of the moment in a recording that ends at `end`; `None` for a version.
    pub(crate) fn time(self, end: Timestamp) -> Option<Timestamp> {
        match self {
            Self::End => Some(end),
            Self::BeforeEnd(age) => Some(end.checked_sub(age).unwrap_or(Timestamp::MIN)),
            Self::Time(time) => Some(time),
            Self::Version(_) => None,
        }
    }
}

fn parsed(text: &str, now: fn() -> Zoned) -> Option<RequestedMoment> {
    if let Some(version) = text.strip_prefix("rv:") {
        return version.parse().ok().map(RequestedMoment::Version);
    }
    if let Some(age) = text.strip_prefix('-') {
        let age: Duration = duration::parse_age(age).ok()?;
        return SignedDuration::try_from(age).ok().map(RequestedMoment::BeforeEnd);
    }
    if let Ok(time) = text.parse() {
        return Some(RequestedMoment::Time(time));
    }
    // jiff also reads forms such as T0312 or 03, which may be typing errors.
    let is_clock = matches!(text.len(), 5 | 8) && text.as_bytes()[2] == b':';
    let time: Time = text.parse().ok().filter(|_| is_clock)?;
    last(time, &now()).map(RequestedMoment::Time)
}

/// Returns the last moment at which clocks showed this time.
fn last(time: Time, now: &Zoned) -> Option<Timestamp> {
    [now.date(), now.date().checked_sub(1.day()).ok()?]
        .into_iter()
        .filter_map(|date| date.to_datetime(time).to_zoned(now.time_zone().clone()).ok())
        .map(|zoned| zoned.timestamp())
        .find(|found| *found <= now.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> RequestedMoment {
        RequestedMoment::Time(text.parse().expect("a time"))
    }

    #[test]
    fn moments_are_times_ages_and_versions() {
        // Two hours ahead of UTC.
        let now = || "2026-11-24T12:00:00+02:00[+02:00]".parse().expect("a time");
        let minutes = |count| RequestedMoment::BeforeEnd(SignedDuration::from_mins(count));
        for (text, expected) in [
            ("2026-11-24T03:12:00Z", time("2026-11-24T03:12:00Z")),
            ("2026-11-24T03:12:00.5+01:00", time("2026-11-24T02:12:00.5Z")),
            ("03:12", time("2026-11-24T01:12:00Z")),
            ("12:00", time("2026-11-24T10:00:00Z")),
            ("12:01", time("2026-11-23T10:01:00Z")),
            ("23:59:58", time("2026-11-23T21:59:58Z")),
            ("-10m", minutes(10)),
            ("-1d", minutes(24 * 60)),
            ("-0s", minutes(0)),
            ("rv:42", RequestedMoment::Version(42)),
        ] {
            assert_eq!(RequestedMoment::parse("at", text, now), Ok(expected), "{text}");
        }
        for text in [
            "", "-", "--1m", "10m", "rv:", "rv:-1", "rv:x", "25:00", "3:12", "03", "T03:12", "0312", "now",
            "ü0:00",
        ] {
            let error = UsageError::Moment { flag: "since", text: text.to_owned() };
            assert_eq!(RequestedMoment::parse("since", text, now), Err(error), "{text}");
        }
    }

    #[test]
    fn ages_are_relative_to_the_end() {
        let end: Timestamp = "2026-11-24T12:00:00Z".parse().expect("a time");
        let before = RequestedMoment::BeforeEnd(SignedDuration::from_hours(1));
        assert_eq!(before.time(end), Some("2026-11-24T11:00:00Z".parse().expect("a time")));
        assert_eq!(RequestedMoment::BeforeEnd(SignedDuration::MAX).time(end), Some(Timestamp::MIN));
        assert_eq!(RequestedMoment::End.time(end), Some(end));
        assert_eq!(RequestedMoment::Version(3).time(end), None);
    }
}
