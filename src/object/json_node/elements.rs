//! The elements of an array.

use super::node::{InvalidJson, JsonKind, JsonNode};
use super::walk::TokenWalk;
use crate::object::json;

impl<'a> JsonNode<'a> {
    /// Iterates over the elements of an array; over nothing for any other value.
    #[must_use]
    pub fn elements(self) -> JsonElements<'a> {
        JsonElements::of(self)
    }
}

/// An iterator over the elements of an array.
pub struct JsonElements<'a> {
    array: JsonNode<'a>,
    way: Way<'a>,
    /// The end of the last value, or the position after the opening bracket.
    end: usize,
}

/// The way in which elements are found.
enum Way<'a> {
    /// By the bytes of the text.
    Bytes { is_first: bool },
    /// By the tokens of the text.
    Tokens(TokenWalk<'a>),
    /// There are no more.
    End,
}

impl<'a> JsonElements<'a> {
    /// Iterates over the elements of an array; over nothing for any other value.
    pub(super) fn of(array: JsonNode<'a>) -> Self {
        let way = match (array.kind(), array.known) {
            (JsonKind::Array, Some((text, number))) => Way::Tokens(TokenWalk::of(text, number)),
            (JsonKind::Array, None) => Way::Bytes { is_first: true },
            _ => Way::End,
        };
        Self { array, way, end: array.at + 1 }
    }

    /// Returns the position in the text up to which the iterator has read.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.end
    }

    /// Returns the next element by the bytes of the text, `None` at the end of the array.
    fn advance(&mut self, is_first: bool) -> Result<Option<JsonNode<'a>>, InvalidJson> {
        let text = self.array.text;
        let at = json::space(text, self.end);
        let start = match (text.get(at), is_first) {
            (Some(b']'), _) => return Ok(None),
            (Some(_), true) => at,
            (Some(b','), false) => json::space(text, at + 1),
            _ => return Err(InvalidJson),
        };
        self.end = json::skip_brackets(text, start).ok_or(InvalidJson)?;
        Ok(Some(self.array.at(start)))
    }
}

impl<'a> Iterator for JsonElements<'a> {
    type Item = Result<JsonNode<'a>, InvalidJson>;

    fn next(&mut self) -> Option<Self::Item> {
        let is_first = match &mut self.way {
            Way::Tokens(walk) => {
                return Some(walk.element()?.map(|value| {
                    self.end = value.end;
                    self.array.at_token(value.start, value.token)
                }));
            }
            Way::Bytes { is_first } => std::mem::take(is_first),
            Way::End => return None,
        };
        let element = self.advance(is_first).transpose();
        if !matches!(element, Some(Ok(_))) {
            self.way = Way::End;
        }
        element
    }
}
