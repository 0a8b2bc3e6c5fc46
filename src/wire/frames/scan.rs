//! Where one JSON value ends, in chunks that are cut anywhere.
//!
//! What is inside is not validated, but for what would hide the end: a quote or a bracket that got lost must not make
//! one value of all that follows.

use super::brackets::{Brackets, LINE_BREAK};
use super::{Fault, Limits};

/// A buffer that once held a giant is given back beyond this size.
pub(super) const KEPT_CAPACITY: usize = 1 << 20;

/// Follows one JSON value from its first byte to its last, as far as needed to know which that is.
#[derive(Debug, Default)]
struct Follower {
    inside: Inside,
    brackets: Brackets,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Before the first byte.
    #[default]
    Nothing,
    /// In an array or object.
    Brackets,
    /// In a string that is the whole value.
    Text,
    /// In such a string, right after a backslash. (The digits of `\u` are ordinary text: none of them is a quote.)
    Escape,
    /// In a number or a word.
    Scalar,
}

impl Follower {
    /// How many bytes of `input` still belong to the value, if it ends there. `input` must begin where the last one
    /// ended, and not with white space at the first call.
    fn follow(&mut self, input: &[u8], limit: u32) -> Result<Option<usize>, Fault> {
        let mut at = 0;
        if self.inside == Inside::Nothing {
            let Some(first) = input.first() else { return Ok(None) };
            (self.inside, at) = match first {
                b'{' | b'[' => {
                    self.brackets = Brackets::begin(limit)?;
                    (Inside::Brackets, 1)
                }
                b'"' => (Inside::Text, 1),
                _ => (Inside::Scalar, 0),
            };
        }
        let rest = &input[at..];
        let end = match self.inside {
            Inside::Nothing => None,
            Inside::Brackets => self.brackets.end(rest, limit)?,
            Inside::Text | Inside::Escape => self.text(rest)?,
            Inside::Scalar => rest.iter().position(|byte| ends_scalar(*byte)),
        };
        Ok(end.map(|end| at + end))
    }

    /// Where the string ends that is the value.
    fn text(&mut self, input: &[u8]) -> Result<Option<usize>, Fault> {
        let mut at = 0;
        while at < input.len() {
            if self.inside == Inside::Escape {
                self.inside = Inside::Text;
                at += usize::from(input[at] != b'\n');
                continue;
            }
            let Some(step) = memchr::memchr3(b'"', b'\\', b'\n', &input[at..]) else { break };
            at += step + 1;
            match input[at - 1] {
                b'"' => return Ok(Some(at)),
                b'\\' => self.inside = Inside::Escape,
                _ => return Err(LINE_BREAK),
            }
        }
        Ok(None)
    }
}

/// Whether a byte can't be part of a number or a word.
fn ends_scalar(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | b':' | b'"' | b'{' | b'}' | b'[' | b']')
}

/// Gathers one value after the other: borrowed where a value lies in one chunk, copied where a cut went through it.
#[derive(Debug)]
pub(super) struct Gatherer {
    follower: Follower,
    limits: Limits,
    partial: Vec<u8>,
    /// Bytes of the value in progress that came with earlier chunks.
    behind: usize,
    /// `partial` holds a value that has been handed out.
    spent: bool,
}

impl Gatherer {
    pub(super) fn new(limits: Limits) -> Self {
        Self { follower: Follower::default(), limits, partial: Vec::new(), behind: 0, spent: false }
    }

    /// Whether a value has begun and not ended.
    pub(super) fn is_inside(&self) -> bool {
        self.follower.inside != Inside::Nothing
    }

