//! Finds the end of one JSON value in chunks that are cut anywhere.
//!
//! The content is not validated, except for errors that would hide the end: a missing quote or bracket must not merge
//! all following values into one.

use super::brackets::{Brackets, LINE_BREAK_IN_STRING};
use super::{Fault, Limits};

/// The capacity above which a buffer is shrunk after a large value.
pub(super) const KEPT_CAPACITY: usize = 1 << 20;

/// Scans one JSON value from its first byte to its last.
#[derive(Debug, Default)]
struct ValueScanner {
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
    /// In such a string, directly after a backslash. (The digits of `\u` are ordinary text: none of them is a quote.)
    Escape,
    /// In a number or a word.
    Scalar,
}

impl ValueScanner {
    /// Returns the number of bytes of `input` that belong to the value, if it ends there. `input` must continue where
    /// the last one ended, and not start with white space at the first call.
    fn scan(&mut self, input: &[u8], limit: u32) -> Result<Option<usize>, Fault> {
        let mut at = 0;
        if self.inside == Inside::Nothing {
            let Some(first) = input.first() else { return Ok(None) };
            (self.inside, at) = match first {
                b'{' | b'[' => {
                    self.brackets = Brackets::start(limit)?;
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

    /// Returns the end of a string that is the whole value.
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
                _ => return Err(LINE_BREAK_IN_STRING),
            }
        }
        Ok(None)
    }
}

/// Returns whether a byte can't be part of a number or a word.
fn ends_scalar(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | b':' | b'"' | b'{' | b'}' | b'[' | b']')
}

/// Collects one value after the other: borrowed if a value is within one chunk, copied if a cut went through it.
#[derive(Debug)]
pub(super) struct ValueBuffer {
    follower: ValueScanner,
    limits: Limits,
    partial: Vec<u8>,
    /// Bytes of the current value from earlier chunks.
    start: usize,
    /// Whether `partial` holds a value that has been returned.
    is_consumed: bool,
}

impl ValueBuffer {
    pub(super) fn new(limits: Limits) -> Self {
        Self { follower: ValueScanner::default(), limits, partial: Vec::new(), start: 0, is_consumed: false }
    }

    /// Returns whether a value has started and not ended.
    pub(super) fn is_inside(&self) -> bool {
        self.follower.inside != Inside::Nothing
    }

