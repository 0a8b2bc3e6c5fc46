//! Vectorized comparison and search of bytes.

use wide::u8x16;

/// The longest difference that [`differing_len`] finds: a SHA-256 hash and some bytes before it.
const MAX_DIFFERENCE: usize = 80;

/// Loads the 16 bytes at a position, padded with zeros at the end of the text.
#[inline(always)]
pub(super) fn load(text: &[u8], at: usize) -> u8x16 {
    let rest = &text[at..];
    match rest.first_chunk() {
        Some(block) => u8x16::new(*block),
        None => padded(rest),
    }
}

#[cold]
#[inline(never)]
fn padded(rest: &[u8]) -> u8x16 {
    let mut block = [0; 16];
    block[..rest.len()].copy_from_slice(rest);
    u8x16::new(block)
}

/// Compares 32 bytes of both texts. Returns one bit per equal byte; bytes beyond the end of either count as different.
#[inline(always)]
fn equal_bits(one: &[u8], other: &[u8], at: usize) -> u32 {
    let (Some(one), Some(other)) = (one.get(at..), other.get(at..)) else { return 0 };
    let (Some(blocks), Some(others)) = (one.first_chunk::<32>(), other.first_chunk::<32>()) else {
        return equal_bits_at_end(one, other);
    };
    let same = |at: usize| load(blocks, at).simd_eq(load(others, at)).to_bitmask();
    same(0) | same(16) << 16
}

#[cold]
#[inline(never)]
fn equal_bits_at_end(one: &[u8], other: &[u8]) -> u32 {
    let bits = one.iter().zip(other).take(32).enumerate();
    bits.fold(0, |bits, (at, (one, other))| bits | u32::from(one == other) << at)
}

/// Returns the length of the common prefix.
pub(super) fn common_prefix_len(one: &[u8], other: &[u8]) -> usize {
    let mut count = 0;
    loop {
        let different = !equal_bits(one, other, count);
        if different != 0 {
            return count + different.trailing_zeros() as usize;
        }
        count += 32;
    }
}

/// Returns the number of bytes before the first run of eight equal ones, or `None` if it exceeds [`MAX_DIFFERENCE`].
/// The first bytes must differ.
pub(super) fn differing_len(one: &[u8], other: &[u8]) -> Option<usize> {
    // The low seven bits belong to the previous block, so that a run that common there is found.
    let mut bits = 0u64;
    for at in (0..MAX_DIFFERENCE + 8).step_by(32) {
        bits = bits >> 32 | u64::from(equal_bits(one, other, at)) << 7;
        let mut runs = bits;
        for shift in [1, 2, 4] {
            runs &= runs >> shift;
        }
        if runs != 0 {
            return Some(at + runs.trailing_zeros() as usize - 7).filter(|count| *count <= MAX_DIFFERENCE);
        }
    }
    None
}

/// Returns the first position of these eight bytes within the first 64 of a text.
pub(super) fn find_nearby(text: &[u8], needle: [u8; 8]) -> Option<usize> {
    let Some(window) = text.first_chunk::<64>() else {
        return text.windows(8).position(|bytes| *bytes == needle);
    };
    let positions = |byte: u8| {
        (0..64).step_by(16).fold(0, |bits, at| {
            bits | u64::from(load(window, at).simd_eq(u8x16::splat(byte)).to_bitmask()) << at
        })
    };
    // Three of the bytes rule out nearly all positions.
    let mut likely = positions(needle[0]) & positions(needle[3]) >> 3 & positions(needle[6]) >> 6;
    while likely != 0 {
        let at = likely.trailing_zeros() as usize;
        if window[at..].starts_with(&needle) {
            return Some(at);
        }
        likely &= likely - 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn vectorized_comparison_matches_bytewise_comparison(
            one in vec(0..3u8, 0..200),
            changes in vec((any::<prop::sample::Index>(), 3..5u8), 0..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut other = one.clone();
            for (at, byte) in changes.iter().filter(|_| !one.is_empty()) {
                other[at.index(one.len())] = *byte;
            }
            other.truncate(cut.index(2 * one.len() + 1));
            let common = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
            prop_assert_eq!(common_prefix_len(&one, &other), common);
            let (one, other) = (&one[common..], &other[common..]);
            let mut runs = one.windows(8).zip(other.windows(8)).take(MAX_DIFFERENCE + 1);
            prop_assert_eq!(differing_len(one, other), runs.position(|(one, other)| one == other));
        }

        #[test]
        fn find_nearby_matches_a_plain_search(text in vec(0..2u8, 0..100), needle: [bool; 8]) {
            let needle = needle.map(u8::from);
            let found = text.windows(8).take(57).position(|bytes| *bytes == needle);
            prop_assert_eq!(find_nearby(&text, needle), found);
        }
    }
}
