//! Times inside texts: `2026-11-24T03:12:00`, as Kubernetes writes them, in UTC.

/// The length of a time without its zone.
pub(super) const LENGTH: usize = 19;

const PATTERN: &[u8; LENGTH] = b"0000-00-00T00:00:00";

/// The years after which the calendar repeats.
const ERA: i64 = 4 * 100;

/// Returns the Unix seconds of the time at the front of a text, or `None` unless [`write()`] returns the same text.
pub(super) fn parse(text: &[u8]) -> Option<i64> {
    let text: &[u8; LENGTH] = text.first_chunk()?;
    let fits =
        |(byte, pattern): (&u8, &u8)| if *pattern == b'0' { byte.is_ascii_digit() } else { byte == pattern };
    if !text.iter().zip(PATTERN).all(fits) {
        return None;
    }
    let number = |at: usize, len: usize| {
        text[at..at + len].iter().fold(0, |number, digit| 10 * number + i64::from(digit - b'0'))
    };
    let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2));
    let (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2));
    let is_valid =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 60;
    let seconds = 86400 * days(year, month, day) + 3600 * hour + 60 * minute + second;
    // The 31st of a shorter month would become a day of the next month.
    (is_valid && write(seconds).is_some_and(|written| written == *text)).then_some(seconds)
}

/// Returns the text of a time. `None` beyond the year 9999.
pub(super) fn write(seconds: i64) -> Option<[u8; LENGTH]> {
    let (day, second) = (seconds.div_euclid(86400), seconds.rem_euclid(86400));
    let (year, month, day) = date(day);
    if !(0..=9999).contains(&year) {
        return None;
    }
    let mut text = *PATTERN;
    let mut put = |at: usize, number: i64| {
        let number = u8::try_from(number).unwrap_or_default();
        (text[at], text[at + 1]) = (b'0' + number / 10, b'0' + number % 10);
    };
    put(0, year / 100);
    put(2, year % 100);
    put(5, month);
    put(8, day);
    put(11, second / 3600);
    put(14, second / 60 % 60);
    put(17, second % 60);
    Some(text)
}

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March, so that the leap day is
/// their last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(ERA);
    let year_of_era = year.rem_euclid(ERA);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Returns the date of a number of days since 1970-01-01.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * ERA + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00", 0),
            ("2026-11-24T03:12:00", 1_795_489_920),
            ("2024-02-29T23:59:59", 1_709_251_199),
            ("1969-12-31T23:59:59", -1),
            ("0001-01-01T00:00:00", -62_135_596_800),
        ] {
            assert_eq!(parse(text.as_bytes()), Some(seconds), "{text}");
            assert_eq!(write(seconds).as_ref().map(|text| &text[..]), Some(text.as_bytes()));
        }
        for text in
            ["2026-02-30T00:00:00", "2026-11-24 03:12:00", "2026-11-24T24:00:00", "2026-11-24T03:12", "x"]
        {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_is_read_back() {
        for day in (-200_000..200_000).step_by(7) {
            let written = write(day * 86400 + 12_345).expect("a year with four digits");
            assert_eq!(parse(&written), Some(day * 86400 + 12_345));
        }
    }
}
