//! Durations in Go's syntax: `300ms`, `1h30m`, `-1.5h`.

use std::time::Duration;

/// A duration, which may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GoDuration {
    pub(crate) length: Duration,
    /// Never for a length of zero.
    pub(crate) is_negative: bool,
}

/// An invalid duration. The messages are Go's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GoDurationError {
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
}

impl GoDuration {
    /// Parses decimal numbers, each followed by a unit `ns`, `us`, `µs`, `ms`, `s`, `m` or `h`; `0` needs no unit. As in Go,
    /// more than 2^63 ns (292 years) is invalid.
    pub(crate) fn parse(text: &str) -> Result<Self, GoDurationError> {
        Self::parse_with(text, nanoseconds)
    }

    /// Parses a duration that may also have days `d` and years `y` of 365 days, as the AGE column prints them.
    pub(crate) fn parse_with_days(text: &str) -> Result<Self, GoDurationError> {
        Self::parse_with(text, |unit| match unit {
            "d" => Some(DAY),
            "y" => Some(365 * DAY),
            unit => nanoseconds(unit),
        })
    }

    /// Parses a duration whose units have these lengths in nanoseconds.
    fn parse_with(text: &str, length: impl Fn(&str) -> Option<u64>) -> Result<Self, GoDurationError> {
        let invalid = || GoDurationError::Invalid(text.to_owned());
        let (has_minus, mut rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        if rest == "0" {
            return Ok(Self { length: Duration::ZERO, is_negative: false });
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
                return Err(GoDurationError::MissingUnit(text.to_owned()));
            }
            let scale = length(unit).ok_or_else(|| GoDurationError::UnknownUnit {
                unit: unit.to_owned(),
                text: text.to_owned(),
            })?;
            total += scaled(number, scale).ok_or_else(invalid)?;
            if total > i64::MAX.unsigned_abs().into() {
                return Err(invalid());
            }
            rest = after;
        }
        let length = u64::try_from(total).map(Duration::from_nanos).map_err(|_| invalid())?;
        Ok(Self { length, is_negative: has_minus && !length.is_zero() })
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
    fn duration_may_be_negative() {
        let parse = |text| GoDuration::parse(text).map(|parsed| (parsed.length, parsed.is_negative));
        assert_eq!(parse("-1.5h"), Ok((Duration::from_mins(90), true)));
        assert_eq!(parse("1.5h"), Ok((Duration::from_mins(90), false)));
        for zero in ["0", "-0", "+0", "-0s", "0h0m"] {
            assert_eq!(parse(zero), Ok((Duration::ZERO, false)), "{zero}");
        }
        assert_eq!(parse("1d"), Err(GoDurationError::UnknownUnit { unit: "d".into(), text: "1d".into() }));
    }
}