    /// Takes the rest of the value, or all there is of it, from the front of `input`; answers with the value once it
    /// is whole. Each value starts at its first byte, not at the white space before.
    pub(super) fn take<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Result<Option<&'s [u8]>, Fault> {
        self.forget_spent();
        let Some(part) = self.advance(input)? else {
            self.partial.extend_from_slice(input);
            *input = &[];
            return Ok(None);
        };
        if self.partial.is_empty() {
            return Ok(Some(part));
        }
        self.partial.extend_from_slice(part);
        self.spent = true;
        Ok(Some(&self.partial))
    }

    /// The same for a value that nobody wants: nothing is kept of it, and it may be of any length. Answers whether it
    /// has ended.
    pub(super) fn skip(&mut self, input: &mut &[u8]) -> Result<bool, Fault> {
        self.forget_spent();
        self.behind = 0;
        let ended = self.advance(input)?.is_some();
        if !ended {
            *input = &[];
        }
        Ok(ended)
    }

    /// Cuts the end of the value off `input`, or counts all of `input` as its middle.
    fn advance<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<&'a [u8]>, Fault> {
        let end = self.follower.follow(input, self.limits.depth)?;
        self.behind += end.unwrap_or(input.len());
        if self.behind > self.limits.frame {
            return Err(Fault::TooLong(self.limits.frame));
        }
        let Some(end) = end else { return Ok(None) };
        let (part, rest) = input.split_at(end);
        *input = rest;
        self.follower = Follower::default();
        self.behind = 0;
        Ok(Some(part))
    }

    fn forget_spent(&mut self) {
        if self.spent {
            self.partial.clear();
            self.partial.shrink_to(KEPT_CAPACITY);
            self.spent = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::wire::frames::brackets::{NO_COMMA, NO_STRING};
    use crate::wire::frames::testing::{cut, document, text};

    /// Where a value ends, or its fault and the chunk in which that is noticed.
    fn followed(body: &[u8], cuts: &[usize], limit: u32) -> Result<Option<usize>, (Fault, Range<usize>)> {
        let mut follower = Follower::default();
        let mut at = 0;
        for chunk in cut(body, cuts) {
            match follower.follow(chunk, limit) {
                Ok(None) => at += chunk.len(),
                Ok(Some(end)) => return Ok(Some(at + end)),
                Err(fault) => return Err((fault, at..at + chunk.len())),
            }
        }
        Ok(None)
    }

    /// The same a byte at a time: where it ends, or its fault and the byte that it is noticed at.
    fn slowly(body: &[u8], limit: u32) -> Result<Option<usize>, (Fault, usize)> {
        if !body.is_empty() && !b"{[\"".contains(&body[0]) {
            return Ok(body.iter().position(|byte| ends_scalar(*byte)));
        }
        let (mut depth, mut in_string, mut escaped, mut closed) = (0, false, false, false);
        for (at, byte) in body.iter().enumerate() {
            if in_string {
                match byte {
                    b'\n' => return Err((LINE_BREAK, at)),
                    _ if std::mem::take(&mut escaped) => {}
                    b'\\' => escaped = true,
                    b'"' if depth == 0 => return Ok(Some(at + 1)),
                    b'"' => in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'\\' => return Err((NO_STRING, at)),
                b'{' | b'[' if closed => return Err((NO_COMMA, at)),
                b'{' | b'[' if depth == limit => return Err((Fault::TooDeep(limit), at)),
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth == 1 => return Ok(Some(at + 1)),
                b'}' | b']' => depth -= 1,
                _ => in_string = *byte == b'"',
            }
            closed = matches!(byte, b'}' | b']') || (closed && *byte <= b' ');
        }
        Ok(None)
    }

    /// Follows a text that is cut here, and in every byte, to the end or the fault that are found slowly.
    fn agrees(body: &[u8], cuts: &[usize], limit: u32) -> Result<(), TestCaseError> {
        let wanted = slowly(body, limit);
        let each: Vec<_> = (0..body.len()).collect();
        for cuts in [&[], cuts, &each] {
            match (followed(body, cuts, limit), &wanted) {
                (Err((fault, chunk)), Err((wanted, at))) => {
                    prop_assert_eq!(fault, *wanted);
                    prop_assert!(chunk.contains(at), "{} in {:?}", at, chunk);
                }
                (found, wanted) => prop_assert_eq!(found.ok(), wanted.as_ref().ok().copied()),
            }
        }
        Ok(())
    }

    fn cuts() -> impl Strategy<Value = Vec<usize>> {
        prop::collection::vec(0..700usize, 0..12)
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![document(), prop::collection::vec(document(), 0..9).prop_map(Value::from)]
    }

    /// What texts are made of, with what must not stand in them.
    fn parts() -> impl Strategy<Value = &'static str> {
        prop_oneof![
            30 => prop::sample::select(vec![
                "{", "[", "}", "]", "},{", "],[", "}}},", "\"", "\",\"", "\"a\":", ",", ":", " ", "12", "null", "ü",
                "a text of some length, so that it takes blocks to get through",
            ]),
            6 => prop::sample::select(vec!["\"\\\\\"", "\"\\\"\"", "\"\\\\\\\"[{\",", "\"}\\u0022]\""]),
            1 => prop::sample::select(vec!["\n", "\\", "\r\n\t", "\u{1}", "]{", "} \n["]),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn json_ends_where_it_ends_wherever_it_is_cut(
            value in value(),
            pretty: bool,
            behind in "[,\\]}\\[{ \\n\\\\\":a]{0,80}",
            cuts in cuts(),
            limit in prop_oneof![1..8u32, Just(512)],
        ) {
            let json = text(&value, pretty);
            if json.starts_with(['{', '[', '"']) {
                let end = followed((json.clone() + &behind).as_bytes(), &cuts, 512);
                prop_assert_eq!(end, Ok(Some(json.len())));
            }
            agrees((json + &behind).as_bytes(), &cuts, limit)?;
        }

        #[test]
        fn json_that_lost_something_is_judged_as_byte_by_byte(
            value in value(),
            pretty: bool,
            damages in prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(prop::sample::select(b"{}[]\",:\\\n a".to_vec()))), 1..4),
            cuts in cuts(),
            limit in prop_oneof![1..8u32, Just(512)],
        ) {
            let mut body = text(&value, pretty).into_bytes();
            for (at, with) in damages {
                let at = at.index(body.len());
                body.splice(at..=at, with);
                body.extend_from_slice(b"\n{\"next\":[1]}");
            }
            agrees(&body, &cuts, limit)?;
        }

        #[test]
        fn any_text_is_judged_as_byte_by_byte(
            start in "[{\\[]",
            parts in prop::collection::vec(parts(), 0..60),
            characters in "[{\\[\"][{}\\[\\]\",:\\\\\\n a1]{0,40}",
            cuts in cuts(),
            limit in prop_oneof![0..8u32, Just(512)],
        ) {
            agrees((start + &parts.concat()).as_bytes(), &cuts, limit)?;
            agrees(characters.as_bytes(), &cuts, limit)?;
        }

        #[test]
        fn runs_of_backslashes_are_followed_across_blocks_and_cuts(
            runs in prop::collection::vec((0..70usize, 0..5usize), 1..8),
            cuts in cuts(),
        ) {
            let string = |(plain, pairs): &(usize, usize)| ["\"", &"x".repeat(*plain), &"\\\\".repeat(*pairs), "\\\"]\","].concat();
            let strings: Vec<_> = runs.iter().map(string).collect();
            let body = format!("[{}0]", strings.concat());
            prop_assert_eq!(followed(body.as_bytes(), &cuts, 1), Ok(Some(body.len())));
            agrees(body.as_bytes(), &cuts, 1)?;
        }
    }

    #[test]
    fn what_would_hide_the_end_is_a_fault_in_whichever_place_of_a_block() {
        for (body, wanted) in [
            ("\"a\nb\"]", LINE_BREAK),
            ("\"a\\\nb\"]", LINE_BREAK),
            ("{}{}]", NO_COMMA),
            ("{} \r\n\t {}]", NO_COMMA),
            ("\\\"\"]", NO_STRING),
            ("[[]]]", Fault::TooDeep(2)),
        ] {
            for before in 0..150 {
                let body = format!("[{}{body}", "1".repeat(before));
                for cuts in [vec![], vec![before + 2], (0..body.len()).collect()] {
                    let found = followed(body.as_bytes(), &cuts, 2).map_err(|(fault, _)| fault);
                    assert_eq!(found, Err(wanted), "{body} cut at {cuts:?}");
                }
            }
        }
    }

    #[test]
    fn what_stands_behind_the_end_is_not_of_the_value() {
        for behind in ["\n", "\\", "{", "}", "\"\n", "[[[[["] {
            for value in ["[[]]", "{\"a\":[]}", "\"a\""] {
                let body = format!("{value}{behind}");
                assert_eq!(followed(body.as_bytes(), &[], 2), Ok(Some(value.len())), "{body}");
            }
        }
    }
}
