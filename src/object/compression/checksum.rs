//! A fast, platform-independent 32-bit checksum. Not collision-resistant against an adversary.

/// An odd number without a bit pattern.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns a 32-bit checksum of a text. It processes four pairs of words at a time so that no multiplication waits for
/// the previous one.
pub(in crate::object) fn checksum(text: &[u8]) -> u32 {
    let mut lanes = [1u64, 2, 3, 4].map(|lane| lane.wrapping_mul(FACTOR));
    let (words, _) = text.as_chunks::<8>();
    let (blocks, _) = words.as_chunks::<8>();
    for block in blocks {
        for (lane, pair) in lanes.iter_mut().zip(block.as_chunks().0) {
            *lane = mix(*lane, *pair);
        }
    }
    let mut all = text.len() as u64;
    for chunk in text[64 * blocks.len()..].chunks(16) {
        let mut pair = [[0; 8]; 2];
        pair.as_flattened_mut()[..chunk.len()].copy_from_slice(chunk);
        all = mix(all, pair);
    }
    for lane in lanes {
        all = mix(all, [lane.to_le_bytes(), [0; 8]]);
    }
    let [a, b, c, d, ..] = (all ^ (all >> 32)).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Mixes a pair of words into a word so that every input bit affects it: both halves of their product.
fn mix(word: u64, [one, other]: [[u8; 8]; 2]) -> u64 {
    let (one, other) = (u64::from_le_bytes(one), u64::from_le_bytes(other));
    let (low, high) = (one ^ word).carrying_mul(other ^ FACTOR, 0);
    low ^ high
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn one_byte_makes_another_sum() {
        let text: Vec<u8> = (0..200u8).collect();
        let mut seen = HashSet::from([checksum(&text)]);
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut other = text.clone();
                other[at] ^= 1 << bit;
                assert!(seen.insert(checksum(&other)), "byte {at} bit {bit}");
            }
            assert!(seen.insert(checksum(&text[..at])), "length {at}");
        }
    }
}
