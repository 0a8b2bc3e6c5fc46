//! The final escaping of text for a terminal, for every command.
//!
//! The formats escape too, because pipes receive the same tables and because JSON and YAML have their own escapes. This
//! guard covers a format that misses a place.

use std::borrow::Cow;
use std::str;

use crate::view::{COLOURS, Escaper};

/// Escapes unsafe characters in a text that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct TerminalGuard {
    escaper: Escaper,
    /// The first bytes of an incomplete character, at most three.
    incomplete: Vec<u8>,
}

impl TerminalGuard {
    /// Returns the next piece of the text, escaped. Bytes that are no UTF-8 become U+FFFD.
    pub(super) fn pass<'a>(&mut self, piece: &'a [u8]) -> Cow<'a, [u8]> {
        let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
        if self.incomplete.is_empty() && piece.iter().all(is_plain) {
            self.escaper = Escaper::default();
            return Cow::Borrowed(piece);
        }
        let whole = [std::mem::take(&mut self.incomplete).as_slice(), piece].concat();
        let (text, rest) = whole.split_at(whole.len() - incomplete_at_end(&whole));
        rest.clone_into(&mut self.incomplete);
        let mut out = String::with_capacity(text.len() + 16);
        for chunk in text.utf8_chunks() {
            self.escape(chunk.valid(), &mut out);
            if !chunk.invalid().is_empty() {
                self.escaper.push(char::REPLACEMENT_CHARACTER, &mut out);
            }
        }
        Cow::Owned(out.into_bytes())
    }

    fn escape(&mut self, mut text: &str, out: &mut String) {
        while let Some(c) = text.chars().next() {
            if let Some(own) = COLOURS.iter().find(|own| text.starts_with(**own)) {
                out.push_str(own);
                text = &text[own.len()..];
            } else {
                self.escaper.push(c, out);
                text = &text[c.len_utf8()..];
            }
        }
    }
}

/// Returns the number of bytes at the end that start an incomplete character.
fn incomplete_at_end(bytes: &[u8]) -> usize {
    match str::from_utf8(&bytes[bytes.len().saturating_sub(3)..]) {
        Ok(_) => 0,
        Err(_) => (1..=bytes.len().min(3))
            .find(|length| {
                let end = &bytes[bytes.len() - length..];
                str::from_utf8(end)
                    .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
            })
            .unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the terminal's text for these pieces.
    fn passed(pieces: &[&[u8]]) -> String {
        let mut guard = TerminalGuard::default();
        let passed: Vec<u8> = pieces.iter().flat_map(|piece| guard.pass(piece).into_owned()).collect();
        String::from_utf8(passed).expect("text")
    }

    #[test]
    fn only_own_colours_are_kept() {
        for (text, expected) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\x1b[2mADDED\x1b[0m   a\n", "\x1b[2mADDED\x1b[0m   a\n"),
            ("\x1b[31;5mx\x1b]0;t\x07", "^[[31;5mx^[]0;t^G"),
            ("a\rb\u{9b}2J\u{202e}\u{200b}\u{e0041}", "a\\rb\\u009b2J\\u202e\\u200b\\U000e0041"),
            ("日本 👩\u{200d}👧", "日本 👩\u{200d}👧"),
        ] {
            assert_eq!(passed(&[text.as_bytes()]), expected);
        }
    }

    #[test]
    fn character_may_arrive_in_pieces() {
        let text = "ü日\u{9b}👩\u{200d}👧\u{200b}z";
        for at in 0..text.len() {
            let (one, other) = text.as_bytes().split_at(at);
            assert_eq!(passed(&[one, other]), "ü日\\u009b👩\u{200d}👧\\u200bz", "{at}");
        }
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(passed(&bytes), "ü日\\u009b👩\u{200d}👧\\u200bz");
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        assert_eq!(passed(&[b"a\xff\x9bb\xf0\x9f", b"c"]), "a\u{fffd}\u{fffd}b\u{fffd}c");
    }
}
