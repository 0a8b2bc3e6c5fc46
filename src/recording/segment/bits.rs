//! Numbers of any width in bits. Bit `i` is bit `i % 8` of byte `i / 8`, and the lowest bit of a number is the first.

/// The widest number that can be read: eight bytes have it, whichever bit of the first byte it begins with.
pub(super) const MAX_WIDTH: u32 = 56;

/// Returns the eight bytes at a position as a number, with zeros after the end.
#[inline(always)]
pub(super) fn word_at(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// Returns the number of this width, at most [`MAX_WIDTH`], that begins with a bit. Bits after the end are zeros.
#[inline(always)]
pub(super) fn bits_at(bytes: &[u8], bit: usize, width: u32) -> u64 {
    word_at(bytes, bit / 8) >> (bit % 8) & !(u64::MAX << width)
}

/// Appends numbers of any width.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// The number of bits that are written.
    length: usize,
}

impl BitWriter {
    /// Appends the lowest bits of a number, as many as its width.
    pub(super) fn put(&mut self, number: u64, width: u32) {
        (0..width).for_each(|at| self.put_bit(number >> at & 1 == 1));
    }

    /// Appends as many zeros, then a one.
    pub(super) fn put_one_after(&mut self, zeros: usize) {
        self.length += zeros;
        self.put_bit(true);
    }

    fn put_bit(&mut self, is_set: bool) {
        let (byte, bit) = (self.length / 8, self.length % 8);
        self.length += 1;
        self.bytes.resize(byte + 1, 0);
        self.bytes[byte] |= u8::from(is_set) << bit;
    }

    /// Returns the bytes, the last of which is filled up with zeros.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_of_every_width_are_read_back(
            numbers in prop::collection::vec((any::<u64>(), 0..=MAX_WIDTH, 0..20usize), 0..40),
        ) {
            let mut writer = BitWriter::default();
            for (number, width, zeros) in &numbers {
                writer.put(*number, *width);
                writer.put_one_after(*zeros);
            }
            let bytes = writer.into_bytes();
            let mut bit = 0;
            for (number, width, zeros) in &numbers {
                prop_assert_eq!(bits_at(&bytes, bit, *width), number & !(u64::MAX << width));
                bit += *width as usize;
                prop_assert_eq!(word_at(&bytes, bit / 8) >> (bit % 8) & !(u64::MAX << (zeros + 1)), 1 << zeros);
                bit += zeros + 1;
            }
            prop_assert_eq!(bytes.len(), bit.div_ceil(8));
            prop_assert_eq!(bits_at(&bytes, 8 * bytes.len() + bit, MAX_WIDTH), 0);
        }
    }
}
