//! The ends of arrays and objects by their brackets alone, 64 bytes at a time. Finding one takes an eighth of the time
//! of full validation.
//!
//! For text that was validated before, or that is discarded.

use wide::u8x16;

use super::blocks::{BLOCK, Strings, mask, padded};

/// Returns the end of the array or object whose opening bracket is at `at`, or `None` if it does not end. For invalid
/// JSON the result means only that brackets outside of strings are balanced there.
pub(super) fn end(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0;
    let mut strings = Strings::default();
    let (blocks, rest) = text.get(at..)?.as_chunks::<BLOCK>();
    for (number, block) in blocks.iter().enumerate() {
        if let Some(end) = step(block, &mut depth, &mut strings) {
            return Some(at + number * BLOCK + end);
        }
    }
    step(&padded(rest), &mut depth, &mut strings).map(|end| at + blocks.len() * BLOCK + end)
}

/// Advances by one block and returns the position at which the outermost bracket closes, if it does.
#[inline(always)]
fn step(block: &[u8; BLOCK], depth: &mut u32, strings: &mut Strings) -> Option<usize> {
    let (opening, closing) = outside(block, strings);
    if *depth > closing.count_ones() {
        *depth = *depth + opening.count_ones() - closing.count_ones();
        return None;
    }
    let mut brackets = opening | closing;
    while brackets != 0 {
        let at = brackets.trailing_zeros();
        if opening >> at & 1 == 1 {
            *depth += 1;
        } else {
            *depth = depth.checked_sub(1)?;
            if *depth == 0 {
                return Some(at as usize + 1);
            }
        }
        brackets &= brackets - 1;
    }
    None
}

/// The length of text for each array or object that room is reserved for.
const BYTES_PER_PAIR: usize = 48;

/// The ends of all arrays and objects of a JSON text, found in one pass.
///
/// For a text of which many values are read, at once or repeatedly: a [`JsonNode`](crate::object::JsonNode) with them
/// skips a value without looking at its bytes. They take eight bytes for each array and object.
#[derive(Debug, Clone, Default)]
pub struct JsonBrackets(
    /// The positions of the opening brackets, ascending, each with the end of its value. The end of a value that does not
    /// end is 0.
    Vec<[u32; 2]>,
);

impl JsonBrackets {
    /// Finds the ends of the arrays and objects of a text. In invalid text, the ends after the damage are unknown. A text of
    /// more than 4 GiB has no known ends.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        const NONE: u32 = u32::MAX;
        if u32::try_from(text.len()).is_err() {
            return Self::default();
        }
        // Objects of Kubernetes have fewer.
        let mut pairs: Vec<[u32; 2]> = Vec::with_capacity(text.len() / BYTES_PER_PAIR);
        // While a value is open, the number of the enclosing value stands in place of its end.
        let mut current = NONE;
        let mut strings = Strings::default();
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        let rest = padded(rest);
        'text: for (block, start) in blocks.iter().chain([&rest]).zip((0..).step_by(BLOCK)) {
            let (opening, closing) = outside(block, &mut strings);
            let mut brackets = opening | closing;
            while brackets != 0 {
                let bit = brackets.trailing_zeros();
                let at = start + bit;
                if opening >> bit & 1 == 1 {
                    let number = u32::try_from(pairs.len()).unwrap_or(NONE);
                    pairs.push([at, current]);
                    current = number;
                } else {
                    let Some([_, end]) = pairs.get_mut(current as usize) else { break 'text };
                    current = std::mem::replace(end, at + 1);
                }
                brackets &= brackets - 1;
            }
        }
        while let Some([_, end]) = pairs.get_mut(current as usize) {
            current = std::mem::replace(end, 0);
        }
        Self(pairs)
    }

    /// Returns the end of the array or object that begins at a position of the text, if it is known.
    pub(in crate::object) fn end(&self, at: usize) -> Option<usize> {
        let at = u32::try_from(at).ok()?;
        let found = self.0.binary_search_by_key(&at, |[start, _]| *start).ok()?;
        let [_, end] = self.0[found];
        (end > 0).then_some(end as usize)
    }
}

