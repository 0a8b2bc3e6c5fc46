//! Decimal numbers of any length, not negative, for quantities.

use std::cmp::Ordering;

/// A number: its digits, without zeros at either end, and the position of the decimal point. Its value is
/// `0.DIGITS × 10^magnitude`; zero has no digits and the magnitude 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    /// Each from 0 to 9, the most significant first.
    digits: Vec<u8>,
    magnitude: i64,
}

impl Decimal {
    /// Returns `WHOLE.FRACTION × 10^exponent` of ASCII digits.
    pub(super) fn new(whole: &str, fraction: &str, exponent: i64) -> Self {
        let digits = whole.bytes().chain(fraction.bytes()).map(|digit| digit.wrapping_sub(b'0')).collect();
        let mut decimal = Self { digits, magnitude: exponent.saturating_add(length(whole.len())) };
        decimal.normalize();
        decimal
    }

    /// Multiplies the number by `2^exponent`; the exponent is at most 60.
    pub(super) fn shift_left(&mut self, exponent: u32) {
        let mut carry: u128 = 0;
        for digit in self.digits.iter_mut().rev() {
            let product = (u128::from(*digit) << exponent) + carry;
            *digit = last_digit(product);
            carry = product / 10;
        }
        let mut leading = Vec::new();
        while carry > 0 {
            leading.push(last_digit(carry));
            carry /= 10;
        }
        self.magnitude = self.magnitude.saturating_add(length(leading.len()));
        self.digits.splice(0..0, leading.into_iter().rev());
        self.normalize();
    }

    /// Rounds the number up to a multiple of `10^exponent`.
    pub(super) fn round_up(&mut self, exponent: i64) {
        let kept = self.magnitude.saturating_sub(exponent);
        if self.digits.is_empty() || kept >= length(self.digits.len()) {
            return;
        }
        // The digits that are cut off are not all zero: the last digit never is.
        self.digits.truncate(usize::try_from(kept).unwrap_or(0));
        while self.digits.last() == Some(&9) {
            self.digits.pop();
        }
        if let Some(last) = self.digits.last_mut() {
            *last += 1;
        } else {
            // From 0.000…4 the lowest position, from 999.4 the position above all digits.
            self.magnitude = self.magnitude.max(exponent) + 1;
            self.digits.push(1);
        }
        self.normalize();
    }

    /// Returns the number times `10^exponent`, if that is a whole number that fits.
    pub(super) fn scaled(&self, exponent: i64) -> Option<i128> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let length = self.magnitude.checked_add(exponent).and_then(|length| usize::try_from(length).ok())?;
        // 2^127 has 39 digits.
        if length > 39 || length < self.digits.len() {
            return None;
        }
        let zeros = std::iter::repeat_n(&0, length - self.digits.len());
        self.digits
            .iter()
            .chain(zeros)
            .try_fold(0_i128, |number, digit| number.checked_mul(10)?.checked_add(i128::from(*digit)))
    }

    fn normalize(&mut self) {
        let significant = self.digits.iter().rposition(|digit| *digit != 0).map_or(0, |last| last + 1);
        self.digits.truncate(significant);
        let zeros = self.digits.iter().take_while(|digit| **digit == 0).count();
        self.digits.drain(..zeros);
        self.magnitude =
            if self.digits.is_empty() { 0 } else { self.magnitude.saturating_sub(length(zeros)) };
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (false, false) => {
                self.magnitude.cmp(&other.magnitude).then_with(|| self.digits.cmp(&other.digits))
            }
            (is_zero, other_is_zero) => other_is_zero.cmp(&is_zero),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn length(digits: usize) -> i64 {
    i64::try_from(digits).unwrap_or(i64::MAX)
}

fn last_digit(number: u128) -> u8 {
    (number % 10) as u8
}
