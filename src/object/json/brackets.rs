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
