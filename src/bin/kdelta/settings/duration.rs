//! Durations in Go's syntax: `300ms`, `1h30m`, `-1.5h`.

use std::time::Duration;

/// An invalid duration. The messages are Go's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DurationError {
    /// Not a sequence of numbers with units.
    #[error("time: invalid duration {0:?}")]
    Invalid(String),
    /// A number without its unit.
    #[error("time: missing unit in duration {0:?}")]
    MissingUnit(String),
    /// An unknown unit.
    #[error("time: unknown unit {unit:?} in duration {text:?}")]
    UnknownUnit {
        /// The unit.
        unit: String,
        /// The whole text.
        text: String,
    },
    /// A negative duration.
    #[error("duration {0:?} is negative")]
    Negative(String),
}

/// Parses a Go duration: decimal numbers, each followed by a unit `ns`, `us`, `µs`, `ms`, `s`, `m` or `h`; `0` needs no
/// unit. As in Go, more than 2^63 ns (292 years) is invalid.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    parse_with(text, nanoseconds)
}

/// Parses an age: a Go duration that may also have days `d` and years `y` of 365 days, as the AGE column prints them.
pub(crate) fn parse_age(text: &str) -> Result<Duration, DurationError> {
    parse_with(text, |unit| match unit {
        "d" => Some(DAY),
        "y" => Some(365 * DAY),
        unit => nanoseconds(unit),
    })
}

/// Parses a duration whose units have these lengths in nanoseconds.
fn parse_with(text: &str, length: impl Fn(&str) -> Option<u64>) -> Result<Duration, DurationError> {
    let invalid = || DurationError::Invalid(text.to_owned());
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u128 = 0;
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(number_end);
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        if number.is_empty() {
            return Err(invalid());
        }
        if unit.is_empty() {
            return Err(DurationError::MissingUnit(text.to_owned()));
        }
        let scale = length(unit)
            .ok_or_else(|| DurationError::UnknownUnit { unit: unit.to_owned(), text: text.to_owned() })?;
        total += scaled(number, scale).ok_or_else(invalid)?;
        if total > i64::MAX.unsigned_abs().into() {
            return Err(invalid());
        }
        rest = after;
    }
    if negative && total > 0 {
        return Err(DurationError::Negative(text.to_owned()));
    }
    u64::try_from(total).map(Duration::from_nanos).map_err(|_| invalid())
}

/// Parses whole seconds, such as `90`, or a Go duration.
pub(crate) fn parse_seconds(text: &str) -> Result<Duration, DurationError> {
    match text.parse::<u32>() {
        Ok(seconds) => Ok(Duration::from_secs(seconds.into())),
        Err(_) => parse(text),
    }
}

/// A day in nanoseconds.
const DAY: u64 = 24 * 3_600_000_000_000;

fn nanoseconds(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// Returns `number` times `scale`, truncated; `None` if `number` has no digit or is too long.
fn scaled(number: &str, scale: u64) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.len() + fraction.len() == 0 || fraction.contains('.') || whole.len() > 19 {
        return None;
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let scale = u128::from(scale);
    let mut total = whole.checked_mul(scale)?;
    let mut place = scale;
    for digit in fraction.bytes().take(18) {
        // Each place is a fraction of the unit times ten, so that 1.5h is exact.
        place *= 10;
        total = total.checked_mul(10)?.checked_add(u128::from(digit - b'0') * scale)?;
    }
    Some(total / (place / scale))
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
