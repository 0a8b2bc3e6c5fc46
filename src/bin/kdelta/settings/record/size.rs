//! Sizes in bytes.

use crate::settings::UsageError;

const UNITS: [(&str, u64); 9] = [
    ("", 1),
    ("B", 1),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Parses a size above 0: a whole number of bytes, or of a unit such as MB or MiB in any case.
pub(super) fn parse(text: &str) -> Result<u64, UsageError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim()));
    let size = number.parse::<u64>().ok().zip(unit).and_then(|(number, (_, unit))| number.checked_mul(*unit));
    size.filter(|size| *size > 0).ok_or_else(|| UsageError::Size(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_decimal_or_binary() {
        for (text, expected) in
            [("17", 17), ("2GB", 2_000_000_000), ("2gb", 2_000_000_000), ("3 MiB", 3 << 20)]
        {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        for text in ["", "0", "GB", "-1", "1.5GB", "2PB", "99999999999GB"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
