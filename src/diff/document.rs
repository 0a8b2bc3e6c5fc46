//! The text of a state, in which values are slices.

use crate::object::{JsonBrackets, JsonNode};

/// One state of an object as JSON text, possibly with the ends of its arrays and objects, which save a search for them at
/// each level.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    text: &'a str,
    brackets: Option<&'a JsonBrackets>,
}

impl<'a> Document<'a> {
    /// Returns the document of a text whose brackets are known. They must be those of this text.
    #[must_use]
    pub fn with_brackets(text: &'a str, brackets: &'a JsonBrackets) -> Self {
        Self { text, brackets: Some(brackets) }
    }

    /// Returns the document of a text.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        Self { text, brackets: None }
    }

    /// Returns the value that the text consists of.
    pub(super) fn root(self) -> &'a str {
        self.text.trim()
    }

    /// Returns a value, a slice of the text, as a node of a text that contains it.
    pub(super) fn node(self, value: &'a str) -> (&'a str, JsonNode<'a>) {
        match self.brackets {
            Some(brackets) => {
                let at = value.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
                (self.text, JsonNode::within(self.text, at, brackets))
            }
            None => (value, JsonNode::root(value.as_bytes())),
        }
    }
}
