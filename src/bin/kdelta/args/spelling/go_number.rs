//! Whole numbers in the forms that Go's flag library accepts.

use std::num::IntErrorKind;

/// A value that is no number, with the text of Go's error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("strconv.ParseInt: parsing {quoted}: {reason}")]
pub(crate) struct GoNumberError {
    quoted: String,
    reason: &'static str,
}

/// Parses a number: `10`, `-1`, `0x1f`, `0b101`, `0o17`, `017` or `1_000`.
///
/// # Errors
/// The text is no number, or the number has more than 64 bits.
pub(crate) fn parse(text: &str) -> Result<i64, GoNumberError> {
    let error = |reason| GoNumberError { quoted: kdelta::object::go_quote(text), reason };
    let (sign, digits) = match text.as_bytes() {
        [b'-', ..] => ("-", &text[1..]),
        [b'+', ..] => ("", &text[1..]),
        _ => ("", text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    // An underscore stands between two digits, or between a prefix and a digit.
    let is_separated =
        !digits.ends_with('_') && !digits.contains("__") && (radix != 10 || !digits.starts_with('_'));
    if !is_separated || digits.starts_with(['+', '-']) {
        return Err(error("invalid syntax"));
    }
    let number = i64::from_str_radix(&format!("{sign}{}", digits.replace('_', "")), radix);
    number.map_err(|failure| match failure.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => error("value out of range"),
        _ => error("invalid syntax"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_gos_forms() {
        for (text, number) in [
            ("500", 500),
            ("-1", -1),
            ("+7", 7),
            ("0", 0),
            ("0x1F", 31),
            ("-0b101", -5),
            ("0o17", 15),
            ("017", 15),
            ("1_000", 1000),
            ("0x_f", 15),
            ("0_7", 7),
        ] {
            assert_eq!(parse(text), Ok(number), "{text}");
        }
    }

    #[test]
    fn errors_have_gos_text() {
        for (text, reason) in [
            ("x", "invalid syntax"),
            ("", "invalid syntax"),
            ("08", "invalid syntax"),
            ("1__0", "invalid syntax"),
            ("_1", "invalid syntax"),
            ("1_", "invalid syntax"),
            ("--1", "invalid syntax"),
            ("1.5", "invalid syntax"),
            ("99999999999999999999", "value out of range"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert_eq!(error, format!("strconv.ParseInt: parsing {text:?}: {reason}"));
        }
    }
}
