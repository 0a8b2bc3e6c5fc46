//! A number that tells texts apart: cheap, and the same on every machine. Not for what an adversary chooses.

/// Odd, without a pattern.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// 32 bits of a text. Four words at a time, so that no multiplication waits for the one before.
pub(in crate::object) fn sum(text: &[u8]) -> u32 {
    let mut lanes = [1u64, 2, 3, 4].map(|lane| lane.wrapping_mul(FACTOR));
    let (blocks, rest) = text.as_chunks::<32>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
            *lane = mix(*lane ^ u64::from_le_bytes(*word));
        }
    }
    let mut all = text.len() as u64;
    for chunk in rest.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        all = mix(all ^ u64::from_le_bytes(word));
    }
    for lane in lanes {
        all = mix(all ^ lane);
    }
    let [a, b, c, d, ..] = (all ^ (all >> 32)).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// A word in which each bit of the input has reached most others.
fn mix(word: u64) -> u64 {
    let product = (word ^ (word >> 32)).wrapping_mul(FACTOR);
    product ^ (product >> 29)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn one_byte_makes_another_sum() {
        let text: Vec<u8> = (0..200u8).collect();
        let mut seen = HashSet::from([sum(&text)]);
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut other = text.clone();
                other[at] ^= 1 << bit;
                assert!(seen.insert(sum(&other)), "byte {at} bit {bit}");
            }
            assert!(seen.insert(sum(&text[..at])), "length {at}");
        }
    }
}
