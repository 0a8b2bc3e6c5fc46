//! Hexadecimal digits, two in each byte. The digits of uids, hashes and container ids are random, so that no other
//! encoding shortens them.

/// Returns the value of a lowercase hexadecimal digit.
fn value(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

/// Returns whether a byte is a lowercase hexadecimal digit.
pub(super) fn is_digit(byte: u8) -> bool {
    value(byte).is_some()
}

fn digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' + value - 10 }
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
pub(super) fn unpack_uid(packed: &[u8]) -> impl Iterator<Item = u8> {
    let mut digits = unpack(packed);
    (0..UID_LEN).filter_map(move |at| if DASHES.contains(&at) { Some(b'-') } else { digits.next() })
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

/// Returns the digits of packed bytes, which may be one more than were packed.
pub(super) fn unpack(packed: &[u8]) -> impl Iterator<Item = u8> {
    packed.iter().flat_map(|byte| [digit(byte & 15), digit(byte >> 4)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_take_sixteen_bytes() {
        let uid = b"8c2f1a04-1b2c-4d3e-9f40-0123456789ab";
        assert!(is_uid(uid) && !is_uid(&uid[..35]) && !is_uid(b"8c2f1a04-1b2c-4d3e-9f400123456789abc"));
        let mut packed = Vec::new();
        pack(uid, &mut packed);
        assert_eq!(packed.len(), 16);
        assert_eq!(unpack_uid(&packed).collect::<Vec<_>>(), uid);
    }

    #[test]
    fn digits_are_packed_in_halves() {
        for text in ["", "7", "0f", "0123456789abcdef0", "ffff"] {
            let mut packed = Vec::new();
            pack(text.as_bytes(), &mut packed);
            assert_eq!(packed.len(), text.len().div_ceil(2));
            let read: Vec<u8> = unpack(&packed).take(text.len()).collect();
            assert_eq!(read, text.as_bytes());
        }
        assert_eq!(run(b"12abG4"), 4);
        assert!(is_substitution(b"10.9.1f", b"10.0.00") && !is_substitution(b"10.9x1f", b"10.0.00"));
    }
}
