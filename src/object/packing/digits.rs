//! Hexadecimal digits in place of a base's, two in a byte.

use wide::u8x16;

use super::blocks::block;

/// The digits as uids, hashes and numbers are written.
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Appends the digits that stand where the base has digits, of the first bytes of both; `false` where something else
/// differs there, and what was appended until then means nothing.
pub(super) fn write(text: &[u8], base: &[u8], count: usize, frame: &mut Vec<u8>) -> bool {
    // The last half of a byte waits for its other half.
    let (mut half, mut halves) = (0, 0);
    for at in (0..count).step_by(16) {
        let (bytes, others) = (block(text, at), block(base, at));
        let wanted = if count - at < 16 { (1 << (count - at)) - 1 } else { 0xffff };
        let (digits, is_digit) = values(bytes);
        let replaced = values(others).1.to_bitmask() & wanted;
        let same = bytes.simd_eq(others).to_bitmask();
        if (is_digit.to_bitmask() & replaced | same & !replaced) & wanted != wanted {
            return false;
        }
        let more = replaced.count_ones();
        let packed = without(pack(digits), wanted & !replaced) & u64::MAX.unbounded_shr(64 - 4 * more);
        let packed = u128::from(packed) << (4 * halves) | half;
        halves += more;
        frame.extend_from_slice(&packed.to_le_bytes());
        frame.truncate(frame.len() - 16 + (halves / 2) as usize);
        half = packed >> (8 * (halves / 2)) & 0xf;
        halves %= 2;
    }
    if halves == 1 {
        frame.push(half.to_le_bytes()[0]);
    }
    true
}

/// The values of the bytes that are digits, and which are.
fn values(bytes: u8x16) -> (u8x16, u8x16) {
    let within = |first: u8, count: u8| {
        let from_first = bytes - u8x16::splat(first);
        from_first.min(u8x16::splat(count - 1)).simd_eq(from_first)
    };
    let letters = within(b'a', 6);
    ((bytes & u8x16::splat(15)) + (letters & u8x16::splat(9)), letters | within(b'0', 10))
}

/// 16 half-bytes, from the lowest on, of as many bytes.
fn pack(values: u8x16) -> u64 {
    let eight = |bytes: [u8; 8]| {
        let bytes = u64::from_le_bytes(bytes);
        let pairs = (bytes | bytes >> 4) & 0x00ff_00ff_00ff_00ff;
        let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
        (fours | fours >> 16) & 0xffff_ffff
    };
    values.to_array().as_chunks().0.iter().rev().fold(0, |halves, bytes| halves << 32 | eight(*bytes))
}

/// The half-bytes but for those at these places, which are no more than 16.
fn without(mut halves: u64, mut places: u32) -> u64 {
    while places != 0 {
        let at = places.ilog2();
        let below = (1 << (4 * at)) - 1;
        halves = halves & below | halves >> 4 & !below;
        places ^= 1 << at;
    }
    halves
}

/// These bytes of the base with other digits.
pub(super) fn fill(base: &[u8], rest: &mut &[u8], text: &mut Vec<u8>) -> Option<()> {
    let mut taken = 0;
    for &byte in base {
        if byte.is_ascii_digit() || matches!(byte, b'a'..=b'f') {
            let both = *rest.get(taken / 2)?;
            text.push(DIGITS[usize::from(if taken % 2 == 0 { both & 15 } else { both >> 4 })]);
            taken += 1;
        } else {
            text.push(byte);
        }
    }
    *rest = rest.get(taken.div_ceil(2)..)?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written of a text and read again; nothing where the base has too little in common with it.
    fn there_and_back(text: &[u8], base: &[u8], count: usize) -> Option<(Vec<u8>, usize)> {
        let mut frame = vec![7];
        if !write(text, base, count, &mut frame) {
            return None;
        }
        let (mut rest, mut read) = (&frame[1..], Vec::new());
        fill(&base[..count], &mut rest, &mut read).expect("digits");
        assert!(rest.is_empty());
        Some((read, frame.len() - 1))
    }

    #[test]
    fn digits_take_half_a_byte_wherever_they_stand() {
        for length in 0..90 {
            for digits in 0..=length {
                for end in ["", "a text that goes on"] {
                    let text = |digit: fn(usize) -> char| {
                        let place = |at: usize| if at * 7 % length.max(1) < digits { digit(at) } else { '-' };
                        (0..length).map(place).chain(end.chars()).collect::<String>().into_bytes()
                    };
                    let all: fn(usize) -> char = |at| char::from(DIGITS[at * 5 % 16]);
                    let (text, base) = (text(all), text(|_| '0'));
                    let count = memchr::memchr_iter(b'0', &base[..length]).count();
                    let wanted = (text[..length].to_vec(), count.div_ceil(2));
                    assert_eq!(there_and_back(&text, &base, length), Some(wanted));
                }
            }
        }
    }

    #[test]
    fn nothing_but_digits_stands_in_place_of_digits() {
        for byte in 0..=u8::MAX {
            for at in 0..40 {
                let base = [b'5'; 40];
                let mut text = base;
                text[at] = byte;
                assert_eq!(
                    there_and_back(&text, &base, 40).is_some(),
                    DIGITS.contains(&byte),
                    "{byte} at {at}"
                );
                let read = there_and_back(&base, &text, 40);
                assert_eq!(read.is_some(), DIGITS.contains(&byte), "{byte} at {at}");
            }
        }
    }
}
