//! A validating JSON skipper for the text that servers write.
//!
//! Every byte is checked, and everything that is skipped is valid JSON. Text of unusual form, such as nesting deeper
//! than 64, returns `None` whether it is valid or not; the caller then uses `serde_json`, which decides and supplies
//! the error.
//!
//! Brackets and commas take most of the time, not the bytes of strings. There is therefore a single loop without
//! recursion whose nesting is one word, and the ends of strings are searched for in 64 bytes at a time. Where the text
//! is known to be valid or is discarded, [`skip_brackets`] is faster.

pub(crate) mod blocks;
mod brackets;
mod specials;
mod text;

pub(super) use blocks::{BLOCK, mask, padded};
pub(super) use specials::zero_if_special;
use specials::{Specials, short_end};
pub use text::JsonText;
pub(super) use text::Token;

/// The nesting limit of arrays and objects, which take one bit each.
const DEPTH: u32 = u64::BITS;

/// Returns the end of the value that begins at `at`. The caller checks that strings in `text` are UTF-8.
pub(super) fn value(text: &[u8], mut at: usize) -> Option<usize> {
    // One bit per enclosing array or object, innermost last: set for an object.
    let mut around = 0u64;
    let mut depth = 0;
    // Names and values share one string branch: a function with a single caller is inlined, and its search results stay
    // in registers. That saves a tenth of the time.
    let mut is_name = false;
    let mut specials = Specials::default();
    let mut byte = *text.get(at)?;
    loop {
        match byte {
            b'"' => {
                at = specials.end(text, at + 1)?;
                if is_name {
                    is_name = false;
                    (byte, at) = after_name(text, at)?;
                    continue;
                }
            }
            _ if is_name => return None,
            b'{' | b'[' => {
                let is_object = byte == b'{';
                (byte, at) = next(text, at + 1)?;
                if byte != if is_object { b'}' } else { b']' } {
                    if depth == DEPTH {
                        return None;
                    }
                    around = around << 1 | u64::from(is_object);
                    depth += 1;
                    is_name = is_object;
                    continue;
                }
                at += 1;
            }
            _ => at = scalar(text, at)?,
        }
        // A value has ended, and so have the enclosing ones that a bracket closes here.
        loop {
            if depth == 0 {
                return Some(at);
            }
            let is_object = around & 1 == 1;
            (byte, at) = next(text, at)?;
            if byte == b',' {
                (byte, at) = next(text, at + 1)?;
                is_name = is_object;
                break;
            }
            if byte != if is_object { b'}' } else { b']' } {
                return None;
            }
            around >>= 1;
            depth -= 1;
            at += 1;
        }
    }
}

/// Returns the end of the value that begins at `at`, in text that was validated or for a value that is discarded:
/// inside arrays and objects only brackets are checked.
pub(super) fn skip_brackets(text: &[u8], at: usize) -> Option<usize> {
    match *text.get(at)? {
        b'{' | b'[' => brackets::end(text, at),
        b'"' => string(text, at),
        _ => value(text, at),
    }
}

/// Returns the end of the string that begins at `at`. Faster than [`value`] for a single string.
fn string(text: &[u8], at: usize) -> Option<usize> {
    short_end(text, at + 1).or_else(|| value(text, at))
}

/// Returns the content of the string that begins at `at`, if it is short and has no escape.
pub(super) fn short_string(text: &[u8], at: usize) -> Option<&[u8]> {
    let end = (*text.get(at)? == b'"').then(|| short_end(text, at + 1))??;
    text.get(at + 1..end - 1)
}

/// An iterator over the members of an object.
#[derive(Clone)]
pub(super) struct Members<'a> {
    text: &'a [u8],
    at: usize,
    is_first: bool,
}

/// The name of a member.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    /// The name as written, without its quotes.
    pub(super) written: &'a [u8],
    /// Whether it is known to have no escapes.
    pub(super) is_plain: bool,
}

/// The next item of an object.
pub(super) enum Entry<'a> {
    /// A member: its name, and the position of its value.
    Member(Name<'a>, usize),
    /// The end of the object, just before this position.
    End(usize),
}

impl<'a> Members<'a> {
    /// Iterates over the object whose opening brace is at `at`.
    pub(super) fn of(text: &'a [u8], at: usize) -> Self {
        Self { text, at: at + 1, is_first: true }
    }

    /// Returns the next member. The caller must have passed the end of the previous value to [`Members::step_over`].
    pub(super) fn next(&mut self) -> Option<Entry<'a>> {
        let (mut byte, mut at) = next(self.text, self.at)?;
        match byte {
            b'}' => return Some(Entry::End(at + 1)),
            b',' if !self.is_first => (byte, at) = next(self.text, at + 1)?,
            _ if self.is_first => {}
            _ => return None,
        }
        self.is_first = false;
        let short = (byte == b'"').then(|| short_end(self.text, at + 1))?;
        let end = match short {
            Some(end) => end,
            None => value(self.text, at)?,
        };
        let (_, value) = after_name(self.text, end)?;
        let name = Name { written: &self.text[at + 1..end - 1], is_plain: short.is_some() };
        Some(Entry::Member(name, value))
    }

    /// Sets the end of the last member's value.
    pub(super) fn step_over(&mut self, end: usize) {
        self.at = end;
    }

    /// Skips the next member, whose value ends there.
    pub(super) fn step_over_member(&mut self, end: usize) {
        (self.at, self.is_first) = (end, false);
    }
}

