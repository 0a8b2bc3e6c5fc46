//! Strings and numbers of JSON text that are printed as they are written.

use super::write::zero_if_escaped;
use crate::object::json::{BLOCK, mask, padded};

/// The digits of a number that fits an `i64`.
pub(super) const MAX_DIGITS: usize = 18;

/// A search for the ends of strings that are printed as they are written. It covers 64 bytes at once and keeps the result
/// for the strings that follow.
#[derive(Default)]
pub(super) struct PlainStrings {
    /// The start of the current 64 bytes.
    from: usize,
    /// One bit for each of them that may end a string or need an escape in it.
    found: u64,
}

impl PlainStrings {
    /// Returns the end of the string at a position, if it is printed as it is written. Calls must move forward through the
    /// text.
    #[inline(always)]
    pub(super) fn end(&mut self, json: &[u8], at: usize) -> Option<usize> {
        if json.get(at) != Some(&b'"') {
            return None;
        }
        let mut at = at + 1;
        loop {
            let seen = at - self.from;
            let found = if seen < BLOCK { self.found >> seen } else { 0 };
            if found != 0 {
                at += found.trailing_zeros() as usize;
                return (json.get(at) == Some(&b'"')).then_some(at + 1);
            }
            let rest = json.get(at..).filter(|rest| !rest.is_empty())?;
            self.from = at;
            self.found = rest.first_chunk().map_or_else(|| may_be_escaped(&padded(rest)), may_be_escaped);
            if self.found == 0 {
                at += BLOCK;
            }
        }
    }
}

/// Returns the mask of bytes that may end a string or need an escape in it.
#[inline(always)]
fn may_be_escaped(block: &[u8; BLOCK]) -> u64 {
    mask(block, 0, zero_if_escaped)
}

/// Returns the end of the number at a position, if it consists of few digits, with which it is printed.
#[inline(always)]
pub(super) fn plain_number(json: &[u8], at: usize) -> Option<usize> {
    let text = &json[at..];
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_integer = !matches!(text.get(count), Some(b'.' | b'e' | b'E'));
    let has_usual_form = count == 1 || (1..=MAX_DIGITS).contains(&count) && text[0] != b'0';
    (is_integer && has_usual_form).then_some(at + count)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn plain_strings_end_at_their_quotes(
            strings in prop::collection::vec(("[a-z\u{e9}]{0,90}[<\\\\\u{2028}]?", "[ ,:]{0,70}"), 0..6),
        ) {
            let text = strings.iter().map(|(string, between)| ["\"", string, "\"", between].concat());
            let text = text.collect::<Vec<_>>().concat();
            let (mut search, mut at) = (PlainStrings::default(), 0);
            for (string, between) in &strings {
                let end = at + string.len() + 2;
                let is_plain = !string.ends_with(['<', '\\', '\u{2028}']);
                prop_assert_eq!(search.end(text.as_bytes(), at), is_plain.then_some(end));
                at = end + between.len();
            }
            prop_assert_eq!(search.end(text.as_bytes(), at), None);
        }
    }

    #[test]
    fn numbers_of_few_digits_are_plain() {
        for (text, end) in [
            ("0", Some(1)),
            ("10,", Some(2)),
            ("123456789012345678]", Some(18)),
            ("1234567890123456789", None),
            ("01", None),
            ("-1", None),
            ("1.5", None),
            ("1e3", None),
            ("true", None),
        ] {
            assert_eq!(plain_number(text.as_bytes(), 0), end, "{text}");
        }
    }
}
