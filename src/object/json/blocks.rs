//! Bit masks over JSON text, 64 bytes at a time: each test (such as "is this byte a quote?") runs on 16 bytes at once
//! and yields words of 64 bits.

use wide::u8x16;

/// Bytes per block, one bit of a word each.
pub(crate) const BLOCK: usize = u64::BITS as usize;

/// Returns the bits of the bytes that equal `expected` after they were mapped.
///
/// It has no loops: a program that is optimized for size would keep them, and with them the vectors in memory.
#[inline(always)]
pub(crate) fn mask(block: &[u8; BLOCK], expected: u8, map: impl Fn(u8x16) -> u8x16) -> u64 {
    let [one, two, three, four] = block.as_chunks::<16>().0 else { return 0 };
    let expected = u8x16::splat(expected);
    let low = map(u8x16::new(*one)).simd_eq(expected).to_bitmask()
        | map(u8x16::new(*two)).simd_eq(expected).to_bitmask() << 16;
    let high = map(u8x16::new(*three)).simd_eq(expected).to_bitmask()
        | map(u8x16::new(*four)).simd_eq(expected).to_bitmask() << 16;
    u64::from(low) | u64::from(high) << 32
}

/// Pads fewer bytes than a block with spaces at the end.
pub(crate) fn padded(bytes: &[u8]) -> [u8; BLOCK] {
    let mut block = [b' '; BLOCK];
    block[..bytes.len()].copy_from_slice(bytes);
    block
}

/// String state that carries over from one block to the next.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Strings {
    /// All bits set if the next block begins inside a string, else zero.
    within: u64,
    /// Whether the first byte of the next block is escaped.
    escapes: bool,
}

impl Strings {
    /// Returns the mask of bytes inside strings, which includes opening but not closing quotes.
    #[inline(always)]
    pub(crate) fn inside(&mut self, mut quotes: u64, backslashes: u64) -> u64 {
        if backslashes != 0 || self.escapes {
            quotes &= !self.escaped(backslashes);
        }
        // Each quote toggles all bits from its own on: afterwards a set bit means an odd number of quotes so far.
        quotes ^= quotes << 1;
        quotes ^= quotes << 2;
        quotes ^= quotes << 4;
        quotes ^= quotes << 8;
        quotes ^= quotes << 16;
        quotes ^= quotes << 32;
        let inside = quotes ^ self.within;
        self.within = (inside >> (BLOCK - 1)).wrapping_neg();
        inside
    }

    /// Returns the mask of escaped bytes: those after a backslash that is not itself escaped.
    #[inline]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        const ODD: u64 = u64::MAX / 3 * 2;
        let first = u64::from(self.escapes);
        let runs = backslashes & !first;
        // The difference carries through a run of backslashes to its end: a run that begins at an even position becomes
        // all ones, one at an odd position all zeros. XOR with the odd positions leaves every other backslash from the
        // first on, which are the escaping ones, and the byte after the run if its last backslash escapes it.
        let every_other = (runs << 1 | ODD).wrapping_sub(runs) ^ ODD;
        self.escapes = (every_other & runs) >> (BLOCK - 1) == 1;
        every_other ^ (backslashes | first)
    }

    /// Pads fewer bytes than a block with spaces at the front, so that the next block follows them directly. If the
    /// first byte is escaped, its backslash is put before it again.
    #[cfg(any(feature = "api", feature = "demo"))]
    pub(crate) fn short_block(&mut self, bytes: &[u8]) -> [u8; BLOCK] {
        let mut block = [b' '; BLOCK];
        let (before, end) = block.split_at_mut(BLOCK - bytes.len());
        end.copy_from_slice(bytes);
        if let Some(last) = before.last_mut()
            && std::mem::take(&mut self.escapes)
        {
            *last = b'\\';
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_backslash_escapes_the_next_byte_unless_escaped(
            blocks in proptest::collection::vec((any::<u64>(), any::<u64>()), 1..6),
            many: bool,
        ) {
            let (mut strings, mut escapes) = (Strings::default(), false);
            for (one, other) in blocks {
                let backslashes = if many { one | other } else { one & other };
                let mut expected = 0;
                for at in 0..BLOCK {
                    expected |= u64::from(escapes) << at;
                    escapes = !escapes && backslashes >> at & 1 == 1;
                }
                prop_assert_eq!(strings.escaped(backslashes), expected, "{:b}", backslashes);
            }
        }
    }

    #[test]
    fn runs_of_backslashes_may_be_as_long_as_blocks() {
        let mut strings = Strings::default();
        for (backslashes, expected) in
            [(u64::MAX << 1, 0x5555_5555_5555_5554), (u64::MAX, 0x5555_5555_5555_5555), (1, 1), (0, 0)]
        {
            assert_eq!(strings.escaped(backslashes), expected);
        }
    }
}
