//! Where an array or object ends, by its brackets alone: 64 bytes at a time, in an eighth of the time that it takes to
//! see that all of it is JSON.
//!
//! For text that was validated before, and for what is thrown away.

use super::blocks::{BLOCK, Strings, masks, padded};

/// Where the array or object ends whose opening bracket stands at `at`; nothing where it does not end. Of text that is
/// no JSON the answer means nothing more than that as many brackets were opened as closed, outside of strings.
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

/// Goes on by one block, and says where in it the last open bracket is closed.
#[inline]
fn step(block: &[u8; BLOCK], depth: &mut u32, strings: &mut Strings) -> Option<usize> {
    // The two opening brackets differ in one bit, and the two closing ones do; no other byte becomes one of them.
    let [quotes, backslashes, mut opening, mut closing] =
        masks(block, |bytes| [(bytes, b'"'), (bytes, b'\\'), (bytes | 0x20, b'{'), (bytes | 0x20, b'}')]);
    let inside = strings.inside(quotes, backslashes);
    opening &= !inside;
    closing &= !inside;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::object::json::tests::documents;
    use crate::object::json::value;

    /// The same, a byte at a time.
    fn slowly(text: &[u8]) -> Option<usize> {
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
        fn of_json_it_is_the_end_that_one_finds_who_reads_all(document in documents(), before in "[ -~]{0,70}") {
            let text = format!("{before}[{document}],{{\"next\":1}}");
            prop_assert_eq!(end(text.as_bytes(), before.len()), value(text.as_bytes(), before.len()));
        }

        #[test]
        fn of_any_text_it_is_where_the_brackets_outside_of_strings_close(text in "[{][\\[\\]{}\\\\\"ab]{0,200}") {
            prop_assert_eq!(end(text.as_bytes(), 0), slowly(text.as_bytes()));
        }

        #[test]
        fn runs_of_backslashes_are_followed_across_blocks(runs in proptest::collection::vec((0..70usize, 0..5usize), 1..8)) {
            let string = |(plain, pairs): &(usize, usize)| ["\"", &"x".repeat(*plain), &"\\\\".repeat(*pairs), "\\\"]\","].concat();
            let strings: Vec<_> = runs.iter().map(string).collect();
            let text = format!("[{}0]", strings.concat());
            prop_assert_eq!(end(text.as_bytes(), 0), Some(text.len()));
        }
    }

    #[test]
    fn what_does_not_end_has_no_end() {
        for text in ["", "[", "[[1]", "{\"a\":\"}", "[\"\\", "]", "1"] {
            assert_eq!(end(text.as_bytes(), 0), None, "{text}");
        }
        assert_eq!(end(b"[]", 3), None);
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(end(deep.as_bytes(), 0), Some(deep.len()));
    }
}
