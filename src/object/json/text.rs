//! JSON text with its structural characters, which are found in one pass. For a text of which many values are read.

use wide::u8x16;

use super::blocks::{BLOCK, Strings, mask, padded};

/// The length of text for each token that room is reserved for. Objects of Kubernetes have fewer.
const BYTES_PER_TOKEN: usize = 10;

/// The number of tokens by which few texts have more than the text before them.
const USUAL_GROWTH: usize = 32;

/// The nesting up to which memory is reserved.
const USUAL_NESTING: usize = 16;

/// The shortest array or object that is compared with one of another text. Finding the tokens of a shorter one takes no longer.
const MIN_COMPARED: usize = 4 * BLOCK;

/// In place of the number of a token: none.
const NONE: u32 = u32::MAX;

/// A JSON text, and its brackets, commas and colons outside of strings.
///
/// A [`JsonNode`](crate::object::JsonNode) of it finds the members and elements of a value without looking at the bytes between.
/// The tokens take eight bytes each.
#[derive(Debug, Clone, Default)]
pub struct JsonText {
    text: String,
    /// In the order of the text. Each bracket has its counterpart. None of a text that has no structure.
    tokens: Vec<Token>,
    /// Whether a string may have escapes.
    has_escapes: bool,
}

/// A bracket, comma or colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::object) struct Token {
    /// Its position in the text.
    pub(in crate::object) at: u32,
    /// Of an opening bracket, the number of tokens from it to the one that closes it; 0 of any other token.
    pub(in crate::object) span: u32,
}

impl JsonText {
    /// Finds the tokens of a text. A text whose brackets are not balanced, and one of more than 4 GiB, has none: its values are
    /// found by its bytes.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self::after(text, &Self::default(), Self::default())
    }

    /// Returns [`JsonText::of`] for a text that is similar to another one. The tokens of arrays and objects that are in both are
    /// copied, which takes a fraction of the time. `memory` is a text whose memory is used again.
    #[must_use]
    pub fn after(text: &str, other: &Self, memory: Self) -> Self {
        let Self { text: mut own, mut tokens, .. } = memory;
        own.clear();
        own.push_str(text);
        tokens.clear();
        tokens.reserve(match other.tokens.len() {
            0 => text.len() / BYTES_PER_TOKEN,
            count => count + USUAL_GROWTH,
        });
        let mut finder = Finder {
            text: own.as_bytes(),
            tokens,
            innermost: NONE,
            has_escapes: other.has_escapes,
            other: Other {
                text: other.text.as_bytes(),
                tokens: &other.tokens,
                next: 0,
                ends: Vec::with_capacity(USUAL_NESTING),
            },
        };
        let is_balanced = finder.find().is_some() && finder.innermost == NONE;
        let Finder { mut tokens, has_escapes, .. } = finder;
        if !is_balanced {
            tokens.clear();
        }
        Self { text: own, tokens, has_escapes }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a string may have escapes.
    pub(in crate::object) fn has_escapes(&self) -> bool {
        self.has_escapes
    }

    /// Returns the number of the token at a position, if there is one.
    pub(in crate::object) fn number_at(&self, at: usize) -> Option<u32> {
        let at = u32::try_from(at).ok()?;
        let found = self.tokens.binary_search_by_key(&at, |token| token.at).ok()?;
        u32::try_from(found).ok()
    }

    /// Returns the tokens of the array or object whose first token has a number. `None` for other tokens.
    #[inline]
    pub(in crate::object) fn tokens_of(&self, number: u32) -> Option<&[Token]> {
        let tokens = self.tokens.get(number as usize..)?;
        let span = tokens.first().map(|token| token.span).filter(|span| *span > 0)?;
        tokens.get(..=span as usize)
    }
}

/// The search for the tokens of a text.
struct Finder<'a> {
    text: &'a [u8],
    /// While a value is open, its `span` is the number of the enclosing value.
    tokens: Vec<Token>,
    /// The number of the innermost value that is open.
    innermost: u32,
    has_escapes: bool,
    other: Other<'a>,
}

impl Finder<'_> {
    /// Finds the tokens. Returns `None` if the text is too long, or has more closing than opening brackets.
    fn find(&mut self) -> Option<()> {
        u32::try_from(self.text.len()).ok()?;
        let mut at = 0;
        let mut strings = Strings::default();
        while let Some(rest) = self.text.get(at..).filter(|rest| !rest.is_empty()) {
            let found = match rest.first_chunk() {
                Some(block) => self.structural(block, &mut strings),
                None => self.structural(&padded(rest), &mut strings),
            };
            let next = self.block(rest, u32::try_from(at).ok()?, found)?;
            if next != at + BLOCK {
                // After an array or object, which is outside of strings.
                strings = Strings::default();
            }
            at = next;
        }
        Some(())
    }

    /// Adds the tokens of the block at the front of the rest of the text, which begins at `start`. Returns the position at which to
    /// continue: after the block, or after an array or object whose tokens were copied, which is longer than a block. `None` if the
    /// brackets are not balanced.
    #[inline(always)]
    fn block(&mut self, rest: &[u8], start: u32, mut found: u64) -> Option<usize> {
        let mut number = u32::try_from(self.tokens.len()).ok()?;
        while found != 0 {
            let bit = found.trailing_zeros();
            found &= found - 1;
            let mut token = Token { at: start + bit, span: 0 };
            match rest.get(bit as usize)? {
                b'{' | b'[' => {
                    if let Some(end) = self.other.copy(self.text, token.at as usize, &mut self.tokens) {
                        return Some(end);
                    }
                    token.span = std::mem::replace(&mut self.innermost, number);
                }
                b'}' | b']' => {
                    let open = self.tokens.get_mut(self.innermost as usize)?;
                    let span = number - self.innermost;
                    self.innermost = std::mem::replace(&mut open.span, span);
                    self.other.close();
                }
                _ => {}
            }
            self.tokens.push(token);
            number += 1;
        }
        Some(start as usize + BLOCK)
    }

    /// Returns the structural characters of a block that are outside of strings.
    #[inline(always)]
    fn structural(&mut self, block: &[u8; BLOCK], strings: &mut Strings) -> u64 {
        let quotes = mask(block, b'"', |bytes| bytes);
        let backslashes = mask(block, b'\\', |bytes| bytes);
        // The two opening brackets differ in one bit, as do the two closing ones; no other byte maps to them.
        let structural = mask(block, 0, |bytes| {
            let brackets = bytes | u8x16::splat(0x20);
            let of_brackets = (brackets ^ u8x16::splat(b'{')).min(brackets ^ u8x16::splat(b'}'));
            let of_others = (bytes ^ u8x16::splat(b',')).min(bytes ^ u8x16::splat(b':'));
            of_brackets.min(of_others)
        });
        self.has_escapes |= backslashes != 0;
        structural & !strings.inside(quotes, backslashes)
    }
}

