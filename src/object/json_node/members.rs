//! The members of an object.

use std::borrow::Cow;

use super::node::{InvalidJson, JsonKind, JsonNode};
use super::walk::{TokenWalk, WalkedMember};
use crate::object::json::{self, Entry, Members};

impl<'a> JsonNode<'a> {
    /// Returns the member of this name, if this is an object that has one.
    ///
    /// # Errors
    /// The text up to the member is not JSON.
    pub fn member(self, name: &str) -> Result<Option<Self>, InvalidJson> {
        Ok(self.search(name)?.0)
    }

    /// Returns [`JsonNode::member`], and the number of bytes that the search has read.
    ///
    /// # Errors
    /// The text up to the member is not JSON.
    pub fn search(self, name: &str) -> Result<(Option<Self>, usize), InvalidJson> {
        if self.kind() != JsonKind::Object {
            return Ok((None, 0));
        }
        if self.known.is_some() {
            return self.search_members(name);
        }
        let mut members = Members::of(self.text, self.at);
        loop {
            let (own, at) = match members.next().ok_or(InvalidJson)? {
                Entry::Member(own, at) => (own, at),
                Entry::End(end) => return Ok((None, end - self.at)),
            };
            let has_escapes = || !own.is_plain && own.written.contains(&b'\\');
            if own.written == name.as_bytes() || (has_escapes() && unescaped(own.written)? == name) {
                return Ok((Some(self.at(at)), at - self.at));
            }
            members.step_over(json::skip_brackets(self.text, at).ok_or(InvalidJson)?);
        }
    }

    /// Returns [`JsonNode::search`] in a text whose tokens are known.
    fn search_members(self, name: &str) -> Result<(Option<Self>, usize), InvalidJson> {
        let mut members = self.members();
        for member in members.by_ref() {
            let (own, value) = member?;
            if own == name {
                return Ok((Some(value), value.at - self.at));
            }
        }
        Ok((None, members.offset() - self.at))
    }

    /// Iterates over the members of an object in the order of the text; over nothing for any other value.
    #[must_use]
    pub fn members(self) -> JsonMembers<'a> {
        JsonMembers::of(self)
    }
}

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

/// Returns a name without its escapes.
fn unescaped(written: &[u8]) -> Result<Cow<'_, str>, InvalidJson> {
    let text = std::str::from_utf8(written).map_err(|_| InvalidJson)?;
    if !written.contains(&b'\\') {
        return Ok(Cow::Borrowed(text));
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    quoted.push_str(text);
    quoted.push('"');
    serde_json::from_str::<String>(&quoted).map(Cow::Owned).map_err(|_| InvalidJson)
}
