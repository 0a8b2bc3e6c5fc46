//! Encodes and decodes numbers and texts.

/// Appends a number in groups of seven bits, the lowest first (LEB128).
pub(in crate::recording) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// The bits of eight bytes that say whether another byte of the number follows.
const CONTINUES: u64 = 0x8080_8080_8080_8080;

/// Returns the number at the front of eight bytes, and its length. `None` if it is longer. There is no branch for each
/// length: those of times differ too much to be predicted.
#[inline(always)]
fn number_in(word: u64) -> Option<(u64, usize)> {
    let ends = !word & CONTINUES;
    if ends == 0 {
        return None;
    }
    // The bits up to the first end, then groups of 7, 14 and 28 bits moved together.
    let bits = word & (ends ^ (ends - 1)) & 0x7f7f_7f7f_7f7f_7f7f;
    let bits = bits & 0x007f_007f_007f_007f | (bits & 0x7f00_7f00_7f00_7f00) >> 1;
    let bits = bits & 0x0000_3fff_0000_3fff | (bits & 0x3fff_0000_3fff_0000) >> 2;
    let bits = bits & 0x0fff_ffff | (bits & 0x0fff_ffff_0000_0000) >> 4;
    Some((bits, ends.trailing_zeros() as usize / 8 + 1))
}

/// Appends a signed number in zigzag encoding: numbers near zero take few bytes.
pub(in crate::recording) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_number(out, zigzag(number));
}

/// Returns a signed number in zigzag encoding.
pub(in crate::recording) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

/// Returns the signed number of a number in zigzag encoding.
pub(in crate::recording) fn signed(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// Returns the sum of eight signed numbers of one byte in zigzag encoding.
#[inline(always)]
fn sum_of_bytes(word: u64) -> i64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // The number of an even byte is its half; that of an odd byte is -1 minus its half.
    let (halves, odd) = (word >> 1 & (ONES * 0x7f), word & ONES);
    let total = |bytes: u64| {
        let pairs = (bytes & 0x00ff_00ff_00ff_00ff) + (bytes >> 8 & 0x00ff_00ff_00ff_00ff);
        (pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48).cast_signed()
    };
    total(halves) - 2 * total(halves & (odd * 0xff)) - i64::from(odd.count_ones())
}

/// Appends the length of a text, then its bytes.
pub(in crate::recording) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_number(out, text.len() as u64);
    out.extend_from_slice(text);
}

