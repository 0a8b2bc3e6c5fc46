//! The texts of timestamps and durations.

/// The nanoseconds of a second.
pub(super) const NANOS: i128 = 1_000_000_000;

/// The years after which the calendar repeats.
const CYCLE: i64 = 4 * 100;

/// The days of those years.
const CYCLE_DAYS: i64 = 146_097;

/// The seconds of a day.
const DAY: i64 = 86_400;

/// Returns a time if its year is from 1 to 9999.
pub(super) fn in_range(nanos: i128) -> Option<i128> {
    let range = -62_135_596_800 * NANOS..253_402_300_800 * NANOS;
    range.contains(&nanos).then_some(nanos)
}

/// Parses RFC 3339, in nanoseconds since 1970.
pub(super) fn parse_timestamp(text: &str) -> Option<i128> {
    let number = |from: usize, length: usize| {
        let digits = text.get(from..from + length)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<i64>().ok())?
    };
    let is = |at: usize, byte: u8| text.as_bytes().get(at) == Some(&byte);
    let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
    let has_separators = is(4, b'-') && is(7, b'-') && is(10, b'T') && is(13, b':') && is(16, b':');
    let is_valid = (1..=12).contains(&month)
        && (1..=days_in(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !has_separators || !is_valid {
        return None;
    }
    let (nanos, zone) = fraction(text.get(19..)?)?;
    let seconds =
        days_since_1970(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset(zone)?;
    in_range(i128::from(seconds) * NANOS + nanos)
}

/// Splits a fraction of a second, in nanoseconds, from the zone behind it.
fn fraction(rest: &str) -> Option<(i128, &str)> {
    let Some(digits) = rest.strip_prefix(['.', ',']) else { return Some((0, rest)) };
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 {
        return None;
    }
    let (digits, zone) = digits.split_at(count);
    // Digits beyond nanoseconds are cut off.
    let nanos: i128 = format!("{:0<9}", &digits[..count.min(9)]).parse().ok()?;
    Some((nanos, zone))
}

/// Returns the seconds of `Z`, `+01:00`.
fn offset(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let (sign, digits) = match zone.as_bytes().first()? {
        b'+' => (1, &zone[1..]),
        b'-' => (-1, &zone[1..]),
        _ => return None,
    };
    let (hours, minutes) = digits.split_once(':')?;
    let is_number = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(hours) || !is_number(minutes) {
        return None;
    }
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours <= 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn days_in(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % CYCLE == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days of a date of the Gregorian calendar since 1970. Years begin in March, with the leap day last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(CYCLE);
    let year_of_era = year.rem_euclid(CYCLE);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * CYCLE_DAYS + day_of_era - 719_468
}

/// A time as a calendar shows it.
pub(super) struct CivilTime {
    pub(super) year: i64,
    /// The month, from 1.
    pub(super) month: i64,
    /// The day of the month, from 1.
    pub(super) day: i64,
    /// The day of the year, from 0.
    pub(super) day_of_year: i64,
    /// The day of the week; 0 is Sunday.
    pub(super) day_of_week: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) nanos: i64,
}

impl CivilTime {
    /// Returns the date and time of day in UTC.
    pub(super) fn of(nanos: i128) -> Self {
        let fit = |number: i128| i64::try_from(number).unwrap_or_default();
        let seconds = fit(nanos.div_euclid(NANOS));
        let days = seconds.div_euclid(DAY);
        let of_day = seconds.rem_euclid(DAY);
        let shifted = days + 719_468;
        let era = shifted.div_euclid(CYCLE_DAYS);
        let day_of_era = shifted.rem_euclid(CYCLE_DAYS);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let from_march = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * from_march + 2) / 153;
        let month = (month_from_march + 2) % 12 + 1;
        let year = year_of_era + era * CYCLE + i64::from(month <= 2);
        Self {
            year,
            month,
            day: from_march - (153 * month_from_march + 2) / 5 + 1,
            day_of_year: days - days_since_1970(year, 1, 1),
            day_of_week: (days + 4).rem_euclid(7),
            hour: of_day / 3600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
            nanos: fit(nanos.rem_euclid(NANOS)),
        }
    }
}

/// Formats a time as RFC 3339, in UTC.
pub(super) fn format_timestamp(nanos: i128) -> String {
    let CivilTime { year, month, day, hour, minute, second, nanos, .. } = CivilTime::of(nanos);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
    if nanos != 0 {
        text.push_str(format!(".{nanos:09}").trim_end_matches('0'));
    }
    text.push('Z');
    text
}

/// Parses a duration such as `1h30m` or `-1.5s`, in nanoseconds.
pub(super) fn parse_duration(text: &str) -> Option<i64> {
    let (is_negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let (nanos, length) = duration_part(rest)?;
        total = total.checked_add(nanos)?;
        rest = &rest[length..];
    }
    i64::try_from(if is_negative { -total } else { total }).ok()
}

/// Parses a number with its unit; returns its length, too.
fn duration_part(text: &str) -> Option<(i128, usize)> {
    let digits =
        |from: usize| text.as_bytes()[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(0);
    let has_fraction = text.as_bytes().get(whole) == Some(&b'.');
    let fraction = if has_fraction { digits(whole + 1) } else { 0 };
    if whole + fraction == 0 || whole > 20 {
        return None;
    }
    let number_length = whole + usize::from(has_fraction) + fraction;
    let unit_length = text[number_length..]
        .char_indices()
        .find(|(_, char)| *char == '.' || char.is_ascii_digit())
        .map_or(text.len() - number_length, |(at, _)| at);
    let unit: i128 = match &text[number_length..number_length + unit_length] {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => NANOS,
        "m" => 60 * NANOS,
        "h" => 3600 * NANOS,
        _ => return None,
    };
    let mut nanos = if whole == 0 { 0 } else { text[..whole].parse::<i128>().ok()? * unit };
    if fraction > 0 {
        // More digits than that do not change a nanosecond.
        let digits = &text[whole + 1..whole + 1 + fraction.min(18)];
        let scale = 10_i128.pow(u32::try_from(digits.len()).ok()?);
        nanos += digits.parse::<i128>().ok()? * unit / scale;
    }
    Some((nanos, number_length + unit_length))
}

/// Formats a duration in seconds.
#[expect(clippy::cast_precision_loss, reason = "Go divides as a float64, too")]
pub(super) fn format_duration(nanos: i64) -> String {
    let second = i64::try_from(NANOS).unwrap_or(i64::MAX);
    let seconds = (nanos / second) as f64 + (nanos % second) as f64 / 1e9;
    format!("{seconds}s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_parsed_and_formatted() {
        for (text, formatted) in [
            ("1970-01-01T00:00:00Z", Some("1970-01-01T00:00:00Z")),
            ("2024-02-29T23:59:59.120Z", Some("2024-02-29T23:59:59.12Z")),
            ("2024-03-01T01:30:00+02:00", Some("2024-02-29T23:30:00Z")),
            ("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00Z")),
            ("9999-12-31T23:59:59.999999999Z", Some("9999-12-31T23:59:59.999999999Z")),
            ("0001-01-01T00:00:00+01:00", None),
            ("2023-02-29T00:00:00Z", None),
            ("2023-01-01 00:00:00Z", None),
            ("2023-01-01T24:00:00Z", None),
            ("2023-01-01T00:00:60Z", None),
            ("2023-01-01T00:00:00", None),
            ("2023-01-01T00:00:00.Z", None),
            ("2023-01-01", None),
            ("ü23-01-01T00:00:00Z", None),
            ("", None),
        ] {
            assert_eq!(parse_timestamp(text).map(format_timestamp).as_deref(), formatted, "{text}");
        }
    }

    #[test]
    fn calendar_fields_are_those_of_the_day() {
        let civil = CivilTime::of(parse_timestamp("2024-12-31T10:20:30.5Z").expect("a time"));
        assert_eq!((civil.year, civil.month, civil.day), (2024, 12, 31));
        assert_eq!((civil.day_of_year, civil.day_of_week), (365, 2));
        assert_eq!((civil.hour, civil.minute, civil.second, civil.nanos), (10, 20, 30, 500_000_000));
    }

    #[test]
    fn durations_follow_go() {
        for (text, nanos) in [
            ("1h30m", Some(5_400_000_000_000)),
            ("-1.5s", Some(-1_500_000_000)),
            ("1us2ns", Some(1_002)),
            ("0", Some(0)),
            (".5ms", Some(500_000)),
            ("5.s", Some(5_000_000_000)),
            ("1d", None),
            ("1", None),
            ("", None),
            ("-", None),
            (".s", None),
            ("9999999999h", None),
        ] {
            assert_eq!(parse_duration(text), nanos, "{text}");
        }
        assert_eq!(format_duration(5_400_000_000_000), "5400s");
        assert_eq!(format_duration(-1_500_000_000), "-1.5s");
    }
}
