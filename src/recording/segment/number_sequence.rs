//! A sequence of numbers, any of which can be read without decompression.
//!
//! It begins with the coding, the first number, and the length of the bytes that follow. They have the differences from the first
//! number. All sums are modulo 2⁶⁴, which includes signed numbers.

use super::elias_fano::{self, EliasFano};
use super::grouped_differences::{self, GroupedDifferences};
use crate::recording::bytes::{Cursor, put_number, put_signed, put_text, signed};

/// Appends numbers, at least one, in the coding that takes the fewest bytes.
pub(super) fn put_numbers(out: &mut Vec<u8>, numbers: impl Iterator<Item = u64> + Clone) {
    let first = numbers.clone().next().unwrap_or_default();
    let from_first = numbers.map(|number| number.wrapping_sub(first));
    let (group, length) = grouped_differences::shortest(from_first.clone());
    let last = from_first.clone().last().unwrap_or_default();
    let (low_bits, of_elias_fano) = elias_fano::shortest(from_first.clone().count(), last);
    let (coding, bytes) = if from_first.clone().is_sorted() && of_elias_fano <= length {
        (2 * low_bits, elias_fano::encode(from_first, low_bits))
    } else {
        (2 * group + 1, grouped_differences::encode(from_first, group))
    };
    put_number(out, coding.into());
    put_signed(out, first.cast_signed());
    put_text(out, &bytes);
}

