//! The stored body of an object.

use std::borrow::Cow;
use std::sync::Arc;

use super::compression::{self, Prefix};

/// The stored form of a body. It is empty for an object that is known only by its row.
#[cfg_attr(feature = "recording", derive(Clone))]
pub(super) struct Body {
    /// The text, or the frame of a compressed body. An empty frame stands for the text of the prefix.
    bytes: Box<[u8]>,
    /// The prefix that a compressed body was compressed prefix.
    prefix: Option<Arc<Prefix>>,
}

impl Body {
    pub(super) fn empty() -> Self {
        Self::text(Box::default())
    }

    pub(super) fn text(text: Box<[u8]>) -> Self {
        Self { bytes: text, prefix: None }
    }

    pub(super) fn compressed(frame: Box<[u8]>, prefix: Arc<Prefix>) -> Self {
        Self { bytes: frame, prefix: Some(prefix) }
    }

    pub(super) fn json(&self) -> Cow<'_, [u8]> {
        let Some(prefix) = &self.prefix else { return Cow::Borrowed(&self.bytes) };
        // A frame always stays together with its prefix, so this fails only without memory. An object without a body is
        // then better than one with a wrong body.
        let text = compression::decompress(&self.bytes, prefix).unwrap_or_else(|reason| {
            tracing::error!(reason, "a compressed body can't be read");
            Vec::new()
        });
        Cow::Owned(text)
    }

    #[cfg(feature = "serve")]
    pub(super) fn into_json(self) -> Vec<u8> {
        if self.prefix.is_some() { self.json().into_owned() } else { self.bytes.into() }
    }

    /// Returns whether both are the same JSON value. Texts that differ in bytes are parsed, which is rare.
    pub(super) fn same_value(&self, other: &Self) -> bool {
        let prefix = |body: &Self| body.prefix.as_ref().map(Arc::as_ptr);
        if prefix(self) == prefix(other) && self.bytes == other.bytes {
            return true;
        }
        let (one, other) = (self.json(), other.json());
        let value = |text| serde_json::from_slice::<serde_json::Value>(text).ok();
        one == other || value(&one).is_some_and(|one| value(&other) == Some(one))
    }

    /// Returns the text unless it is compressed.
    pub(super) fn plain(&self) -> Option<&[u8]> {
        self.prefix.is_none().then_some(&*self.bytes)
    }

    pub(super) fn prefix(&self) -> Option<&Arc<Prefix>> {
        self.prefix.as_ref()
    }

    pub(super) fn len(&self) -> usize {
        match &self.prefix {
            Some(prefix) => compression::length(&self.bytes, prefix),
            None => self.bytes.len(),
        }
    }

    pub(super) fn stored_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Recognizes the insignificant whitespace of validated JSON.
#[derive(Default)]
pub(super) struct Whitespace {
    in_string: bool,
    escaped: bool,
}

impl Whitespace {
    pub(super) fn is_at(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_string => self.escaped = true,
            b'"' => self.in_string = !self.in_string,
            _ => return !self.in_string && byte.is_ascii_whitespace(),
        }
        false
    }
}