/// Returns the opening and closing brackets of a block that are outside of strings.
#[inline(always)]
fn outside(block: &[u8; BLOCK], strings: &mut Strings) -> (u64, u64) {
    // The two opening brackets differ in one bit, as do the two closing ones; no other byte maps to them.
    let quotes = mask(block, b'"', |bytes| bytes);
    let backslashes = mask(block, b'\\', |bytes| bytes);
    let opening = mask(block, b'{', |bytes| bytes | u8x16::splat(0x20));
    let closing = mask(block, b'}', |bytes| bytes | u8x16::splat(0x20));
    let inside = strings.inside(quotes, backslashes);
    (opening & !inside, closing & !inside)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::object::json::tests::documents;
    use crate::object::json::value;

    /// A bytewise reference implementation.
    fn bytewise(text: &[u8]) -> Option<usize> {
        let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
        for (at, byte) in text.iter().enumerate() {
            match (byte, std::mem::take(&mut escaped)) {
                (b'\\', false) => escaped = true,
                (b'"', false) => in_string = !in_string,
                (b'{' | b'[', _) if !in_string => depth += 1,
                (b'}' | b']', _) if !in_string => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_end_agrees_with_the_validating_skipper(document in documents(), before in "[ -~]{0,70}") {
            let text = format!("{before}[{document}],{{\"next\":1}}");
            prop_assert_eq!(end(text.as_bytes(), before.len()), value(text.as_bytes(), before.len()));
        }

        #[test]
        fn the_end_is_where_brackets_outside_of_strings_balance(text in "[{][\\[\\]{}\\\\\"ab]{0,200}") {
            prop_assert_eq!(end(text.as_bytes(), 0), bytewise(text.as_bytes()));
        }

        #[test]
        fn known_ends_are_those_that_are_searched_for(document in documents(), damaged in "[{][\\[\\]{}\\\\\"ab]{0,200}") {
            for text in [document.to_string(), damaged] {
                let known = JsonBrackets::of(text.as_bytes());
                let mut strings = Strings::default();
                let mut opening = Vec::new();
                for (number, bytes) in text.as_bytes().chunks(BLOCK).enumerate() {
                    let (found, _) = outside(&padded(bytes), &mut strings);
                    opening.extend((0..BLOCK).filter(|at| found >> at & 1 == 1).map(|at| number * BLOCK + at));
                }
                // Nothing is known after a closing bracket without an opening one.
                let last = known.0.last().map_or(0, |[at, _]| *at as usize);
                for at in opening.into_iter().filter(|at| *at <= last) {
                    prop_assert_eq!(known.end(at), end(text.as_bytes(), at), "{} at {}", text, at);
                }
                prop_assert_eq!(known.end(text.len()), None);
            }
        }

        #[test]
        fn runs_of_backslashes_continue_across_blocks(runs in proptest::collection::vec((0..70usize, 0..5usize), 1..8)) {
            let string = |(plain, pairs): &(usize, usize)| ["\"", &"x".repeat(*plain), &"\\\\".repeat(*pairs), "\\\"]\","].concat();
            let strings: Vec<_> = runs.iter().map(string).collect();
            let text = format!("[{}0]", strings.concat());
            prop_assert_eq!(end(text.as_bytes(), 0), Some(text.len()));
        }
    }

    #[test]
    fn an_unclosed_value_has_no_end() {
        for text in ["", "[", "[[1]", "{\"a\":\"}", "[\"\\", "]", "1"] {
            assert_eq!(end(text.as_bytes(), 0), None, "{text}");
        }
        assert_eq!(end(b"[]", 3), None);
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(end(deep.as_bytes(), 0), Some(deep.len()));
    }
}
