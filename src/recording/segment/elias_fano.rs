//! The Elias-Fano coding of numbers that do not decrease: each takes about two bits and its low bits, and can be read without
//! the others.
//!
//! The low bits of all numbers are stored one after the other. The rests do not decrease either and are stored in unary: bit
//! `i + r` is set for the number at position `i` with the rest `r`.

use super::bits::{BitWriter, MAX_WIDTH, bits_at, word_at};

const WORD: usize = u64::BITS as usize;

/// Returns the number of low bits with which that many numbers up to `last` take the fewest bytes, and their length.
pub(super) fn shortest(count: usize, last: u64) -> (u32, u64) {
    let length = |low_bits: u32| {
        let low = (count as u64 * u64::from(low_bits)).div_ceil(8);
        low + (last >> low_bits).saturating_add(count as u64).div_ceil(8)
    };
    let lengths = (0..=MAX_WIDTH).map(|low_bits| (low_bits, length(low_bits)));
    lengths.min_by_key(|(_, length)| *length).unwrap_or((MAX_WIDTH, u64::MAX))
}

/// Returns the bytes of numbers that do not decrease, with as many low bits.
pub(super) fn encode(numbers: impl Iterator<Item = u64> + Clone, low_bits: u32) -> Vec<u8> {
    let (mut low, mut high) = (BitWriter::default(), BitWriter::default());
    let mut previous = 0;
    for number in numbers {
        low.put(number, low_bits);
        let rest = number >> low_bits;
        high.put_one_after(usize::try_from(rest - previous).unwrap_or(usize::MAX));
        previous = rest;
    }
    let mut bytes = low.into_bytes();
    bytes.extend_from_slice(&high.into_bytes());
    bytes
}

/// Encoded numbers.
#[derive(Debug)]
pub(super) struct EliasFano<'a> {
    low_bits: u32,
    low: &'a [u8],
    high: &'a [u8],
}

impl<'a> EliasFano<'a> {
    /// Returns the numbers in these bytes. `None` if there are not as many.
    pub(super) fn new(bytes: &'a [u8], count: usize, low_bits: u32) -> Option<Self> {
        if low_bits > MAX_WIDTH {
            return None;
        }
        let length = count.checked_mul(low_bits as usize)?.div_ceil(8);
        let (low, high) = bytes.split_at_checked(length)?;
        let ones: usize = words(high).map(|word| word.count_ones() as usize).sum();
        (ones == count).then_some(Self { low_bits, low, high })
    }

    /// Passes the numbers at positions, which ascend, to `receive`. Returns `None` if there is no such position.
    pub(super) fn at(
        &self,
        positions: impl Iterator<Item = usize>,
        mut receive: impl FnMut(u64),
    ) -> Option<()> {
        let mut words = words(self.high);
        // The set bits of the word are those of the numbers from `next` on.
        let (mut word, mut start, mut next) = (words.next()?, 0, 0);
        for position in positions {
            let mut skipped = position.checked_sub(next)?;
            while skipped >= word.count_ones() as usize {
                skipped -= word.count_ones() as usize;
                word = words.next()?;
                start += WORD;
            }
            for _ in 0..skipped {
                word &= word - 1;
            }
            next = position;
            let rest = start + word.trailing_zeros() as usize - position;
            let low = bits_at(self.low, position * self.low_bits as usize, self.low_bits);
            receive((rest as u64) << self.low_bits | low);
        }
        Some(())
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    (0..bytes.len()).step_by(WORD / 8).map(|at| word_at(bytes, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_with_another_number_of_set_bits_are_refused() {
        let numbers = [0, 3, 3, 900, 901];
        let (low_bits, length) = shortest(numbers.len(), 901);
        let bytes = encode(numbers.into_iter(), low_bits);
        assert_eq!((low_bits, bytes.len() as u64), (8, length));
        for count in 0..8 {
            assert_eq!(EliasFano::new(&bytes, count, low_bits).is_some(), count == 5, "{count}");
        }
        for low_bits in [MAX_WIDTH + 1, 64, u32::MAX] {
            assert!(EliasFano::new(&[0xff; 1000], 5, low_bits).is_none());
        }
        assert!(EliasFano::new(&[], usize::MAX, 7).is_none());
        let all = EliasFano::new(&bytes, 5, low_bits).expect("numbers");
        for positions in [&[5][..], &[2, 1], &[0, 4, 5]] {
            assert_eq!(all.at(positions.iter().copied(), drop), None, "{positions:?}");
        }
    }

    #[test]
    fn a_crafted_rest_causes_no_panic() {
        let mut bytes = vec![0; 1 << 16];
        bytes[(1 << 16) - 1] = 0x80;
        let number = EliasFano::new(&bytes, 1, MAX_WIDTH).expect("a number");
        assert_eq!(number.at(0..1, drop), Some(()));
    }
}
