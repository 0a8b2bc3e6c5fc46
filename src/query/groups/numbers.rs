//! The numbers of a group, from which every aggregate is computed.

use std::collections::BTreeMap;
use std::fmt;

use crate::query::{Notation, Quantity, format_quantity};

/// The largest magnitude of a number in billionths: the sum of 2^31 such numbers fits 128 bits.
const LIMIT: i128 = 1 << 95;

/// The steps to which averages are rounded: a whole number in binary notation, otherwise a thousandth.
const WHOLE: i128 = 1_000_000_000;
const THOUSANDTH: i128 = 1_000_000;

/// A function over the numbers of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aggregate {
    /// The sum.
    Sum,
    /// The sum divided by the number of numbers, rounded to a thousandth; in binary notation, to a whole number.
    Avg,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

impl Aggregate {
    /// Returns its name, such as `sum`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// An exact number with the notation in which it is printed. Ordered by value first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number {
    nanos: i128,
    notation: Notation,
}

impl Number {
    /// Parses a number or a quantity; `None` for any other text, and for numbers beyond about 3.9e19.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // Quantities without digits, such as `k`, are zero; here they are texts.
        if !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (quantity, notation) = Quantity::parse_with_notation(text).ok()?;
        let nanos = quantity.as_nanos().filter(|nanos| nanos.abs() <= LIMIT)?;
        Some(Self { nanos, notation })
    }

    /// Returns its value in billionths.
    #[must_use]
    pub fn nanos(self) -> i128 {
        self.nanos
    }

    /// Returns its text without a suffix.
    #[must_use]
    pub fn plain(self) -> String {
        format_quantity(self.nanos, Notation::Plain)
    }
}

/// Formats the canonical text, as that of a quantity.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_quantity(self.nanos, self.notation))
    }
}

/// The numbers of the objects of a group, at one path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Numbers {
    sum: i128,
    /// The number of numbers in each notation, from the least to the most significant.
    counts: [usize; 3],
    /// The number of occurrences of each value.
    values: BTreeMap<i128, usize>,
}

impl Numbers {
    pub(super) fn add(&mut self, number: Number) {
        self.sum += number.nanos;
        self.counts[number.notation as usize] += 1;
        *self.values.entry(number.nanos).or_default() += 1;
    }

    /// Removes a number that was added before.
    pub(super) fn remove(&mut self, number: Number) {
        self.sum -= number.nanos;
        self.counts[number.notation as usize] -= 1;
        if let Some(count) = self.values.get_mut(&number.nanos) {
            *count -= 1;
            if *count == 0 {
                self.values.remove(&number.nanos);
            }
        }
    }

    /// Returns the result in the most significant notation of the numbers: binary, then decimal, then plain.
    pub(super) fn aggregate(&self, aggregate: Aggregate) -> Option<Number> {
        let [_, decimal, binary] = self.counts;
        let notation = match () {
            () if binary > 0 => Notation::Binary,
            () if decimal > 0 => Notation::Decimal,
            () => Notation::Plain,
        };
        let count = i128::try_from(self.counts.iter().sum::<usize>()).ok().filter(|count| *count > 0)?;
        let nanos = match aggregate {
            Aggregate::Sum => self.sum,
            Aggregate::Avg => {
                let step = if notation == Notation::Binary { WHOLE } else { THOUSANDTH };
                rounded_quotient(self.sum, count * step) * step
            }
            Aggregate::Min => *self.values.first_key_value()?.0,
            Aggregate::Max => *self.values.last_key_value()?.0,
        };
        Some(Number { nanos, notation })
    }
}

/// Divides, rounding half away from zero.
fn rounded_quotient(number: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (number / divisor, number % divisor);
    if rest.abs() >= divisor - rest.abs() { quotient + number.signum() } else { quotient }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(texts: &[&str]) -> Numbers {
        let mut numbers = Numbers::default();
        for text in texts {
            numbers.add(Number::parse(text).expect(text));
        }
        numbers
    }

    #[test]
    fn aggregates_use_the_most_significant_notation() {
        for (texts, sum, avg, min, max) in [
            (&["1", "2"][..], "3", "1.5", "1", "2"),
            (&["1000", "2"], "1002", "501", "2", "1000"),
            (&["250m", "1"], "1250m", "625m", "250m", "1"),
            (&["1Gi", "512Mi", "0"], "1536Mi", "512Mi", "0", "1Gi"),
            (&["1Gi", "134217728"], "1152Mi", "576Mi", "128Mi", "1Gi"),
            (&["1", "1", "0"], "2", "0.667", "0", "1"),
            (&["-1", "-1", "0"], "-2", "-0.667", "-1", "0"),
            (&["1Gi", "1"], "1073741825", "536870913", "1", "1Gi"),
        ] {
            let numbers = numbers(texts);
            let of = |aggregate| numbers.aggregate(aggregate).map(|number| number.to_string());
            let found = [Aggregate::Sum, Aggregate::Avg, Aggregate::Min, Aggregate::Max].map(of);
            assert_eq!(found, [sum, avg, min, max].map(|text| Some(text.to_owned())), "{texts:?}");
        }
        assert_eq!(Numbers::default().aggregate(Aggregate::Sum), None);
    }

    #[test]
    fn removed_numbers_leave_no_trace() {
        let mut left = numbers(&["1Gi", "3", "3"]);
        for text in ["1Gi", "3"] {
            left.remove(Number::parse(text).expect(text));
        }
        assert_eq!(left, numbers(&["3"]));
    }

    #[test]
    fn texts_and_excessive_numbers_are_no_numbers() {
        for text in ["", "a", "k", "-", "true", "1 Gi", "2026-11-25T05:00:00Z", "1e20", "{\"a\":1}", "[1]"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        assert!(Number::parse("-39e18").is_some());
    }

    #[test]
    fn a_sum_of_the_largest_numbers_fits() {
        assert!(i128::from(i32::MAX).checked_mul(LIMIT).is_some());
    }
}
