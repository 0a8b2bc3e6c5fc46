//! Substitution of hexadecimal digits in a base, two per byte.

use wide::u8x16;

use super::blocks::load;

/// The digits in the spelling of UIDs, hashes and numbers.
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Appends the digits of the text at those of its first `count` bytes where the base has digits. Returns `false` where
/// anything else differs; the frame's new bytes are then meaningless.
pub(super) fn write(text: &[u8], base: &[u8], count: usize, frame: &mut Vec<u8>) -> bool {
    // An odd last nibble is carried to the next round.
    let (mut half, mut halves) = (0, 0);
    for at in (0..count).step_by(16) {
        let (bytes, others) = (load(text, at), load(base, at));
        let in_range = if count - at < 16 { (1 << (count - at)) - 1 } else { 0xffff };
        let (digits, is_digit) = values(bytes);
        let replaced = values(others).1.to_bitmask() & in_range;
        let same = bytes.simd_eq(others).to_bitmask();
        if (is_digit.to_bitmask() & replaced | same & !replaced) & in_range != in_range {
            return false;
        }
        let more = replaced.count_ones();
        let compressed =
            remove_nibbles(to_nibbles(digits), in_range & !replaced) & u64::MAX.unbounded_shr(64 - 4 * more);
        let compressed = u128::from(compressed) << (4 * halves) | half;
        halves += more;
        frame.extend_from_slice(&compressed.to_le_bytes());
        frame.truncate(frame.len() - 16 + (halves / 2) as usize);
        half = compressed >> (8 * (halves / 2)) & 0xf;
        halves %= 2;
    }
    if halves == 1 {
        frame.push(half.to_le_bytes()[0]);
    }
    true
}

/// Returns the values of the bytes that are digits, and a mask of those bytes.
fn values(bytes: u8x16) -> (u8x16, u8x16) {
    let within = |first: u8, count: u8| {
        let from_first = bytes - u8x16::splat(first);
        from_first.min(u8x16::splat(count - 1)).simd_eq(from_first)
    };
    let letters = within(b'a', 6);
    ((bytes & u8x16::splat(15)) + (letters & u8x16::splat(9)), letters | within(b'0', 10))
}

/// Joins 16 bytes into as many nibbles, lowest first.
fn to_nibbles(values: u8x16) -> u64 {
    let eight = |bytes: [u8; 8]| {
        let bytes = u64::from_le_bytes(bytes);
        let pairs = (bytes | bytes >> 4) & 0x00ff_00ff_00ff_00ff;
        let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
        (fours | fours >> 16) & 0xffff_ffff
    };
    values.to_array().as_chunks().0.iter().rev().fold(0, |halves, bytes| halves << 32 | eight(*bytes))
}

/// Removes the nibbles at the given positions, of which there are at most 16.
fn remove_nibbles(mut halves: u64, mut places: u32) -> u64 {
    while places != 0 {
        let at = places.ilog2();
        let below = (1 << (4 * at)) - 1;
        halves = halves & below | halves >> 4 & !below;
        places ^= 1 << at;
    }
    halves
}

/// Appends these bytes of the base with their digits replaced.
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

    /// Writes a text's digits and reads them back, or returns `None` where the base is too different.
    fn round_trip(text: &[u8], base: &[u8], count: usize) -> Option<(Vec<u8>, usize)> {
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
    fn digits_take_half_a_byte_at_any_position() {
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
                    let expected = (text[..length].to_vec(), count.div_ceil(2));
                    assert_eq!(round_trip(&text, &base, length), Some(expected));
                }
            }
        }
    }

    #[test]
    fn only_digits_replace_digits() {
        for byte in 0..=u8::MAX {
            for at in 0..40 {
                let base = [b'5'; 40];
                let mut text = base;
                text[at] = byte;
                assert_eq!(round_trip(&text, &base, 40).is_some(), DIGITS.contains(&byte), "{byte} at {at}");
                let read = round_trip(&base, &text, 40);
                assert_eq!(read.is_some(), DIGITS.contains(&byte), "{byte} at {at}");
            }
        }
    }
}
