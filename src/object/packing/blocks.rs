//! Bytes of two texts side by side, many at once.

use wide::u8x16;

/// What [`different`] looks for is at most so long: a hash of SHA-256 and something before it.
const LONGEST: usize = 80;

/// 16 bytes from here on; behind the end of the text zeros.
pub(super) fn block(text: &[u8], at: usize) -> u8x16 {
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

/// Which of 32 bytes from here on are the same in both: a bit for each, none behind the end of one.
fn same(one: &[u8], other: &[u8], at: usize) -> u32 {
    let (Some(one), Some(other)) = (one.get(at..), other.get(at..)) else { return 0 };
    let (Some(blocks), Some(others)) = (one.first_chunk::<32>(), other.first_chunk::<32>()) else {
        return same_at_the_end(one, other);
    };
    let same = |at: usize| block(blocks, at).simd_eq(block(others, at)).to_bitmask();
    same(0) | same(16) << 16
}

#[cold]
#[inline(never)]
fn same_at_the_end(one: &[u8], other: &[u8]) -> u32 {
    let bits = one.iter().zip(other).take(32).enumerate();
    bits.fold(0, |bits, (at, (one, other))| bits | u32::from(one == other) << at)
}

/// How many bytes both begin with.
pub(super) fn in_common(one: &[u8], other: &[u8]) -> usize {
    let mut count = 0;
    loop {
        let different = !same(one, other, count);
        if different != 0 {
            return count + different.trailing_zeros() as usize;
        }
        count += 32;
    }
}

/// How many bytes of both differ until eight follow that are the same; at most [`LONGEST`]. The first differs.
pub(super) fn different(one: &[u8], other: &[u8]) -> Option<usize> {
    // The seven bits before belong to the bytes before, so that a row that begins there is found.
    let mut bits = 0u64;
    for at in (0..LONGEST + 8).step_by(32) {
        bits = bits >> 32 | u64::from(same(one, other, at)) << 7;
        let mut rows = bits;
        for shift in [1, 2, 4] {
            rows &= rows >> shift;
        }
        if rows != 0 {
            return Some(at + rows.trailing_zeros() as usize - 7).filter(|count| *count <= LONGEST);
        }
    }
    None
}

/// Where these eight bytes stand first within the first 64 of a text.
pub(super) fn nearby(text: &[u8], wanted: [u8; 8]) -> Option<usize> {
    let Some(window) = text.first_chunk::<64>() else {
        return text.windows(8).position(|bytes| *bytes == wanted);
    };
    let places = |byte: u8| {
        (0..64).step_by(16).fold(0, |bits, at| {
            bits | u64::from(block(window, at).simd_eq(u8x16::splat(byte)).to_bitmask()) << at
        })
    };
    // Three of the bytes tell nearly all places apart.
    let mut likely = places(wanted[0]) & places(wanted[3]) >> 3 & places(wanted[6]) >> 6;
    while likely != 0 {
        let at = likely.trailing_zeros() as usize;
        if window[at..].starts_with(&wanted) {
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
        fn many_at_once_see_what_one_at_a_time_does(
            one in vec(0..3u8, 0..200),
            changes in vec((any::<prop::sample::Index>(), 3..5u8), 0..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut other = one.clone();
            for (at, byte) in changes.iter().filter(|_| !one.is_empty()) {
                other[at.index(one.len())] = *byte;
            }
            other.truncate(cut.index(2 * one.len() + 1));
            let begins = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
            prop_assert_eq!(in_common(&one, &other), begins);
            let (one, other) = (&one[begins..], &other[begins..]);
            let mut rows = one.windows(8).zip(other.windows(8)).take(LONGEST + 1);
            prop_assert_eq!(different(one, other), rows.position(|(one, other)| one == other));
        }

        #[test]
        fn what_is_nearby_is_found(text in vec(0..2u8, 0..100), wanted: [bool; 8]) {
            let wanted = wanted.map(u8::from);
            let found = text.windows(8).take(57).position(|bytes| *bytes == wanted);
            prop_assert_eq!(nearby(&text, wanted), found);
        }
    }
}