    /// Takes the rest of the value, or all available bytes of it, from the front of `input`; returns the value once
    /// it is complete. Each call for a new value starts at its first byte, not at white space.
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
        self.is_consumed = true;
        Ok(Some(&self.partial))
    }

    /// Skips a value of any length, of which nothing is kept. Returns whether it has ended.
    pub(super) fn skip(&mut self, input: &mut &[u8]) -> Result<bool, Fault> {
        self.forget_spent();
        self.start = 0;
        let ended = self.advance(input)?.is_some();
        if !ended {
            *input = &[];
        }
        Ok(ended)
    }

    /// Cuts the end of the value off `input`, or counts all of `input` as its middle.
    fn advance<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<&'a [u8]>, Fault> {
        let end = self.follower.scan(input, self.limits.depth)?;
        self.start += end.unwrap_or(input.len());
        if self.start > self.limits.frame {
            return Err(Fault::TooLong(self.limits.frame));
        }
        let Some(end) = end else { return Ok(None) };
        let (part, rest) = input.split_at(end);
        *input = rest;
        self.follower = ValueScanner::default();
        self.start = 0;
        Ok(Some(part))
    }

    fn forget_spent(&mut self) {
        if self.is_consumed {
            self.partial.clear();
            self.partial.shrink_to(KEPT_CAPACITY);
            self.is_consumed = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::wire::frames::brackets::{BACKSLASH_OUTSIDE_STRING, MISSING_COMMA};
    use crate::wire::frames::testing::{cut, document, text};

    /// Returns the end of a value, or its fault and the chunk in which the fault is noticed.
    fn scanned(body: &[u8], cuts: &[usize], limit: u32) -> Result<Option<usize>, (Fault, Range<usize>)> {
        let mut follower = ValueScanner::default();
        let mut at = 0;
        for chunk in cut(body, cuts) {
            match follower.scan(chunk, limit) {
                Ok(None) => at += chunk.len(),
                Ok(Some(end)) => return Ok(Some(at + end)),
                Err(fault) => return Err((fault, at..at + chunk.len())),
            }
        }
        Ok(None)
    }

    /// Scans byte by byte: the end, or the fault and the byte at which it is noticed.
    fn scanned_bytewise(body: &[u8], limit: u32) -> Result<Option<usize>, (Fault, usize)> {
        if !body.is_empty() && !b"{[\"".contains(&body[0]) {
            return Ok(body.iter().position(|byte| ends_scalar(*byte)));
        }
        let (mut depth, mut in_string, mut escaped, mut closed) = (0, false, false, false);
        for (at, byte) in body.iter().enumerate() {
            if in_string {
                match byte {
                    b'\n' => return Err((LINE_BREAK_IN_STRING, at)),
                    _ if std::mem::take(&mut escaped) => {}
                    b'\\' => escaped = true,
                    b'"' if depth == 0 => return Ok(Some(at + 1)),
                    b'"' => in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'\\' => return Err((BACKSLASH_OUTSIDE_STRING, at)),
                b'{' | b'[' if closed => return Err((MISSING_COMMA, at)),
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

    /// Checks that a text with these cuts, and with a cut at every byte, gives the result of the bytewise scan.
    fn agrees(body: &[u8], cuts: &[usize], limit: u32) -> Result<(), TestCaseError> {
        let expected = scanned_bytewise(body, limit);
        let each: Vec<_> = (0..body.len()).collect();
        for cuts in [&[], cuts, &each] {
            match (scanned(body, cuts, limit), &expected) {
                (Err((fault, chunk)), Err((expected, at))) => {
                    prop_assert_eq!(fault, *expected);
                    prop_assert!(chunk.contains(at), "{} in {:?}", at, chunk);
                }
                (found, expected) => prop_assert_eq!(found.ok(), expected.as_ref().ok().copied()),
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

    /// The components of texts, including invalid ones.
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
        fn end_of_json_does_not_depend_on_cuts(
            value in value(),
            pretty: bool,
            start in "[,\\]}\\[{ \\n\\\\\":a]{0,80}",
            cuts in cuts(),
            limit in prop_oneof![1..8u32, Just(512)],
        ) {
            let json = text(&value, pretty);
            if json.starts_with(['{', '[', '"']) {
                let end = scanned((json.clone() + &start).as_bytes(), &cuts, 512);
                prop_assert_eq!(end, Ok(Some(json.len())));
            }
            agrees((json + &start).as_bytes(), &cuts, limit)?;
        }

        #[test]
        fn damaged_json_scans_as_byte_by_byte(
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
        fn any_text_scans_as_byte_by_byte(
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
        fn backslash_runs_are_scanned_across_blocks_and_cuts(
            runs in prop::collection::vec((0..70usize, 0..5usize), 1..8),
            cuts in cuts(),
        ) {
            let string = |(plain, pairs): &(usize, usize)| ["\"", &"x".repeat(*plain), &"\\\\".repeat(*pairs), "\\\"]\","].concat();
            let strings: Vec<_> = runs.iter().map(string).collect();
            let body = format!("[{}0]", strings.concat());
            prop_assert_eq!(scanned(body.as_bytes(), &cuts, 1), Ok(Some(body.len())));
            agrees(body.as_bytes(), &cuts, 1)?;
        }
    }

    #[test]
    fn hidden_ends_are_faults_anywhere_in_a_block() {
        for (body, expected) in [
            ("\"a\nb\"]", LINE_BREAK_IN_STRING),
            ("\"a\\\nb\"]", LINE_BREAK_IN_STRING),
            ("{}{}]", MISSING_COMMA),
            ("{} \r\n\t {}]", MISSING_COMMA),
            ("\\\"\"]", BACKSLASH_OUTSIDE_STRING),
            ("[[]]]", Fault::TooDeep(2)),
        ] {
            for before in 0..150 {
                let body = format!("[{}{body}", "1".repeat(before));
                for cuts in [vec![], vec![before + 2], (0..body.len()).collect()] {
                    let found = scanned(body.as_bytes(), &cuts, 2).map_err(|(fault, _)| fault);
                    assert_eq!(found, Err(expected), "{body} cut at {cuts:?}");
                }
            }
        }
    }

    #[test]
    fn bytes_after_the_end_are_not_part_of_the_value() {
        for start in ["\n", "\\", "{", "}", "\"\n", "[[[[["] {
            for value in ["[[]]", "{\"a\":[]}", "\"a\""] {
                let body = format!("{value}{start}");
                assert_eq!(scanned(body.as_bytes(), &[], 2), Ok(Some(value.len())), "{body}");
            }
        }
    }
}
