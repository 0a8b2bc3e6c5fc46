//! Times in seconds, durations and ages.

use std::time::Duration;

use crate::args::{GoDuration, GoDurationError};

/// An invalid duration. The messages are Go's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DurationError {
    #[error(transparent)]
    Syntax(#[from] GoDurationError),
    #[error("duration {0:?} is negative")]
    Negative(String),
}

/// Parses a Go duration.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    not_negative(text, GoDuration::parse(text)?)
}

/// Parses an age: a Go duration that may also have days `d` and years `y` of 365 days, as the AGE column prints them.
pub(crate) fn parse_age(text: &str) -> Result<Duration, DurationError> {
    not_negative(text, GoDuration::parse_with_days(text)?)
}

fn not_negative(text: &str, duration: GoDuration) -> Result<Duration, DurationError> {
    match duration {
        GoDuration { is_negative: true, .. } => Err(DurationError::Negative(text.to_owned())),
        GoDuration { length, .. } => Ok(length),
    }
}

/// Parses whole seconds, such as `90`, or a Go duration.
pub(crate) fn parse_seconds(text: &str) -> Result<Duration, DurationError> {
    match text.parse::<u32>() {
        Ok(seconds) => Ok(Duration::from_secs(seconds.into())),
        Err(_) => parse(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_durations_are_parsed() {
        for (text, nanos) in [
            ("0", 0),
            ("0s", 0),
            ("5s", 5_000_000_000),
            ("1h2m3s", 3_723_000_000_000),
            ("1.5h", 5_400_000_000_000),
            (".5s", 500_000_000),
            ("5.s", 5_000_000_000),
            ("+3m", 180_000_000_000),
            ("-0s", 0),
            ("300ms", 300_000_000),
            ("10us", 10_000),
            ("10µs", 10_000),
            ("10μs", 10_000),
            ("7ns", 7),
            ("0.9ns", 0),
            ("0.3333333333333333333h", 1_199_999_999_999),
            ("1s1s", 2_000_000_000),
            ("2562047h47m16.854775807s", 9_223_372_036_854_775_807),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn ages_have_days_and_years() {
        for (text, seconds) in [
            ("2d", 172_800),
            ("3d4h", 273_600),
            ("2y5d", 63_504_000),
            ("1.5d", 129_600),
            ("90s", 90),
            ("5m30s", 330),
            ("0", 0),
        ] {
            assert_eq!(parse_age(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(
            parse_age("1w").expect_err("a week").to_string(),
            r#"time: unknown unit "w" in duration "1w""#
        );
    }

    #[test]
    fn go_errors_are_reported_in_gos_words() {
        for (text, words) in [
            ("", "time: invalid duration \"\""),
            ("-", "time: invalid duration \"-\""),
            ("s", "time: invalid duration \"s\""),
            (".s", "time: invalid duration \".s\""),
            ("3", "time: missing unit in duration \"3\""),
            ("1h5", "time: missing unit in duration \"1h5\""),
            ("3x", "time: unknown unit \"x\" in duration \"3x\""),
            ("1d", "time: unknown unit \"d\" in duration \"1d\""),
            ("1.2.3s", "time: invalid duration \"1.2.3s\""),
            ("3000000h", "time: invalid duration \"3000000h\""),
            ("99999999999999999999s", "time: invalid duration \"99999999999999999999s\""),
            ("-1s", "duration \"-1s\" is negative"),
        ] {
            assert_eq!(parse(text).expect_err(text).to_string(), words, "{text}");
        }
    }
}
