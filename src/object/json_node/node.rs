//! A value inside JSON text, as a position.

use std::borrow::Cow;

use crate::object::json::{self, JsonText};
use crate::object::json_value::JsonValue;

/// A value inside JSON text, as a position. Nothing of it is parsed before it is read.
///
/// The text of an object was validated when the object arrived. Other text may be invalid: functions then return
/// [`InvalidJson`], or the correct values before the place that is damaged.
#[derive(Debug, Clone, Copy)]
pub struct JsonNode<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    /// The text with its tokens if they are known, and the number of the first one of an array or object.
    pub(super) known: Option<(&'a JsonText, u32)>,
}

/// The text is not JSON, or is nested too deeply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid JSON")]
pub struct InvalidJson;

/// The type of a value, as far as its first byte shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonKind {
    /// An object.
    Object,
    /// An array.
    Array,
    /// Anything else: [`JsonNode::scalar`] returns it.
    Scalar,
}

impl<'a> JsonNode<'a> {
    /// Returns the value that the text consists of.
    #[must_use]
    pub fn root(text: &'a [u8]) -> Self {
        Self { text, at: json::space(text, 0), known: None }
    }

    /// Returns the value that the text consists of, which is found by its tokens, like all values in it.
    #[must_use]
    pub fn of(text: &'a JsonText) -> Self {
        Self::within(text, 0)
    }

    /// Returns the value that begins at a position of a text.
    pub(crate) fn within(text: &'a JsonText, at: usize) -> Self {
        let bytes = text.as_str().as_bytes();
        let at = json::space(bytes, at);
        Self { text: bytes, at, known: text.number_at(at).map(|number| (text, number)) }
    }

    /// Returns the value at a position of the same text.
    pub(super) fn at(self, at: usize) -> Self {
        Self { at, ..self }
    }

    /// Returns the value at a position of the same text whose tokens are known. The number is that of its first token.
    #[inline(always)]
    pub(super) fn at_token(self, at: usize, number: u32) -> Self {
        Self { text: self.text, at, known: self.known.map(|(text, _)| (text, number)) }
    }

    /// Returns the type of the value.
    #[must_use]
    pub fn kind(self) -> JsonKind {
        match self.text.get(self.at) {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            _ => JsonKind::Scalar,
        }
    }

    /// Returns the position in the text at which the value begins.
    #[must_use]
    pub fn offset(self) -> usize {
        self.at
    }

    /// Returns the bytes at a position of the text as text.
    fn utf8(self, at: usize, bytes: &'a [u8]) -> Option<&'a str> {
        match self.known {
            Some((text, _)) => text.as_str().get(at..at + bytes.len()),
            None => str::from_utf8(bytes).ok(),
        }
    }

    /// Parses the value. Callers use it for values that are neither objects nor arrays; of those it parses everything.
    ///
    /// # Errors
    /// The value is not JSON.
    pub fn scalar(self) -> Result<JsonValue<'a>, InvalidJson> {
        // Most values that are read are short strings without escapes.
        if let Some(short) = json::short_string(self.text, self.at)
            && let Some(text) = self.utf8(self.at + 1, short)
        {
            return Ok(JsonValue::Text(Cow::Borrowed(text)));
        }
        let end = json::skip_brackets(self.text, self.at).ok_or(InvalidJson)?;
        match JsonValue::parse(&self.text[self.at..end]) {
            JsonValue::Raw(_) => Err(InvalidJson),
            value => Ok(value),
        }
    }
}
