//! A coding of numbers in any order: signed differences in groups of bits, the last of which is marked.
//!
//! It is that of [`put_signed`](crate::recording::bytes::put_signed), with groups of a width that is selected for these numbers.

use super::bits::{BitWriter, bits_at};
use crate::recording::bytes::{signed, zigzag};

/// The widest group: with it, most numbers have one group.
pub(super) const MAX_GROUP: u32 = 32;

/// Returns the width of groups with which these numbers take the fewest bytes, and their length.
pub(super) fn shortest(numbers: impl Iterator<Item = u64>) -> (u32, u64) {
    // The numbers of differences with as many bits.
    let mut counts = [0; u64::BITS as usize + 1];
    differences(numbers)
        .for_each(|number| counts[number.checked_ilog2().map_or(1, |log| log as usize + 1)] += 1);
    let length = |group: u32| {
        let groups: u64 =
            (0u32..).zip(&counts).map(|(bits, count)| u64::from(bits.div_ceil(group)) * count).sum();
        (groups * u64::from(group + 1)).div_ceil(8)
    };
    let lengths = (1..=MAX_GROUP).map(|group| (group, length(group)));
    lengths.min_by_key(|(_, length)| *length).unwrap_or((MAX_GROUP, u64::MAX))
}

/// Returns the bytes of numbers, the first of which is 0, in groups of this width.
pub(super) fn encode(numbers: impl Iterator<Item = u64>, group: u32) -> Vec<u8> {
    let mut bits = BitWriter::default();
    for mut number in differences(numbers) {
        while number >> group > 0 {
            bits.put(number, group);
            bits.put(1, 1);
            number >>= group;
        }
        bits.put(number, group + 1);
    }
    bits.into_bytes()
}

/// Returns the differences between numbers in zigzag encoding.
fn differences(numbers: impl Iterator<Item = u64>) -> impl Iterator<Item = u64> {
    let mut previous = None;
    numbers.filter_map(move |number| {
        let before = previous.replace(number)?;
        Some(zigzag(number.wrapping_sub(before).cast_signed()))
    })
}

/// Encoded numbers.
#[derive(Debug)]
pub(super) struct GroupedDifferences<'a> {
    group: u32,
    bytes: &'a [u8],
}

impl<'a> GroupedDifferences<'a> {
    /// Returns the numbers in these bytes. `None` if the width of the groups is invalid.
    pub(super) fn new(bytes: &'a [u8], group: u32) -> Option<Self> {
        (1..=MAX_GROUP).contains(&group).then_some(Self { group, bytes })
    }

    /// Passes the numbers at positions, which ascend, to `receive`. Returns `None` if there is no such position.
    pub(super) fn at(
        &self,
        positions: impl Iterator<Item = usize>,
        mut receive: impl FnMut(u64),
    ) -> Option<()> {
        let (mut bit, mut next, mut number) = (0, 0, 0u64);
        for position in positions {
            for _ in 0..position.checked_sub(next)? {
                number = number.wrapping_add_signed(signed(self.take(&mut bit)?));
            }
            next = position;
            receive(number);
        }
        Some(())
    }

    /// Takes the number whose groups begin with a bit.
    #[inline(always)]
    fn take(&self, bit: &mut usize) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let end = *bit + self.group as usize + 1;
            if end > 8 * self.bytes.len() {
                return None;
            }
            let group = bits_at(self.bytes, *bit, self.group + 1);
            *bit = end;
            let value = group & !(u64::MAX << self.group);
            if shift >= u64::BITS || value << shift >> shift != value {
                return None;
            }
            number |= value << shift;
            if group == value {
                return Some(number);
            }
            shift += self.group;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_and_long_numbers_are_refused() {
        for group in 1..=MAX_GROUP {
            let endless = [0xff; 100];
            let numbers = GroupedDifferences::new(&endless, group).expect("numbers");
            assert_eq!(numbers.at([0].into_iter(), drop), Some(()));
            assert_eq!(numbers.at([1].into_iter(), drop), None, "{group}");
        }
        let bytes = encode([0, 500, 200].into_iter(), 4);
        let numbers = GroupedDifferences::new(&bytes, 4).expect("numbers");
        assert_eq!(numbers.at(0..3, drop), Some(()));
        assert_eq!(numbers.at(0..20, drop), None);
        let cut = GroupedDifferences::new(&bytes[..1], 4).expect("numbers");
        assert_eq!(cut.at(0..2, drop), None);
        assert!(
            [0, MAX_GROUP + 1, u32::MAX]
                .iter()
                .all(|group| GroupedDifferences::new(&bytes, *group).is_none())
        );
    }
}
