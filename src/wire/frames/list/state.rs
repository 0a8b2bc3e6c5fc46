//! The states of a list splitter: positions in the JSON text of a list, and the members of the list.

use std::borrow::Cow;

/// The expected position of the next byte that is not white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The opening brace of the list.
    Start,
    /// The first name, or the end of the list.
    FirstName,
    /// A name, after a comma.
    Name,
    /// The colon between a name and its value.
    Colon(Member),
    /// A member's value.
    Value(Member),
    /// A comma or the end of the list.
    AfterValue,
    /// The first element, or the end of the array.
    FirstElement(Array),
    /// An element, after a comma.
    Element(Array),
    /// A comma or the end of the array.
    AfterElement(Array),
    /// The end of the body.
    End,
}

/// A member of the list, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Member {
    Metadata,
    Kind,
    ApiVersion,
    Columns,
    Elements(Array),
    Other,
}

/// An array that contains the elements of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Array {
    Items,
    Rows,
}

impl State {
    /// Describes the expected token for messages.
    pub(super) fn wants(self) -> &'static str {
        match self {
            Self::Start => "a JSON object, as every response of a Kubernetes API is",
            Self::FirstName => "a name or }",
            Self::Name => "a name",
            Self::Colon(_) => "a colon",
            Self::Value(_) | Self::Element(_) => "a value",
            Self::AfterValue => "a comma or }",
            Self::FirstElement(_) => "a value or ]",
            Self::AfterElement(_) => "a comma or ]",
            Self::End => "nothing more",
        }
    }
}

impl Member {
    /// Returns the member with this name, given as a JSON string.
    pub(super) fn named(json: &[u8]) -> Self {
        let name = match &json[1..json.len() - 1] {
            plain if !plain.contains(&b'\\') => Cow::Borrowed(plain),
            _ => Cow::Owned(serde_json::from_slice::<String>(json).unwrap_or_default().into_bytes()),
        };
        match &*name {
            b"metadata" => Self::Metadata,
            b"kind" => Self::Kind,
            b"apiVersion" => Self::ApiVersion,
            b"columnDefinitions" => Self::Columns,
            b"items" => Self::Elements(Array::Items),
            b"rows" => Self::Elements(Array::Rows),
            _ => Self::Other,
        }
    }
}

/// Returns whether a JSON value may begin with this byte, as far as a splitter needs to know.
pub(super) fn begins_value(byte: u8) -> bool {
    !matches!(byte, b',' | b':' | b'}' | b']')
}
