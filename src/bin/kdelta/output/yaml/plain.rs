//! Texts that a YAML 1.1 reader would not read as strings if they were unquoted: `yes`, `1_000`, `2026-11-21`.
//!
//! The rules are those of the YAML library that kubectl uses.

/// Whether the unquoted text is read back as the same string.
pub(super) fn is_text(text: &str) -> bool {
    let Some(first) = text.bytes().next() else { return false };
    match first {
        b'+' | b'-' | b'0'..=b'9' => {
            !is_infinity(text) && !is_number(text) && !is_timestamp(text) && !is_base_60(text)
        }
        b'.' => !matches!(text, ".nan" | ".NaN" | ".NAN") && !is_infinity(text) && !is_float(text),
        _ => !is_word(text),
    }
}

/// Whether the text is a boolean or null of YAML 1.1.
fn is_word(text: &str) -> bool {
    matches!(
        text,
        "y" | "Y"
            | "yes"
            | "Yes"
            | "YES"
            | "true"
            | "True"
            | "TRUE"
            | "on"
            | "On"
            | "ON"
            | "n"
            | "N"
            | "no"
            | "No"
            | "NO"
            | "false"
            | "False"
            | "FALSE"
            | "off"
            | "Off"
            | "OFF"
            | "~"
            | "null"
            | "Null"
            | "NULL"
    )
}

fn is_infinity(text: &str) -> bool {
    matches!(text.trim_start_matches(['+', '-']), ".inf" | ".Inf" | ".INF")
}

/// Whether the text is an integer in any of Go's bases, or a float; underscores are ignored.
fn is_number(text: &str) -> bool {
    let plain: String = text.chars().filter(|c| *c != '_').collect();
    is_integer(&plain) || is_float(&plain)
}

fn is_integer(plain: &str) -> bool {
    let (negative, signed, digits) = match plain.as_bytes().first() {
        Some(b'-') => (true, true, &plain[1..]),
        Some(b'+') => (false, true, &plain[1..]),
        _ => (false, false, plain),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, digits) = match (lower.get(..2), lower.get(..1)) {
        (Some("0x"), _) => (16, &lower[2..]),
        (Some("0o"), _) => (8, &lower[2..]),
        (Some("0b"), _) => (2, &lower[2..]),
        (Some(_), Some("0")) => (8, &lower[1..]),
        _ => (10, &lower[..]),
    };
    if digits.is_empty() || !digits.bytes().all(|digit| char::from(digit).is_digit(base)) {
        return false;
    }
    let most = match (signed, negative) {
        (false, _) => u64::MAX,
        (true, false) => i64::MAX.unsigned_abs(),
        (true, true) => i64::MIN.unsigned_abs(),
    };
    u64::from_str_radix(digits, base).is_ok_and(|value| value <= most)
}

/// Whether the text is a decimal number that a float64 can represent.
fn is_float(text: &str) -> bool {
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (rest, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let has_digits = if whole.is_empty() { fraction.is_some_and(|f| !f.is_empty()) } else { true };
    has_digits
        && all_digits(whole)
        && all_digits(fraction.unwrap_or_default())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && all_digits(exponent))
        && text.parse::<f64>().is_ok_and(f64::is_finite)
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the text is a base-60 number of YAML 1.1, such as `12:30:45.5`.
fn is_base_60(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut numbers = text.split(':');
    let first = numbers.next().unwrap_or_default();
    let Some(last) = text.rsplit(':').next().filter(|_| text.contains(':')) else { return false };
    let is_first = first.starts_with(|c: char| c.is_ascii_digit())
        && first.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let is_minute = |number: &str| match number.as_bytes() {
        [unit] => unit.is_ascii_digit(),
        [ten, unit] => (b'0'..=b'5').contains(ten) && unit.is_ascii_digit(),
        _ => false,
    };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    let between = text.split(':').count().saturating_sub(2);
    is_first
        && numbers.take(between).all(is_minute)
        && is_minute(last)
        && fraction.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
}

/// Whether the text is a date, alone or with a time: `2026-11-21T10:00:00Z`, `2026-11-21 10:00:00.5`.
fn is_timestamp(text: &str) -> bool {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some((text.as_bytes()[at], &text[at + 1..]))),
        None => (text, None),
    };
    let Some((year, rest)) = date.split_once('-') else { return false };
    let Some((month, day)) = rest.split_once('-') else { return false };
    if year.len() != 4 || !all_digits(year) {
        return false;
    }
    let (Some(month), Some(day)) = (short_number(month), short_number(day)) else { return false };
    let is_date = year.parse().is_ok_and(|year| jiff::civil::Date::new(year, month, day).is_ok());
    is_date
        && match time {
            None => true,
            Some((b' ', time)) => is_time(time),
            Some((_, time)) => match time.strip_suffix('Z') {
                Some(time) => is_time(time),
                None => match time.len().checked_sub(6).and_then(|at| time.split_at_checked(at)) {
                    Some((time, zone)) => is_zone(zone) && is_time(time),
                    None => false,
                },
            },
        }
}

/// Parses one or two digits.
fn short_number(text: &str) -> Option<i8> {
    ((1..=2).contains(&text.len()) && all_digits(text)).then(|| text.parse().ok())?
}

fn is_time(text: &str) -> bool {
    let (text, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let numbers: Vec<_> = text.split(':').map(short_number).collect();
    let [Some(hour), Some(minute), Some(second)] = numbers[..] else { return false };
    hour < 24 && minute < 60 && second < 60 && !fraction.is_empty() && all_digits(fraction)
}

fn is_zone(text: &str) -> bool {
    match text.strip_prefix(['+', '-']).and_then(|text| text.split_once(':')) {
        Some((hours, minutes)) => {
            hours.len() == 2 && minutes.len() == 2 && all_digits(hours) && all_digits(minutes)
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_types_need_quotes() {
        for text in [
            "",
            "~",
            "null",
            "NULL",
            "y",
            "No",
            "on",
            "OFF",
            "true",
            "False",
            "0",
            "12",
            "-5",
            "+5",
            "017",
            "08",
            "0x1F",
            "0o17",
            "0b11",
            "1_000",
            "1.0",
            "1.",
            ".5",
            "-.5",
            "1e3",
            "1E-3",
            ".inf",
            "-.INF",
            "+.Inf",
            ".NaN",
            "12:30",
            "12:30:45",
            "1_2:5.5",
            "-1:00",
            "2026-11-21",
            "2026-1-2",
            "2026-11-21T10:00:00Z",
            "2026-11-21t1:2:3.5+01:00",
            "2026-11-21 10:00:00",
            "18446744073709551615",
            "99999999999999999999",
        ] {
            assert!(!is_text(text), "{text:?}");
        }
    }

    #[test]
    fn other_words_are_plain_text() {
        for text in [
            "a",
            "yes!",
            "nulls",
            "truth",
            "-",
            "+",
            ".",
            "..",
            "1.2.3",
            "v1",
            "10.0.0.1",
            "1h30m",
            "0x",
            "0xZ",
            "1e",
            "e3",
            "1e999",
            "0xFFFFFFFFFFFFFFFFF",
            "12:60",
            "12:345",
            ":30",
            "1:",
            "2026-13-01",
            "2026-02-30",
            "2026-11",
            "2026-11-21T25:00:00Z",
            "2026-11-21T10:00:00",
            "-inf",
            "nan",
            "<<",
            "=",
            "5Gi",
            "100m",
            "50%",
        ] {
            assert!(is_text(text), "{text:?}");
        }
    }
}
