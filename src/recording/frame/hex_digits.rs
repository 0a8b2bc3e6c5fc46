//! Hexadecimal digits, two in each byte. The digits of uids, hashes and container ids are random, so that no other
//! encoding shortens them.

/// The digits by their values.
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// For each byte, the value of a lowercase hexadecimal digit, or [`NO_DIGIT`].
const VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        values[DIGITS[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// In place of the value of a byte that is no digit.
const NO_DIGIT: u8 = u8::MAX;

/// Returns the value of a lowercase hexadecimal digit.
fn value(byte: u8) -> Option<u8> {
    Some(VALUES[usize::from(byte)]).filter(|value| *value != NO_DIGIT)
}

/// Returns whether a byte is a lowercase hexadecimal digit.
#[inline(always)]
pub(super) fn is_digit(byte: u8) -> bool {
    VALUES[usize::from(byte)] != NO_DIGIT
}

/// Returns the two digits that a byte holds.
#[inline(always)]
fn pair(byte: u8) -> [u8; 2] {
    [DIGITS[usize::from(byte & 15)], DIGITS[usize::from(byte >> 4)]]
}

/// The length of a uid, and the positions of its dashes.
pub(super) const UID_LEN: usize = 36;
const DASHES: [usize; 4] = [8, 13, 18, 23];

/// Returns whether a text begins with a uid.
pub(super) fn is_uid(text: &[u8]) -> bool {
    let is = |(at, byte): (usize, &u8)| if DASHES.contains(&at) { *byte == b'-' } else { is_digit(*byte) };
    text.first_chunk::<UID_LEN>().is_some_and(|uid| uid.iter().enumerate().all(is))
}

/// Returns the uid that 16 packed bytes hold.
pub(super) fn unpack_uid(packed: &[u8; 16]) -> [u8; UID_LEN] {
    let mut uid = [b'-'; UID_LEN];
    let mut at = 0;
    for byte in packed {
        at += usize::from(DASHES.contains(&at));
        [uid[at], uid[at + 1]] = pair(*byte);
        at += 2;
    }
    uid
}

/// Returns the number of digits at the front of a text.
pub(super) fn run(text: &[u8]) -> usize {
    text.iter().take_while(|byte| is_digit(**byte)).count()
}

/// Returns whether a text differs from the base of the same length only in hexadecimal digits.
pub(super) fn is_substitution(text: &[u8], base: &[u8]) -> bool {
    text.len() == base.len()
        && text.iter().zip(base).all(|(new, old)| if is_digit(*old) { is_digit(*new) } else { new == old })
}

/// Appends the digits of a text, the first of two in the low half of a byte. Other bytes are skipped.
pub(super) fn pack(text: &[u8], out: &mut Vec<u8>) {
    let mut values = text.iter().filter_map(|byte| value(*byte));
    while let Some(low) = values.next() {
        out.push(low | values.next().unwrap_or_default() << 4);
    }
}

/// Appends so many digits of packed bytes, or all.
pub(super) fn unpack(packed: &[u8], count: usize, text: &mut Vec<u8>) {
    let start = text.len();
    for byte in packed {
        text.extend_from_slice(&pair(*byte));
    }
    text.truncate(start + count);
}

/// Returns the number of digits in a text.
pub(super) fn count(text: &[u8]) -> usize {
    text.iter().map(|byte| usize::from(is_digit(*byte))).sum()
}

/// Replaces the digits of a text by packed ones, of which there are as many. There is no branch for each byte: whether it
/// is a digit can't be predicted.
pub(super) fn substitute(text: &mut [u8], packed: &[u8]) {
    let mut number = 0;
    for byte in text {
        let two = packed.get(number / 2).copied().unwrap_or_default();
        let digit = DIGITS[usize::from(two >> (4 * (number % 2)) & 15)];
        let is_digit = is_digit(*byte);
        *byte = if is_digit { digit } else { *byte };
        number += usize::from(is_digit);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn digits_are_substituted(places in prop::collection::vec(("[0-9a-g\\-]", "[0-9a-f]"), 0..40)) {
            let base: String = places.iter().map(|(old, _)| old.as_str()).collect();
            let is_digit = |old: &str| is_digit(old.as_bytes()[0]);
            let new: String = places.iter().map(|(old, new)| if is_digit(old) { new } else { old }.as_str()).collect();
            let mut packed = Vec::new();
            pack(new.as_bytes(), &mut packed);
            prop_assert_eq!(packed.len(), count(base.as_bytes()).div_ceil(2));
            let mut text = base.into_bytes();
            substitute(&mut text, &packed);
            prop_assert_eq!(text, new.into_bytes());
        }
    }

    #[test]
    fn uids_take_sixteen_bytes() {
        let uid = b"8c2f1a04-1b2c-4d3e-9f40-0123456789ab";
        assert!(is_uid(uid) && !is_uid(&uid[..35]) && !is_uid(b"8c2f1a04-1b2c-4d3e-9f400123456789abc"));
        let mut packed = Vec::new();
        pack(uid, &mut packed);
        assert_eq!(packed.len(), 16);
        assert_eq!(&unpack_uid(packed.first_chunk().expect("16 bytes")), uid);
    }

    #[test]
    fn digits_are_packed_in_halves() {
        for text in ["", "7", "0f", "0123456789abcdef0", "ffff"] {
            let mut packed = Vec::new();
            pack(text.as_bytes(), &mut packed);
            assert_eq!(packed.len(), text.len().div_ceil(2));
            let mut read = b"x".to_vec();
            unpack(&packed, text.len(), &mut read);
            assert_eq!(&read[1..], text.as_bytes());
        }
        assert_eq!(run(b"12abG4"), 4);
        assert!(is_substitution(b"10.9.1f", b"10.0.00") && !is_substitution(b"10.9x1f", b"10.0.00"));
    }
}