/// A text whose tokens are known.
struct Other<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    /// The number of the token from which on the counterpart of the next array or object is searched for.
    next: usize,
    /// For each open value of the first text, the number of the token after its counterpart.
    ends: Vec<usize>,
}

impl Other<'_> {
    /// If the array or object at a position of the first text equals its counterpart, appends the tokens of that and returns the
    /// end of the value. Otherwise the value is open.
    #[inline]
    fn copy(&mut self, text: &[u8], at: usize, tokens: &mut Vec<Token>) -> Option<usize> {
        let rest = self.tokens.get(self.next..).unwrap_or_default();
        let Some(open) = rest.iter().position(|token| token.span > 0).map(|count| self.next + count) else {
            self.ends.push(self.next);
            return None;
        };
        let end = open + self.tokens[open].span as usize + 1;
        let copied = self.tokens.get(open..end).unwrap_or_default();
        let value = match copied {
            [first, .., last] => self.text.get(first.at as usize..=last.at as usize).unwrap_or_default(),
            _ => &[],
        };
        let is_equal = value.len() >= MIN_COMPARED && text.get(at..)?.starts_with(value);
        if !is_equal {
            self.next = open + 1;
            self.ends.push(end);
            return None;
        }
        let moved = u32::try_from(at).ok()?.wrapping_sub(copied[0].at);
        tokens.extend(copied.iter().map(|token| Token { at: token.at.wrapping_add(moved), ..*token }));
        self.next = end;
        Some(at + value.len())
    }

    /// Continues after the counterpart of the innermost open value, which ends.
    #[inline]
    fn close(&mut self) {
        self.next = self.ends.pop().unwrap_or(self.next);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::object::json::tests::documents;

    /// A bytewise reference implementation: the tokens, or `None` if the brackets are not balanced.
    fn bytewise(text: &[u8]) -> Option<Vec<Token>> {
        let (mut tokens, mut open) = (Vec::<Token>::new(), Vec::new());
        let (mut in_string, mut is_escaped) = (false, false);
        for (at, byte) in (0..).zip(text) {
            match (byte, std::mem::take(&mut is_escaped)) {
                (b'\\', false) => is_escaped = true,
                (b'"', false) => in_string = !in_string,
                (b'{' | b'[' | b'}' | b']' | b',' | b':', _) if !in_string => {
                    if matches!(byte, b'{' | b'[') {
                        open.push(tokens.len());
                    } else if matches!(byte, b'}' | b']') {
                        let opening: usize = open.pop()?;
                        tokens[opening].span = u32::try_from(tokens.len() - opening).expect("few");
                    }
                    tokens.push(Token { at, span: 0 });
                }
                _ => {}
            }
        }
        open.is_empty().then_some(tokens)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_tokens_are_those_outside_of_strings(document in documents(), damaged in "[{][\\[\\]{}:,\\\\\"ab]{0,200}") {
            for text in [document.to_string(), damaged] {
                let expected = bytewise(text.as_bytes()).unwrap_or_default();
                prop_assert_eq!(JsonText::of(&text).tokens, expected, "{}", text);
            }
        }

        #[test]
        fn the_tokens_after_another_text_are_those_of_the_text(
            parts in proptest::collection::vec((documents(), documents(), 0..4u8), 0..6),
            is_nested: bool,
        ) {
            // Each part is in both texts, in one of them, or another one in each; long ones are copied.
            let part = |document: &serde_json::Value| format!("{{\"a\":{document},\"text\":\"{}\"}}", "x".repeat(300));
            let text = |is_new: bool| {
                let parts: Vec<_> = parts.iter().filter_map(|(one, other, kind)| match (kind, is_new) {
                    (0, _) | (1, false) => Some(part(one)),
                    (1, true) => Some(part(other)),
                    (2, _) => is_new.then(|| part(one)),
                    _ => (!is_new).then(|| part(one)),
                }).collect();
                let list = format!("[{}]", parts.join(","));
                if is_nested { format!("{{\"n\":{is_new},\"list\":{list},\"end\":[]}}") } else { list }
            };
            let [old, new] = [false, true].map(text);
            let found = JsonText::after(&new, &JsonText::of(&old), JsonText::of(&old));
            prop_assert_eq!(&found.tokens, &JsonText::of(&new).tokens);
            prop_assert!(found.has_escapes || !new.contains('\\'));
            for (number, token) in (0..).zip(&found.tokens) {
                prop_assert_eq!(found.number_at(token.at as usize), Some(number));
            }
        }
    }
}