/// Encoded numbers.
#[derive(Debug)]
pub(super) enum NumberSequence<'a> {
    /// Numbers that do not decrease.
    EliasFano { first: u64, rest: EliasFano<'a> },
    /// Numbers in any order.
    Grouped { first: u64, rest: GroupedDifferences<'a> },
    /// The signed differences of older recordings.
    Differences(Cursor<'a>),
}

impl<'a> NumberSequence<'a> {
    /// Takes that many numbers, at least one.
    pub(super) fn take(cursor: &mut Cursor<'a>, count: usize) -> Option<Self> {
        let coding = u32::try_from(cursor.take_number()?).ok()?;
        let first = cursor.take_signed()?.cast_unsigned();
        let bytes = cursor.take_text()?;
        Some(if coding % 2 == 0 {
            Self::EliasFano { first, rest: EliasFano::new(bytes, count, coding / 2)? }
        } else {
            Self::Grouped { first, rest: GroupedDifferences::new(bytes, coding / 2)? }
        })
    }

    /// Takes that many numbers of an older recording.
    pub(super) fn take_differences(cursor: &mut Cursor<'a>, count: usize) -> Option<Self> {
        let numbers = Self::Differences(cursor.clone());
        cursor.skip_numbers(count)?;
        Some(numbers)
    }

    /// Passes the first numbers to `receive`. Returns `None` if there are fewer.
    pub(super) fn all(&self, count: usize, mut receive: impl FnMut(u64)) -> Option<()> {
        let Self::Differences(cursor) = self else { return self.at(0..count, receive) };
        // Eight at a time.
        let mut differences = vec![0; count];
        cursor.clone().take_numbers(&mut differences)?;
        let mut number = 0u64;
        for difference in differences {
            number = number.wrapping_add_signed(signed(difference));
            receive(number);
        }
        Some(())
    }

    /// Passes the numbers at positions, which ascend, to `receive`. Returns `None` if there is no such position.
    pub(super) fn at(
        &self,
        positions: impl Iterator<Item = usize>,
        mut receive: impl FnMut(u64),
    ) -> Option<()> {
        match self {
            Self::EliasFano { first, rest } => {
                rest.at(positions, |number| receive(first.wrapping_add(number)))
            }
            Self::Grouped { first, rest } => rest.at(positions, |number| receive(first.wrapping_add(number))),
            Self::Differences(cursor) => {
                let (mut cursor, mut next, mut sum) = (cursor.clone(), 0, 0);
                for position in positions {
                    sum += cursor.take_sum((position + 1).checked_sub(next)?)?;
                    next = position + 1;
                    receive(u64::try_from(sum.rem_euclid(1 << u64::BITS)).ok()?);
                }
                Some(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encode(numbers: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_numbers(&mut bytes, numbers.iter().copied());
        bytes
    }

    /// Asserts that numbers are read back, all and one by one, and returns the length of the code.
    fn length(numbers: &[u64]) -> usize {
        let mut bytes = encode(numbers);
        let length = bytes.len();
        bytes.extend_from_slice(b"more");
        let mut cursor = Cursor::new(&bytes);
        let sequence = NumberSequence::take(&mut cursor, numbers.len()).expect("a sequence");
        assert_eq!(cursor.len(), 4);
        let mut all = Vec::new();
        assert_eq!(sequence.all(numbers.len(), |number| all.push(number)), Some(()));
        assert_eq!(all, numbers);
        for (position, number) in numbers.iter().enumerate() {
            let mut found = None;
            assert_eq!(sequence.at([position].into_iter(), |number| found = Some(number)), Some(()));
            assert_eq!(found.as_ref(), Some(number), "{position}");
        }
        length
    }

    fn differences(numbers: &[u64]) -> Vec<u8> {
        let (mut bytes, mut previous) = (Vec::new(), 0);
        for number in numbers {
            put_signed(&mut bytes, number.wrapping_sub(previous).cast_signed());
            previous = *number;
        }
        bytes
    }

    /// Numbers that ascend in steps of up to as many bits, after a jump, with some that are lower.
    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let step = (any::<u64>(), 0..64u32, 0..100u32);
        (prop::collection::vec(step, 1..600), 0..64u32, 0..100u32, any::<u64>()).prop_map(
            |(steps, bits, share_of_falls, first)| {
                let mut number = first;
                let next = |(step, shift, fall): (u64, u32, u32)| {
                    let step = step.checked_shr(64 - bits.min(shift)).unwrap_or_default();
                    number = if fall < share_of_falls {
                        number.wrapping_sub(step)
                    } else {
                        number.wrapping_add(step)
                    };
                    number
                };
                steps.into_iter().map(next).collect()
            },
        )
    }

    proptest! {
        #[test]
        fn sequences_are_read_back_and_shorter_than_differences(numbers in numbers()) {
            let plain = differences(&numbers);
            prop_assert!(length(&numbers) <= plain.len() + 4, "{}", plain.len());
            let mut cursor = Cursor::new(&plain);
            let older = NumberSequence::take_differences(&mut cursor, numbers.len()).expect("a sequence");
            prop_assert!(cursor.is_empty());
            let (mut all, mut found) = (Vec::new(), Vec::new());
            prop_assert_eq!(older.all(numbers.len(), |number| all.push(number)), Some(()));
            prop_assert_eq!(older.at((0..numbers.len()).step_by(3), |number| found.push(number)), Some(()));
            prop_assert_eq!(found, numbers.iter().step_by(3).copied().collect::<Vec<_>>());
            prop_assert_eq!(all, numbers);
        }

        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            coding in 0..130u8,
            is_dense in any::<bool>(),
            count in 1..80usize,
        ) {
            let bytes = bytes.into_iter().map(|byte| if is_dense { byte | 0x2a } else { byte });
            let mut text = vec![coding, 1];
            put_text(&mut text, &bytes.collect::<Vec<_>>());
            let Some(sequence) = NumberSequence::take(&mut Cursor::new(&text), count) else { return Ok(()) };
            let mut all = Vec::new();
            if sequence.all(count, |number| all.push(number)).is_none() {
                return Ok(());
            }
            for (position, expected) in all.into_iter().enumerate() {
                let mut found = None;
                prop_assert_eq!(sequence.at([position].into_iter(), |number| found = Some(number)), Some(()));
                prop_assert_eq!(found, Some(expected));
            }
        }
    }

    #[test]
    fn extreme_sequences_are_read_back() {
        assert_eq!(length(&[7]), 3);
        assert_eq!(length(&[u64::MAX]), 3);
        assert_eq!(length(&[1 << 63]), 2 + 10);
        assert_eq!(length(&[0; 512]), 3 + 512 / 8);
        assert!(length(&[0, u64::MAX, 0, 1 << 63, u64::MAX >> 1]) <= 50);
        let jump = |at: usize, to: u64| (0..512).map(move |n| if n < at { n as u64 } else { to + n as u64 });
        for at in [1, 200, 511] {
            for to in [1 << 20, 1 << 40, u64::MAX - 1000] {
                // Differences of two bits, and a jump of at most ten bytes.
                let length = length(&jump(at, to).collect::<Vec<_>>());
                assert!(length < 250, "{at} {to}: {length}");
            }
        }
        let falling: Vec<u64> = (0..512).rev().collect();
        assert!(length(&falling) < 140, "{}", length(&falling));
        let alternating: Vec<u64> = (0..512).map(|n| if n % 2 == 0 { 0 } else { u64::MAX / 2 }).collect();
        assert!(length(&alternating) < 512 * 9);
    }
}
