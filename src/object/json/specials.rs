//! Where strings end.

use wide::u8x16;

use super::blocks::{BLOCK, masks, padded};

/// The bytes that strings do not just go on with: quotes, backslashes and control characters.
///
/// They are looked for in 64 bytes at once, and what was found is there for the next strings too. Most are short: to look
/// anew for the end of each would take almost half as long again.
#[derive(Default)]
pub(super) struct Specials {
    /// Where these 64 bytes begin.
    from: usize,
    /// A bit for each of them that is special.
    found: u64,
}

impl Specials {
    /// Where the string ends whose opening quote stands before `at`. It must stand behind those asked for before.
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

/// A bit for each byte of a block that is special.
#[inline]
fn special(block: &[u8; BLOCK]) -> u64 {
    // With its second bit turned over, a quote is what follows the control characters, and nothing else becomes that.
    let above = |bytes: u8x16| (bytes ^ u8x16::splat(0x02)).saturating_sub(u8x16::splat(0x20));
    let [found] = masks(block, |bytes| [(above(bytes).min(bytes ^ u8x16::splat(b'\\')), 0)]);
    found
}

/// Where the escape ends whose backslash stands before `at`. Few strings have any.
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
                let wanted = (0..BLOCK).filter(|at| is_special(&block[*at])).fold(0, |bits, at| bits | 1 << at);
                prop_assert_eq!(special(&block), wanted);
            }
        }
    }

    #[test]
    fn each_control_character_ends_a_string_wherever_it_stands() {
        for byte in 0..=0x7f_u8 {
            for before in 0..BLOCK + 40 {
                let text = format!("\"{}{}\"", "x".repeat(before), char::from(byte));
                assert_eq!(value(text.as_bytes(), 0) == Some(text.len()), is_json(&text), "{text:?}");
            }
        }
    }

    #[test]
    fn each_byte_that_is_not_ascii_is_part_of_a_string() {
        for byte in 0x80..=0xff {
            let text = ["\"".as_bytes(), &[byte; 2 * BLOCK], b"\""].concat();
            assert_eq!(value(&text, 0), Some(text.len()));
        }
    }

    #[test]
    fn strings_end_whatever_their_length_and_that_of_those_before_and_behind() {
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
    fn escapes_are_looked_at_wherever_they_stand() {
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
