//! JSON text 64 bytes at a time: the bytes are not looked at one by one, each question (which of these are quotes?) is
//! asked of 16 at once, and the answers are words of 64 bits.

use wide::u8x16;

/// Bytes looked at together, one bit of a word each.
pub(crate) const BLOCK: usize = u64::BITS as usize;

/// For each question a word: the bits of the bytes that are what is asked for.
#[inline]
pub(crate) fn masks<const N: usize>(
    block: &[u8; BLOCK],
    questions: impl Fn(u8x16) -> [(u8x16, u8); N],
) -> [u64; N] {
    let mut masks = [0; N];
    for (number, bytes) in block.as_chunks::<16>().0.iter().enumerate() {
        for (mask, (bytes, wanted)) in masks.iter_mut().zip(questions(u8x16::new(*bytes))) {
            *mask |= u64::from(bytes.simd_eq(u8x16::splat(wanted)).to_bitmask()) << (16 * number);
        }
    }
    masks
}

/// What of the blocks before reaches into the next one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Strings {
    /// All bits where the next block begins inside a string, else none.
    within: u64,
    /// Whether its first byte is escaped.
    escapes: bool,
}

impl Strings {
    /// The bytes of a block that are inside strings, of a string's two quotes the first.
    #[inline]
    pub(crate) fn inside(&mut self, mut quotes: u64, backslashes: u64) -> u64 {
        if backslashes != 0 || self.escapes {
            quotes &= !self.escaped(backslashes);
        }
        // Each quote turns over all bits from its own on: afterwards a bit says whether an odd number came so far.
        for shift in [1, 2, 4, 8, 16, 32] {
            quotes ^= quotes << shift;
        }
        let inside = quotes ^ self.within;
        self.within = (inside >> (BLOCK - 1)).wrapping_neg();
        inside
    }

    /// The bytes that a backslash stands before which is not escaped itself.
    fn escaped(&mut self, backslashes: u64) -> u64 {
        let mut escaped = u64::from(std::mem::take(&mut self.escapes));
        let mut left = backslashes & !escaped;
        while left != 0 {
            let backslash = left & left.wrapping_neg();
            let next = backslash << 1;
            self.escapes |= next == 0;
            escaped |= next;
            left &= !(backslash | next);
        }
        escaped
    }

    /// These bytes, too few for a block, as the end of one, behind spaces: what follows them is the next block, as
    /// always. Where the first is escaped, the backslash stands before it again.
    #[cfg(feature = "api")]
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