/// Returns the first byte of a member's value and its position, given the end of the name.
#[inline]
fn after_name(text: &[u8], at: usize) -> Option<(u8, usize)> {
    let (byte, colon) = next(text, at)?;
    if byte == b':' { next(text, colon + 1) } else { None }
}

/// Returns the first byte from `at` on that is not whitespace, and its position.
#[inline]
fn next(text: &[u8], at: usize) -> Option<(u8, usize)> {
    let byte = *text.get(at)?;
    if byte > b' ' {
        return Some((byte, at));
    }
    let at = space(text, at);
    Some((*text.get(at)?, at))
}

/// Returns the first position from `at` on that is not whitespace.
#[inline]
pub(super) fn space(text: &[u8], mut at: usize) -> usize {
    while let Some(byte) = text.get(at)
        && *byte <= b' '
        && matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
    {
        at += 1;
    }
    at
}

/// Returns the end of a number or literal.
fn scalar(text: &[u8], at: usize) -> Option<usize> {
    let word = |word: &[u8]| text[at..].starts_with(word).then_some(at + word.len());
    match text[at] {
        b't' => word(b"true"),
        b'f' => word(b"false"),
        b'n' => word(b"null"),
        b'-' => number(text, at + 1),
        _ => number(text, at),
    }
}

/// Returns the end of a number whose first digit is at `at`.
fn number(text: &[u8], at: usize) -> Option<usize> {
    let mut end = digits(text, at)?;
    if text[at] == b'0' && end > at + 1 {
        return None;
    }
    if text.get(end) == Some(&b'.') {
        end = digits(text, end + 1)?;
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let signed = matches!(text.get(end + 1), Some(b'+' | b'-'));
        end = digits(text, end + 1 + usize::from(signed))?;
    }
    Some(end)
}

/// Returns the end of a run of at least one digit.
fn digits(text: &[u8], at: usize) -> Option<usize> {
    let count = text.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then_some(at + count)
}

#[cfg(test)]
pub(super) use tests::{damaged, damages, documents};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;
    use serde_json::Value;

    use super::*;

    pub(in crate::object) fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-z.:/-]{0,40}".prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 60, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::btree_map("[a-z.\"\\\\]{0,20}", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// Damages a text: removes, inserts and replaces bytes.
    pub(in crate::object) fn damaged(
        mut text: String,
        damages: &[(prop::sample::Index, u8, char)],
    ) -> String {
        for (at, kind, with) in damages {
            let places: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
            let Some(place) = (!places.is_empty()).then(|| places[at.index(places.len())]) else { break };
            match kind % 4 {
                0 => drop(text.remove(place)),
                1 => text.insert(place, *with),
                2 => {
                    text.remove(place);
                    text.insert(place, *with);
                }
                _ => text.truncate(place),
            }
        }
        text
    }

    pub(in crate::object) fn damages() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, char)>> {
        let telling: Vec<char> = "{}[]\",:\\0-+.eEtu \n\u{1}ü".chars().collect();
        proptest::collection::vec(
            (any::<prop::sample::Index>(), any::<u8>(), prop::sample::select(telling)),
            0..4,
        )
    }

    pub(super) fn is_json(text: &str) -> bool {
        serde_json::from_str::<IgnoredAny>(text).is_ok()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn exactly_valid_json_is_skipped(document in documents(), pretty: bool, damages in damages()) {
            let text = if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) };
            let text = damaged(text.expect("JSON"), &damages);
            let start = space(text.as_bytes(), 0);
            let end = value(text.as_bytes(), start).map(|end| space(text.as_bytes(), end));
            prop_assert_eq!(end == Some(text.len()), is_json(&text), "{}", text);
        }

        #[test]
        fn single_string_ends_as_a_value_does(text in "[ab\"\\\\\n\u{1}ü]{0,40}[a-z]{0,40}\"{0,2}") {
            let text = format!("\"{text}, 1: 2, and more text that follows");
            prop_assert_eq!(string(text.as_bytes(), 0), value(text.as_bytes(), 0), "{}", text);
        }

        #[test]
        fn validity_agrees_with_serde(text in "[\\[\\]{}:,\"\\\\u0-2eE.+truefalsn -]{0,24}") {
            let start = space(text.as_bytes(), 0);
            let end = value(text.as_bytes(), start).map(|end| space(text.as_bytes(), end));
            prop_assert_eq!(end == Some(text.len()), is_json(&text), "{}", text);
        }
    }

    #[test]
    fn nesting_is_accepted_up_to_its_limit() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        // The innermost is empty and takes no bit.
        for (depth, expected) in [(1, true), (63, true), (65, true), (66, false), (100_000, false)] {
            assert_eq!(value(nested(depth).as_bytes(), 0).is_some(), expected, "{depth}");
        }
        assert_eq!(value(b"[[1]", 0), None);
        assert_eq!(value(b"[{]}", 0), None);
    }
}
