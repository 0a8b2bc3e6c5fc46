//! The ends of JSON strings.

use wide::u8x16;

use super::blocks::{BLOCK, mask, padded};

/// A search for bytes that end or interrupt a string: quotes, backslashes and control characters.
///
/// It covers 64 bytes at once and keeps the result for the strings that follow. Most strings are short: a new search
/// for each would take almost half as long again.
#[derive(Default)]
pub(super) struct Specials {
    /// The start of the current 64 bytes.
    from: usize,
    /// One bit for each special byte among them.
    found: u64,
}

impl Specials {
    /// Returns the end of the string whose opening quote is just before `at`. Calls must move forward through the text.
    #[inline]
    pub(super) fn end(&mut self, text: &[u8], mut at: usize) -> Option<usize> {
        loop {
            let seen = at - self.from;
            let found = if seen < BLOCK { self.found >> seen } else { 0 };
            if found == 0 {
                let rest = text.get(at..)?;
                self.from = at;
                self.found = rest.first_chunk().map_or_else(|| special(&padded(rest)), special);
                if self.found == 0 {
                    at += BLOCK;
                }
                continue;
            }
            at += found.trailing_zeros() as usize;
            match *text.get(at)? {
                b'"' => return Some(at + 1),
                b'\\' => at = escape(text, at + 1)?,
                _ => return None,
            }
        }
    }
}

/// The length up to which a string is short, without its quotes.
const SHORT: usize = 32;

/// Returns the end of the string whose opening quote is just before `at`, if it is short and has no escape. `None` does
/// not mean that the string has no end. For a single short string this is faster than [`Specials`], which searches 64 bytes.
#[inline]
pub(super) fn short_end(text: &[u8], at: usize) -> Option<usize> {
    let short: &[u8; SHORT] = text.get(at..)?.first_chunk()?;
    let [one, two] = short.as_chunks::<16>().0 else { return None };
    let found = |bytes| zero_if_special(u8x16::new(bytes)).simd_eq(u8x16::splat(0)).to_bitmask();
    let mut end = found(*one).trailing_zeros() as usize;
    if end >= 16 {
        end = 16 + found(*two).trailing_zeros() as usize;
    }
    (*short.get(end)? == b'"').then_some(at + end + 1)
}

/// Returns the mask of special bytes in a block.
#[inline]
fn special(block: &[u8; BLOCK]) -> u64 {
    mask(block, 0, zero_if_special)
}

/// Maps special bytes to zero, and no others.
#[inline(always)]
pub(in crate::object) fn zero_if_special(bytes: u8x16) -> u8x16 {
    // With its second bit inverted, a quote directly follows the control characters, and no other byte takes that
    // value.
    let above = (bytes ^ u8x16::splat(0x02)).saturating_sub(u8x16::splat(0x20));
    above.min(bytes ^ u8x16::splat(b'\\'))
}

/// Returns the end of the escape whose backslash is just before `at`. Few strings have any.
#[cold]
fn escape(text: &[u8], at: usize) -> Option<usize> {
    match *text.get(at)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 1),
        b'u' => text.get(at + 1..at + 5)?.iter().all(u8::is_ascii_hexdigit).then_some(at + 5),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::object::json::tests::is_json;
    use crate::object::json::value;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn the_special_bytes_of_a_block_are_found(plain in "[ -!#-\\[\\]-~]{64}", any in any::<[u8; BLOCK]>(), at in 0..BLOCK, byte: u8) {
            let mut mostly_plain = *plain.as_bytes().first_chunk().expect("so long");
            mostly_plain[at] = byte;
            for block in [any, mostly_plain] {
                let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..0x20);
                let expected = (0..BLOCK).filter(|at| is_special(&block[*at])).fold(0, |bits, at| bits | 1 << at);
                prop_assert_eq!(special(&block), expected);
            }
        }
    }

    #[test]
    fn control_characters_are_rejected_at_any_position() {
        for byte in 0..=0x7f_u8 {
            for before in 0..BLOCK + 40 {
                let text = format!("\"{}{}\"", "x".repeat(before), char::from(byte));
                assert_eq!(value(text.as_bytes(), 0) == Some(text.len()), is_json(&text), "{text:?}");
            }
        }
    }

    #[test]
    fn non_ascii_bytes_belong_to_strings() {
        for byte in 0x80..=0xff {
            let text = ["\"".as_bytes(), &[byte; 2 * BLOCK], b"\""].concat();
            assert_eq!(value(&text, 0), Some(text.len()));
        }
    }

    #[test]
    fn strings_of_any_length_end_correctly() {
        for first in 0..2 * BLOCK + 2 {
            for second in 0..BLOCK + 2 {
                let [one, two] = [first, second].map(|length| "x".repeat(length));
                let text = format!("[\"{one}\",\n\"{two}\",{{\"{two}\":\"{one}\"}}]");
                for behind in ["", &"\"\\\n".repeat(30)] {
                    let all = [&text, behind].concat();
                    assert_eq!(value(all.as_bytes(), 0), Some(text.len()), "{all}");
                }
                assert_eq!(value(&text.as_bytes()[..text.len() - 3], 0), None);
            }
        }
    }

    #[test]
    fn escapes_are_checked_at_any_position() {
        for before in 0..2 * BLOCK {
            for escape in
                ["\\\"", "\\\\", "\\\\\\\"", "\\/", "\\u00e9", "\\u00E", "\\u00g9", "\\x", "\\\n", "\\"]
            {
                for behind in [0, 1, BLOCK] {
                    let text = format!("[\"{}{escape}{}\"]", "x".repeat(before), "x".repeat(behind));
                    let is_whole = value(text.as_bytes(), 0) == Some(text.len());
                    assert_eq!(is_whole, is_json(&text), "{text}");
                }
            }
        }
    }
}