/// Decodes values from the front of bytes. Every method returns `None` if the bytes hold no such value.
#[derive(Debug, Clone)]
pub(in crate::recording) struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(in crate::recording) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns whether no bytes are left.
    pub(in crate::recording) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the number of bytes that are left.
    pub(in crate::recording) fn len(&self) -> usize {
        self.bytes.len()
    }

    #[inline(always)]
    pub(in crate::recording) fn take_number(&mut self) -> Option<u64> {
        // Most numbers have one byte.
        match self.bytes {
            [byte, rest @ ..] if *byte < 0x80 => {
                self.bytes = rest;
                Some(u64::from(*byte))
            }
            _ => self.take_long_number(),
        }
    }

    fn take_long_number(&mut self) -> Option<u64> {
        if let Some(word) = self.bytes.first_chunk()
            && let Some((number, length)) = number_in(u64::from_le_bytes(*word))
        {
            self.bytes = &self.bytes[length..];
            return Some(number);
        }
        let mut number = 0;
        for (at, byte) in self.bytes.iter().enumerate().take(10) {
            let bits = u64::from(byte & 0x7f);
            if at == 9 && bits > 1 {
                return None;
            }
            number |= bits << (7 * at);
            if *byte < 0x80 {
                self.bytes = &self.bytes[at + 1..];
                return Some(number);
            }
        }
        None
    }

    /// Takes as many numbers as there are places: those of one byte eight at a time.
    pub(in crate::recording) fn take_numbers(&mut self, numbers: &mut [u64]) -> Option<()> {
        let mut at = 0;
        while let Some(word) = self.bytes.first_chunk().map(|word| u64::from_le_bytes(*word))
            && let Some(places) = numbers.get_mut(at..).filter(|places| !places.is_empty())
        {
            if word & CONTINUES == 0
                && let Some(places) = places.first_chunk_mut::<8>()
            {
                for (place, byte) in places.iter_mut().zip(word.to_le_bytes()) {
                    *place = byte.into();
                }
                (at, self.bytes) = (at + 8, &self.bytes[8..]);
            } else {
                let Some((number, length)) = number_in(word) else { break };
                places[0] = number;
                (at, self.bytes) = (at + 1, &self.bytes[length..]);
            }
        }
        for place in &mut numbers[at..] {
            *place = self.take_number()?;
        }
        Some(())
    }

    /// Takes as many signed numbers, and returns their sum.
    pub(in crate::recording) fn take_sum(&mut self, count: usize) -> Option<i128> {
        let (mut sum, mut left) = (0i128, count);
        while left >= 8
            && let Some(word) = self.bytes.first_chunk().map(|word| u64::from_le_bytes(*word))
        {
            let short = (word & CONTINUES).trailing_zeros() / 8;
            if short > 0 {
                // The numbers of one byte up to the first longer one; those after them become zero.
                let after = u64::MAX.checked_shl(8 * short).unwrap_or_default();
                sum += i128::from(sum_of_bytes(word & !after));
                (left, self.bytes) = (left - short as usize, &self.bytes[short as usize..]);
            } else {
                let Some((number, length)) = number_in(word) else { break };
                sum += i128::from(signed(number));
                (left, self.bytes) = (left - 1, &self.bytes[length..]);
            }
        }
        for _ in 0..left {
            sum += i128::from(self.take_signed()?);
        }
        Some(sum)
    }

    /// Skips as many numbers, without a check of their lengths.
    pub(in crate::recording) fn skip_numbers(&mut self, mut count: usize) -> Option<()> {
        while count >= 8
            && let Some(word) = self.bytes.first_chunk().map(|word| u64::from_le_bytes(*word))
        {
            // Eight bytes have at most eight ends.
            count -= (!word & CONTINUES).count_ones() as usize;
            self.bytes = &self.bytes[8..];
        }
        for _ in 0..count {
            let end = self.bytes.iter().position(|byte| *byte < 0x80)?;
            self.bytes = &self.bytes[end + 1..];
        }
        Some(())
    }

    pub(in crate::recording) fn take_signed(&mut self) -> Option<i64> {
        self.take_number().map(signed)
    }

    #[inline(always)]
    pub(in crate::recording) fn take_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    #[inline(always)]
    pub(in crate::recording) fn take_text(&mut self) -> Option<&'a [u8]> {
        let length = self.take_number()?;
        self.take_bytes(usize::try_from(length).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_of_every_length_are_read_back(
            numbers in prop::collection::vec((any::<u64>(), 0..64u32), 0..40),
            rest in prop::collection::vec(any::<u8>(), 0..12),
        ) {
            let mut bytes = Vec::new();
            let numbers: Vec<u64> = numbers.iter().map(|(number, shift)| number >> shift).collect();
            for number in &numbers {
                put_number(&mut bytes, *number);
            }
            let length = bytes.len();
            bytes.extend_from_slice(&rest);
            let mut cursor = Cursor::new(&bytes);
            for number in &numbers {
                prop_assert_eq!(cursor.take_number(), Some(*number));
            }
            prop_assert_eq!(cursor.len(), bytes.len() - length);
            let (mut cursor, mut taken) = (Cursor::new(&bytes), vec![0; numbers.len()]);
            prop_assert_eq!(cursor.take_numbers(&mut taken), Some(()));
            prop_assert_eq!((&taken, cursor.len()), (&numbers, bytes.len() - length));
            let sum = numbers.iter().map(|number| i128::from(signed(*number))).sum();
            let mut cursor = Cursor::new(&bytes);
            prop_assert_eq!(cursor.take_sum(numbers.len()), Some(sum));
            prop_assert_eq!(cursor.len(), bytes.len() - length);
            for skipped in 0..=numbers.len() {
                let mut cursor = Cursor::new(&bytes);
                prop_assert_eq!(cursor.skip_numbers(skipped), Some(()));
                let next = numbers.get(skipped).copied();
                prop_assert!(next.is_none_or(|next| cursor.take_number() == Some(next)), "{skipped}");
            }
        }

        #[test]
        fn incomplete_and_long_numbers_are_refused(bytes in prop::collection::vec(0x7eu8..0x82, 0..24), count in 0..24usize) {
            let one_by_one = |cursor: &mut Cursor<'_>| (0..count).map(|_| cursor.take_number()).collect::<Option<Vec<_>>>();
            let expected = one_by_one(&mut Cursor::new(&bytes));
            let mut taken = vec![0; count];
            let all = Cursor::new(&bytes).take_numbers(&mut taken);
            prop_assert_eq!(all.map(|()| taken), expected);
        }
    }
}
