//! An iterator over the members of an object.

use std::borrow::Cow;

use super::walk::{TokenWalk, WalkedMember};
use super::{InvalidJson, JsonKind, JsonNode, unescaped};
use crate::object::json::{self, Entry, Members};

/// An iterator over the members of an object.
pub struct JsonMembers<'a> {
    object: JsonNode<'a>,
    way: Way<'a>,
    /// The end of the last value, or the position after the opening brace.
    end: usize,
}

/// The way in which members are found.
enum Way<'a> {
    /// By the bytes of the text.
    Bytes(Members<'a>),
    /// By the tokens of the text.
    Tokens(TokenWalk<'a>),
    /// There are no more.
    End,
}

impl<'a> JsonMembers<'a> {
    /// Iterates over the members of an object; over nothing for any other value.
    pub(super) fn of(object: JsonNode<'a>) -> Self {
        let way = match (object.kind(), object.known) {
            (JsonKind::Object, Some((text, number))) => Way::Tokens(TokenWalk::of(text, number)),
            (JsonKind::Object, None) => Way::Bytes(Members::of(object.text, object.at)),
            _ => Way::End,
        };
        Self { object, way, end: object.at + 1 }
    }

    /// Returns the position in the text up to which the iterator has read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.end
    }

    /// Skips the next members of both iterators as long as their texts are equal, and passes their names, as written, to
    /// `skipped`. Only those of this iterator are parsed.
    pub(crate) fn skip_equal(&mut self, other: &mut JsonMembers<'_>, mut skipped: impl FnMut(&'a [u8])) {
        let text = self.object.text;
        while let Some((ahead, name, end)) = self.ahead() {
            // With the separator, but for that of the first member.
            let Some(written) = text.get(self.end..end) else { return };
            let rest = other.object.text.get(other.end..).unwrap_or_default();
            let is_equal = rest.starts_with(written) && matches!(rest.get(written.len()), Some(b',' | b'}'));
            if !is_equal {
                return;
            }
            let others_end = other.end + written.len();
            match (&mut other.way, &self.way, &ahead) {
                (Way::Bytes(others), ..) => others.step_over_member(others_end),
                (Way::Tokens(others), Way::Tokens(from), Way::Tokens(to)) => {
                    others.skip_tokens(to.tokens_since(from));
                }
                _ => return,
            }
            (self.way, self.end, other.end) = (ahead, end, others_end);
            skipped(name);
        }
    }

    /// Returns the way after the next member, and the member's name, as written, and end.
    #[inline]
    fn ahead(&self) -> Option<(Way<'a>, &'a [u8], usize)> {
        let text = self.object.text;
        match &self.way {
            Way::Bytes(members) => {
                let mut members = members.clone();
                let Entry::Member(name, at) = members.next()? else { return None };
                let end = json::skip_brackets(text, at)?;
                members.step_over(end);
                Some((Way::Bytes(members), name.written, end))
            }
            Way::Tokens(walk) => {
                let mut walk = *walk;
                let WalkedMember { name_start, name_end, value } = walk.member()?.ok()?;
                Some((Way::Tokens(walk), text.get(name_start..name_end)?, value.end))
            }
            Way::End => None,
        }
    }

    /// Returns the next member by the bytes of the text.
    fn next_by_bytes(&mut self) -> Option<Result<(Cow<'a, str>, JsonNode<'a>), InvalidJson>> {
        let Way::Bytes(members) = &mut self.way else { return None };
        let text = self.object.text;
        let entry = match members.next() {
            Some(Entry::End(_)) => {
                self.way = Way::End;
                return None;
            }
            Some(Entry::Member(name, at)) => json::skip_brackets(text, at).and_then(|end| {
                members.step_over(end);
                self.end = end;
                let name = if name.is_plain {
                    Cow::Borrowed(str::from_utf8(name.written).ok()?)
                } else {
                    unescaped(name.written).ok()?
                };
                Some((name, self.object.at(at)))
            }),
            None => None,
        };
        if entry.is_none() {
            self.way = Way::End;
        }
        Some(entry.ok_or(InvalidJson))
    }
}

impl<'a> Iterator for JsonMembers<'a> {
    type Item = Result<(Cow<'a, str>, JsonNode<'a>), InvalidJson>;

    fn next(&mut self) -> Option<Self::Item> {
        let Way::Tokens(walk) = &mut self.way else { return self.next_by_bytes() };
        let member = walk.member()?.and_then(|WalkedMember { name_start, name_end, value }| {
            let (text, _) = self.object.known.ok_or(InvalidJson)?;
            self.end = value.end;
            let written = text.as_str().get(name_start..name_end).ok_or(InvalidJson)?;
            let name =
                if text.has_escapes() { unescaped(written.as_bytes())? } else { Cow::Borrowed(written) };
            Ok((name, self.object.at_token(value.start, value.token)))
        });
        Some(member)
    }
}
