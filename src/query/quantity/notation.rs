//! The notations of quantities, and the canonical text of a value in each.

/// The number of billionths in a unit, the finest step of a quantity.
pub(super) const NANOS: i128 = 1_000_000_000;

/// The suffixes of decimal notation, for the exponents -9, -6 and so on.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];

/// The suffixes of binary notation, for the powers of 1024.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The notation of a quantity's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Notation {
    /// A number without a suffix, such as `1500` and `0.5`.
    #[default]
    Plain,
    /// A suffix for a power of ten, such as `1500m` and `3k`.
    Decimal,
    /// A suffix for a power of 1024, such as `2Gi`.
    Binary,
}

/// Formats a value, given in billionths. The text with a suffix is apimachinery's canonical form: a whole number with the
/// largest suffix that needs no fraction. Below 1024, and with a fraction, binary notation is decimal.
///
/// ```
/// use kdelta::query::{Notation, format_quantity};
///
/// let units = 1_000_000_000;
/// assert_eq!(format_quantity(1536 * 1024 * units, Notation::Binary), "1536Ki");
/// assert_eq!(format_quantity(1500 * units / 1000, Notation::Decimal), "1500m");
/// assert_eq!(format_quantity(1500 * units / 1000, Notation::Plain), "1.5");
/// ```
#[must_use]
pub fn format_quantity(nanos: i128, notation: Notation) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let magnitude = nanos.unsigned_abs();
    let (units, fraction) = (magnitude / NANOS.unsigned_abs(), magnitude % NANOS.unsigned_abs());
    match notation {
        Notation::Plain if fraction == 0 => format!("{sign}{units}"),
        Notation::Plain => {
            let digits = format!("{fraction:09}");
            format!("{sign}{units}.{}", digits.trim_end_matches('0'))
        }
        Notation::Binary if fraction == 0 && units >= 1024 => with_suffix(sign, units, 1024, &BINARY),
        Notation::Decimal | Notation::Binary if magnitude == 0 => "0".to_owned(),
        Notation::Decimal | Notation::Binary => with_suffix(sign, magnitude, 1000, &DECIMAL),
    }
}

/// Divides the number by `base` while that leaves a whole number and there is a suffix for it.
fn with_suffix(sign: &str, mut number: u128, base: u128, suffixes: &[&str]) -> String {
    let mut suffixes = suffixes.iter();
    let mut suffix = suffixes.next().copied().unwrap_or_default();
    while number.is_multiple_of(base)
        && let Some(next) = suffixes.next()
    {
        number /= base;
        suffix = next;
    }
    format!("{sign}{number}{suffix}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query::Quantity;

    /// Returns the canonical text of a quantity.
    fn canonical(text: &str) -> String {
        let (quantity, notation) = Quantity::parse_with_notation(text).expect(text);
        format_quantity(quantity.as_nanos().expect(text), notation)
    }

    #[test]
    fn canonical_text_is_apimachinerys() {
        // The cases of TestQuantityString and TestQuantityParseEmit, but for numbers without a suffix.
        for (text, expected) in [
            ("1.23Gi", "1320702443520m"),
            (".001Ki", "1024m"),
            (".000000000001Ki", "2n"),
            ("1024Ki", "1Mi"),
            ("1000k", "1M"),
            ("1Ki", "1Ki"),
            ("0.5Gi", "512Mi"),
            ("1023Mi", "1023Mi"),
            ("1Mi", "1Mi"),
            ("0.5Ki", "512"),
            ("0.001k", "1"),
            ("1000000k", "1G"),
            ("1e9", "1G"),
            ("80m", "80m"),
            ("1080m", "1080m"),
            ("1000m", "1"),
            ("3000000n", "3m"),
            ("-5Gi", "-5Gi"),
            ("-1500m", "-1500m"),
            ("0Gi", "0"),
            ("0m", "0"),
            ("12", "12"),
            ("1000", "1000"),
            ("1.50", "1.5"),
            ("-0.25", "-0.25"),
            ("0", "0"),
        ] {
            assert_eq!(canonical(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn canonical_text_has_the_same_value(nanos in -(1_i128 << 90)..(1_i128 << 90), shift in 0..12_u32) {
            for nanos in [nanos, nanos >> (4 * shift), nanos / NANOS * NANOS, (nanos >> 60) * 1024 * NANOS] {
                for notation in [Notation::Plain, Notation::Decimal, Notation::Binary] {
                    let text = format_quantity(nanos, notation);
                    let is_capped = notation == Notation::Binary && nanos.abs() > i128::from(i64::MAX) * NANOS;
                    if !is_capped {
                        prop_assert_eq!(Quantity::parse(&text).expect(&text).as_nanos(), Some(nanos), "{}", text);
                    }
                }
            }
        }
    }
}
