//! Quantities with their sums and differences.

use crate::query::Quantity as ExactQuantity;

/// A quantity, with the form in which apimachinery keeps it: `isInteger` depends on that.
#[derive(Debug, Clone)]
pub(in crate::query::cel) struct Quantity {
    pub(in crate::query::cel) exact: ExactQuantity,
    /// A number and its power of ten, if apimachinery keeps those.
    scaled: Option<(i64, i32)>,
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.exact == other.exact
    }
}

impl Quantity {
    /// Parses a quantity; `None` if the text is none.
    pub(in crate::query::cel) fn parse(text: &str) -> Option<Self> {
        let exact = ExactQuantity::parse(text).ok()?;
        Some(Self { exact, scaled: scaled(text) })
    }

    /// Returns -1, 0 or 1.
    pub(in crate::query::cel) fn sign(&self) -> i64 {
        self.exact.cmp(&ExactQuantity::of_nanos(0)) as i64
    }

    /// Returns the quantity as an integer; `None` if apimachinery does not keep it as one.
    pub(in crate::query::cel) fn integer(&self) -> Option<i64> {
        let (number, power) = self.scaled?;
        number.checked_mul(10_i64.checked_pow(u32::try_from(power).ok()?)?)
    }

    #[expect(clippy::cast_precision_loss, reason = "the result is approximate")]
    pub(in crate::query::cel) fn approximate(&self) -> f64 {
        match (self.scaled, self.exact.as_nanos()) {
            (Some((number, 0)), _) => number as f64,
            (Some((number, power)), _) => number as f64 * 10_f64.powi(power),
            (None, Some(nanos)) => nanos as f64 * 1e-9,
            (None, None) => f64::INFINITY * self.sign() as f64,
        }
    }

    /// Returns the sum with another, or the difference. `None` if it does not fit.
    pub(in crate::query::cel) fn sum(&self, other: &Self, is_negated: bool) -> Option<Self> {
        let sign = if is_negated { -1 } else { 1 };
        let nanos = self.exact.as_nanos()?.checked_add(other.exact.as_nanos()?.checked_mul(sign)?)?;
        let negated = |(number, power): (i64, i32)| {
            Some((if is_negated { number.checked_neg()? } else { number }, power))
        };
        let scaled = self.scaled.zip(other.scaled.and_then(negated)).and_then(|(a, b)| added(a, b));
        Some(Self { exact: ExactQuantity::of_nanos(nanos), scaled })
    }

    /// Returns the quantity of an integer.
    pub(in crate::query::cel) fn of_int(number: i64) -> Self {
        let exact = ExactQuantity::of_nanos(i128::from(number) * 1_000_000_000);
        Self { exact, scaled: Some((number, 0)) }
    }
}

/// Adds as apimachinery does for numbers with powers of ten.
fn added(a: (i64, i32), b: (i64, i32)) -> Option<(i64, i32)> {
    if b.0 == 0 {
        return Some(a);
    }
    if a.0 == 0 {
        return Some(b);
    }
    let power = a.1.min(b.1);
    let at_power =
        |(number, own): (i64, i32)| number.checked_mul(10_i64.checked_pow(u32::try_from(own - power).ok()?)?);
    Some((at_power(a)?.checked_add(at_power(b)?)?, power))
}

/// Returns the power of ten of a decimal suffix, or of an exponent such as `e3`.
fn decimal_exponent(suffix: &str) -> Option<i32> {
    Some(match suffix {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        other => other.get(1..)?.parse().ok()?,
    })
}

/// Returns the number and power of ten of a valid quantity, if apimachinery's fast path accepts it.
fn scaled(text: &str) -> Option<(i64, i32)> {
    let is_negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|char: char| !char.is_ascii_digit()).unwrap_or(unsigned.len());
    let (whole, rest) = unsigned.split_at(end);
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len())),
        None => ("", rest),
    };
    let trimmed = whole.trim_start_matches('0');
    let whole = if trimmed.is_empty() { "0" } else { trimmed };
    let digits = i32::try_from(whole.len() + fraction.len()).ok()?;
    let binary = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].iter().position(|binary| *binary == suffix);
    let (power, mantissa, precision) = if let Some(thousands) = binary {
        if !fraction.is_empty() {
            return None;
        }
        let exponent = 10 * (u32::try_from(thousands).ok()? + 1);
        let own = i32::try_from(exponent * 3 / 10).ok()?;
        (0, 1_i64.checked_shl(exponent)?, 15 - i32::try_from(whole.len()).ok()? - own - 1)
    } else {
        let exponent = decimal_exponent(suffix)?;
        (exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?, 1, 18 - digits)
    };
    if precision < 0 || power < -9 {
        return None;
    }
    let number = format!("{whole}{fraction}").parse::<i64>().ok()?.checked_mul(mantissa)?;
    Some((if is_negative { -number } else { number }, power))
}
