//! The text of a state, in which values are slices.

use crate::object::{JsonNode, JsonText};

/// One state of an object as JSON text. If its tokens are known, the ends of values need not be searched for at each level.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    text: &'a str,
    known: Option<&'a JsonText>,
}

impl<'a> Document<'a> {
    /// Returns the document of a text whose tokens are known.
    #[must_use]
    pub fn of_text(text: &'a JsonText) -> Self {
        Self { text: text.as_str(), known: Some(text) }
    }

    /// Returns the document of a text.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        Self { text, known: None }
    }

    /// Returns the value that the text consists of.
    pub(super) fn root(self) -> &'a str {
        self.text.trim()
    }

    /// Returns a value, a slice of the text, as a node of a text that contains it.
    pub(super) fn node(self, value: &'a str) -> (&'a str, JsonNode<'a>) {
        match self.known {
            Some(text) => {
                let at = value.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
                (self.text, JsonNode::within(text, at))
            }
            None => (value, JsonNode::root(value.as_bytes())),
        }
    }
}
