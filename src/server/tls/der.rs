//! The distinguished encoding rules of ASN.1, as far as a certificate needs them.

/// The tags of the used types.
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0c;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// Returns the tag of a context-specific value.
pub(super) const fn context(number: u8, is_constructed: bool) -> u8 {
    0x80 | number | if is_constructed { 0x20 } else { 0 }
}

/// Encodes a value: its tag, its length and its contents.
pub(super) fn value(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = contents.len().to_be_bytes();
    match u8::try_from(contents.len()) {
        Ok(short) if short < 0x80 => out.push(short),
        _ => {
            let significant = &length[length.iter().take_while(|byte| **byte == 0).count()..];
            // At most eight bytes.
            out.push(0x80 | significant.len().to_le_bytes()[0]);
            out.extend_from_slice(significant);
        }
    }
    out.extend_from_slice(contents);
    out
}

/// Encodes a sequence of encoded values.
pub(super) fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    value(SEQUENCE, &parts.concat())
}

/// Encodes a bit string of whole bytes.
pub(super) fn bit_string(bytes: &[u8]) -> Vec<u8> {
    value(BIT_STRING, &[&[0], bytes].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short_or_long() {
        assert_eq!(value(INTEGER, &[7]), [2, 1, 7]);
        assert_eq!(value(OCTET_STRING, &[0; 127])[..2], [4, 127]);
        assert_eq!(value(OCTET_STRING, &[0; 128])[..3], [4, 0x81, 128]);
        assert_eq!(value(OCTET_STRING, &[0; 300])[..4], [4, 0x82, 1, 44]);
        assert_eq!(sequence(&[&[5, 0], &[5, 0]]), [0x30, 4, 5, 0, 5, 0]);
        assert_eq!(bit_string(&[1]), [3, 2, 0, 1]);
        assert_eq!(context(3, true), 0xa3);
    }
}
