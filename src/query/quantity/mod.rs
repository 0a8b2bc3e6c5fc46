//! Kubernetes quantities such as `100m`, `1.5Gi` and `2e3`: exact values, compared as apimachinery's
//! `resource.Quantity` compares them.

mod decimal;
mod notation;

#[cfg(test)]
mod tests;

pub use notation::{Notation, format_quantity};

use std::cmp::Ordering;
use std::str::FromStr;

use decimal::Decimal;
use notation::NANOS;

/// The exponent of ten of the finest step.
const NANO_EXPONENT: i64 = -9;

/// An exact number, parsed from the text of a quantity.
///
/// The rules are those of `resource.ParseQuantity`:
/// - The suffixes are `n`, `u`, `m`, none, `k`, `M`, `G`, `T`, `P`, `E` (powers of ten), `Ki`, `Mi`, `Gi`, `Ti`, `Pi`, `Ei`
///   (powers of 1024), and `e` or `E` with an exponent of ten.
/// - A value finer than a billionth is rounded away from zero to a billionth.
/// - A value with a power of 1024 is at most 2^63-1 in magnitude. Other values have no limit.
/// - The digits may be missing: `k`, `-` and `.` are zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity(Amount);

/// The value. Each value has one representation, so that equal values are equal structures.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Amount {
    /// In billionths.
    Nanos(i128),
    /// A value whose billionths do not fit 128 bits.
    Large { is_negative: bool, magnitude: Box<Decimal> },
}

/// A text that is no quantity. The messages are apimachinery's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantityError {
    /// The text is empty or has a character at a position where none may be.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    /// The number has no digits, and its suffix needs some.
    #[error("unable to parse numeric part of quantity")]
    Number,
    /// The suffix is unknown.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

impl Quantity {
    /// Parses a quantity, exactly and without a limit on its exponent.
    ///
    /// # Errors
    ///
    /// The text is no quantity.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        Ok(Self::parse_with_notation(text)?.0)
    }

    /// Parses a quantity, and returns the notation of its text.
    ///
    /// # Errors
    ///
    /// As [`Quantity::parse`].
    pub fn parse_with_notation(text: &str) -> Result<(Self, Notation), QuantityError> {
        let parts = Parts::split(text)?;
        let scale = Scale::parse(parts.suffix).ok_or(QuantityError::Suffix)?;
        let notation = match scale {
            Scale::Two(_) => Notation::Binary,
            Scale::Ten(_) if parts.suffix.is_empty() => Notation::Plain,
            Scale::Ten(_) => Notation::Decimal,
        };
        Ok((Self::of_parts(&parts, scale)?, notation))
    }

    fn of_parts(parts: &Parts<'_>, scale: Scale) -> Result<Self, QuantityError> {
        if parts.whole.is_empty() && parts.fraction.is_empty() {
            return if scale.needs_digits() {
                Err(QuantityError::Number)
            } else {
                Ok(Self(Amount::Nanos(0)))
            };
        }
        let (mut magnitude, is_binary) = match scale {
            Scale::Ten(exponent) => (Decimal::new(parts.whole, parts.fraction, exponent.into()), false),
            Scale::Two(exponent) => {
                let mut magnitude = Decimal::new(parts.whole, parts.fraction, 0);
                magnitude.shift_left(exponent);
                (magnitude, true)
            }
        };
        magnitude.round_up(NANO_EXPONENT);
        let limit = i128::from(i64::MAX) * NANOS;
        let nanos = match magnitude.scaled(-NANO_EXPONENT) {
            Some(nanos) if is_binary => nanos.min(limit),
            Some(nanos) => nanos,
            None if is_binary => limit,
            None => {
                let magnitude = Box::new(magnitude);
                return Ok(Self(Amount::Large { is_negative: parts.is_negative, magnitude }));
            }
        };
        Ok(Self(Amount::Nanos(if parts.is_negative { -nanos } else { nanos })))
    }

    /// Returns the quantity of this many billionths.
    #[cfg(feature = "cel")]
    pub(in crate::query) fn of_nanos(nanos: i128) -> Self {
        Self(Amount::Nanos(nanos))
    }

    /// Returns the value in billionths, unless that is beyond 128 bits.
    #[must_use]
    pub fn as_nanos(&self) -> Option<i128> {
        match self.0 {
            Amount::Nanos(nanos) => Some(nanos),
            Amount::Large { .. } => None,
        }
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text)
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |is_negative: bool| if is_negative { Ordering::Less } else { Ordering::Greater };
        match (&self.0, &other.0) {
            (Amount::Nanos(a), Amount::Nanos(b)) => a.cmp(b),
            // A large value is beyond all that fit 128 bits.
            (Amount::Large { is_negative, .. }, Amount::Nanos(_)) => sign(*is_negative),
            (Amount::Nanos(_), Amount::Large { is_negative, .. }) => sign(!*is_negative),
            (
                Amount::Large { is_negative: a_is_negative, magnitude: a },
                Amount::Large { is_negative: b_is_negative, magnitude: b },
            ) => match (a_is_negative, b_is_negative) {
                (false, false) => a.cmp(b),
                (true, true) => b.cmp(a),
                (a_is_negative, _) => sign(*a_is_negative),
            },
        }
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The text of a quantity, split as `[+-]? digits* (. digits*)? suffix`.
struct Parts<'a> {
    is_negative: bool,
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

impl<'a> Parts<'a> {
    /// Splits the text. The suffix is letters of the known suffixes, then a sign, then digits, each of them optional.
    fn split(text: &'a str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (whole, rest) = split_digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        let number = suffix.trim_start_matches(['e', 'E', 'i', 'n', 'u', 'm', 'k', 'K', 'M', 'G', 'T', 'P']);
        let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(QuantityError::Format);
        }
        Ok(Self { is_negative: text.starts_with('-'), whole, fraction, suffix })
    }
}

/// Splits the text after its leading digits.
fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// The factor of a suffix.
#[derive(Clone, Copy)]
enum Scale {
    /// A power of ten.
    Ten(i32),
    /// A power of two.
    Two(u32),
}

impl Scale {
    fn parse(suffix: &str) -> Option<Self> {
        Some(match suffix {
            "n" => Self::Ten(-9),
            "u" => Self::Ten(-6),
            "m" => Self::Ten(-3),
            "" => Self::Ten(0),
            "k" => Self::Ten(3),
            "M" => Self::Ten(6),
            "G" => Self::Ten(9),
            "T" => Self::Ten(12),
            "P" => Self::Ten(15),
            "E" => Self::Ten(18),
            "Ki" => Self::Two(10),
            "Mi" => Self::Two(20),
            "Gi" => Self::Two(30),
            "Ti" => Self::Two(40),
            "Pi" => Self::Two(50),
            "Ei" => Self::Two(60),
            _ => {
                let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
                #[expect(clippy::cast_possible_truncation, reason = "apimachinery keeps the lower 32 bits")]
                Self::Ten(exponent as i32)
            }
        })
    }

    /// Whether a number without digits is an error: apimachinery takes the slow path for such suffixes, which needs
    /// digits; its fast path reads no digits as zero.
    fn needs_digits(self) -> bool {
        match self {
            Self::Ten(exponent) => i64::from(exponent) < NANO_EXPONENT,
            Self::Two(exponent) => exponent >= 50,
        }
    }
}
