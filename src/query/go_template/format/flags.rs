//! The flags, width and precision of a verb, and padding.

use super::buffer::Buffer;

/// Flags as Go's printer keeps them: `%+v` and `%#v` are formats of their own, without the flag.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of a verb")]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    pub(super) minus: bool,
    pub(super) plus: bool,
    pub(super) sharp: bool,
    pub(super) space: bool,
    pub(super) zero: bool,
    /// `%#v`: Go syntax.
    pub(super) is_go_syntax: bool,
}

impl Flags {
    /// Writes padding: zeros only to the left.
    pub(super) fn write_padding(&self, count: usize, out: &mut Buffer<'_>) {
        out.repeat(if self.zero && !self.minus { b'0' } else { b' ' }, count);
    }

    /// Writes text padded to the width, which counts characters.
    pub(super) fn pad(&self, text: &[u8], out: &mut Buffer<'_>) {
        let padding = self.width.map_or(0, |width| width.saturating_sub(rune_count(text)));
        if !self.minus {
            self.write_padding(padding, out);
        }
        out.write(text);
        if self.minus {
            self.write_padding(padding, out);
        }
    }

    /// Returns the start of a text that the precision leaves.
    pub(super) fn truncate<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let Some(precision) = self.precision else { return text };
        let end = runes(text).nth(precision).map_or(text.len(), |(at, _, _)| at);
        &text[..end]
    }
}

/// Iterates over the characters of a text with their positions and lengths. An invalid byte is a character of its own,
/// given as `Err`.
pub(super) fn runes(text: &[u8]) -> impl Iterator<Item = (usize, Result<char, u8>, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = *text.get(at)?;
        let start = at;
        let length =
            if first < 0x80 { 1 } else { (2..=4).find(|length| is_char(text, start, *length)).unwrap_or(1) };
        at += length;
        let decoded = std::str::from_utf8(&text[start..at]).ok().and_then(|text| text.chars().next());
        Some((start, decoded.ok_or(first), length))
    })
}

fn is_char(text: &[u8], start: usize, length: usize) -> bool {
    let part = text.get(start..start + length).and_then(|bytes| std::str::from_utf8(bytes).ok());
    part.is_some_and(|part| part.chars().count() == 1)
}

/// Returns the number of characters.
pub(super) fn rune_count(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    match std::str::from_utf8(text) {
        Ok(text) => text.chars().count(),
        Err(_) => runes(text).count(),
    }
}
