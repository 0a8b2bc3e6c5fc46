//! The times at the front of rows.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The form of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeForm {
    /// The whole time in UTC, as in JSON lines.
    Rfc3339,
    /// The time of day of the local clock.
    Clock,
    /// The time since the start.
    Relative,
    /// The time since the previous row.
    Delta,
}

/// Formats the time of each row.
#[derive(Debug, Clone)]
pub(crate) struct RowTimes {
    form: TimeForm,
    zone: TimeZone,
    /// `None` before the first row, if that is the start.
    started: Option<Timestamp>,
    previous: Option<Timestamp>,
}

impl RowTimes {
    /// Creates the times of rows since `started`, in this zone.
    pub(crate) fn new(form: TimeForm, zone: TimeZone, started: Timestamp) -> Self {
        Self { form, zone, started: Some(started), previous: Some(started) }
    }

    /// Creates the times of rows since the first one.
    pub(crate) fn since_first(form: TimeForm, zone: TimeZone) -> Self {
        Self { form, zone, started: None, previous: None }
    }

    /// Returns the heading of the column.
    pub(crate) fn heading(&self) -> &'static str {
        match self.form {
            TimeForm::Rfc3339 | TimeForm::Clock => "TIME",
            TimeForm::Relative => "ELAPSED",
            TimeForm::Delta => "DELTA",
        }
    }

    /// Returns the time of the next row, which was received at that time.
    pub(crate) fn cell(&mut self, received: Timestamp) -> String {
        let started = *self.started.get_or_insert(received);
        let previous = self.previous.replace(received).unwrap_or(received);
        match self.form {
            TimeForm::Rfc3339 => received.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
            TimeForm::Clock => received.to_zoned(self.zone.clone()).strftime("%H:%M:%S%.3f").to_string(),
            TimeForm::Relative => elapsed(received.duration_since(started)),
            TimeForm::Delta => format!("+{}", elapsed(received.duration_since(previous))),
        }
    }
}

/// Formats a time span with milliseconds: `5.120s`, `2m05.120s`, `1h02m05.120s`. A negative one, which rows have that
/// are not in the order of their times, is zero.
fn elapsed(span: SignedDuration) -> String {
    let millis = span.as_millis().max(0);
    let (seconds, millis) = (millis / 1000, millis % 1000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}.{millis:03}s"),
        (0, minutes) => format!("{minutes}m{seconds:02}.{millis:03}s"),
        (hours, minutes) => format!("{hours}h{minutes:02}m{seconds:02}.{millis:03}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_has_its_heading_and_times() {
        let time = |text: &str| -> Timestamp { text.parse().expect("a time") };
        let started = time("2026-11-21T09:59:58.5Z");
        let zone = TimeZone::fixed(jiff::tz::offset(-8));
        for (form, heading, cells) in [
            (TimeForm::Rfc3339, "TIME", ["2026-11-21T10:00:00.123Z", "2026-11-21T11:02:03.000Z"]),
            (TimeForm::Clock, "TIME", ["02:00:00.123", "03:02:03.000"]),
            (TimeForm::Relative, "ELAPSED", ["1.623s", "1h02m04.500s"]),
            (TimeForm::Delta, "DELTA", ["+1.623s", "+1h02m02.876s"]),
        ] {
            let mut times = RowTimes::new(form, zone.clone(), started);
            let rows = ["2026-11-21T10:00:00.1239Z", "2026-11-21T11:02:03Z"].map(|row| times.cell(time(row)));
            assert_eq!((times.heading(), rows), (heading, cells.map(str::to_owned)), "{form:?}");
        }
    }

    #[test]
    fn first_row_may_be_the_start() {
        let time = |text: &str| -> Timestamp { text.parse().expect("a time") };
        for (form, expected) in [(TimeForm::Relative, "3.000s"), (TimeForm::Delta, "+1.000s")] {
            let mut times = RowTimes::since_first(form, TimeZone::UTC);
            let [first, .., last] =
                [7, 9, 10].map(|second| times.cell(time(&format!("2026-11-21T10:00:{second:02}Z"))));
            assert_eq!((first.trim_start_matches('+'), last.as_str()), ("0.000s", expected));
        }
    }

    #[test]
    fn spans_are_never_negative() {
        for (millis, expected) in [
            (-5, "0.000s"),
            (0, "0.000s"),
            (59_999, "59.999s"),
            (125_120, "2m05.120s"),
            (3_600_000, "1h00m00.000s"),
        ] {
            assert_eq!(elapsed(SignedDuration::from_millis(millis)), expected);
        }
    }
}
