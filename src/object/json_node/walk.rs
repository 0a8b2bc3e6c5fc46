//! A walk over the members or elements of a value by the tokens of its text.

use super::node::InvalidJson;
use crate::object::json::{JsonText, Token, space};

/// A walk over the members or elements of one value.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenWalk<'a> {
    text: &'a [u8],
    /// From the opening bracket or comma before the next item to the closing bracket. None after an error.
    tokens: &'a [Token],
    /// The number of the first of them.
    number: u32,
}

/// A member: its name as it is written, without quotes, and its value.
pub(super) struct WalkedMember {
    pub(super) name_start: usize,
    pub(super) name_end: usize,
    pub(super) value: WalkedValue,
}

/// An element, or the value of a member.
pub(super) struct WalkedValue {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of its first token, if it is an array or object.
    pub(super) token: u32,
}

impl<'a> TokenWalk<'a> {
    /// Begins a walk over an array or object whose first token has that number.
    pub(super) fn of(text: &'a JsonText, number: u32) -> Self {
        let tokens = text.tokens_of(number).unwrap_or_default();
        Self { text: text.as_str().as_bytes(), tokens, number }
    }

    /// Returns the next member, `None` at the end.
    #[inline(always)]
    pub(super) fn member(&mut self) -> Option<Result<WalkedMember, InvalidJson>> {
        let [separator, colon, first, ..] = self.tokens else { return self.end() };
        let (start, end) = (after(self.text, *separator), trimmed(self.text, *colon));
        let is_name = end > start + 1
            && self.text.get(start) == Some(&b'"')
            && self.text.get(end - 1) == Some(&b'"')
            && self.text.get(colon.at as usize) == Some(&b':');
        let value = self.value(after(self.text, *colon), *first, 2).filter(|_| is_name);
        Some(self.result(value.map(|value| WalkedMember { name_start: start + 1, name_end: end - 1, value })))
    }

    /// Returns the next element, `None` at the end.
    #[inline(always)]
    pub(super) fn element(&mut self) -> Option<Result<WalkedValue, InvalidJson>> {
        let [separator, first, ..] = self.tokens else { return self.end() };
        let start = after(self.text, *separator);
        if let [_, close] = self.tokens
            && start == close.at as usize
        {
            return self.end();
        }
        let value = self.value(start, *first, 1);
        Some(self.result(value))
    }

    /// Returns the number of tokens that were passed since an earlier place of this walk.
    pub(super) fn tokens_since(&self, earlier: &Self) -> usize {
        earlier.tokens.len() - self.tokens.len()
    }

    /// Skips a number of tokens, which must be those of whole items.
    pub(super) fn skip_tokens(&mut self, count: usize) {
        self.tokens = self.tokens.get(count..).unwrap_or_default();
        self.number += u32::try_from(count).unwrap_or_default();
    }

    /// Takes the value that begins at a position. `first` is the token at the position or after it, which has `place` tokens before
    /// it.
    #[inline(always)]
    fn value(&mut self, start: usize, first: Token, place: u32) -> Option<WalkedValue> {
        let token = self.number + place;
        let (end, passed) = if first.span > 0 && first.at as usize == start {
            let last = (place + first.span) as usize;
            (self.tokens.get(last)?.at as usize + 1, last + 1)
        } else {
            (trimmed(self.text, first), place as usize)
        };
        self.skip_tokens(passed);
        (end > start && !self.tokens.is_empty()).then_some(WalkedValue { start, end, token })
    }

    /// Ends the walk if there is no value.
    #[inline(always)]
    fn result<T>(&mut self, value: Option<T>) -> Result<T, InvalidJson> {
        if value.is_none() {
            self.tokens = &[];
        }
        value.ok_or(InvalidJson)
    }

    /// Returns `None` at the end of the value, and an error if something is left.
    fn end<T>(&mut self) -> Option<Result<T, InvalidJson>> {
        match std::mem::take(&mut self.tokens) {
            [open, close] if after(self.text, *open) != close.at as usize => Some(Err(InvalidJson)),
            _ => None,
        }
    }
}

/// Returns the first position after a token that is not whitespace.
#[inline(always)]
fn after(text: &[u8], token: Token) -> usize {
    let at = token.at as usize + 1;
    if text.get(at).is_some_and(|byte| *byte > b' ') { at } else { space(text, at) }
}

/// Returns the position of a token, or of the whitespace before it.
#[inline(always)]
fn trimmed(text: &[u8], token: Token) -> usize {
    let mut at = token.at as usize;
    while at > 0 && text.get(at - 1).is_some_and(|byte| *byte <= b' ') {
        at -= 1;
    }
    at
}
