//! What bodies are written against.

use std::sync::Arc;

/// A text that bodies are written against: as it is, or itself written against another, which is as it is.
pub(in crate::object) struct Prefix {
    pub(super) bytes: Box<[u8]>,
    pub(super) against: Option<Arc<Prefix>>,
}

impl Prefix {
    /// A text as it is.
    pub(super) fn text(text: Box<[u8]>) -> Self {
        Self { bytes: text, against: None }
    }

    /// A text as its frame and what that was written against, which is a text as it is.
    pub(super) fn packed(frame: Box<[u8]>, against: Arc<Prefix>) -> Self {
        Self { bytes: frame, against: Some(against) }
    }

    /// The bytes it takes by itself.
    pub(in crate::object) fn held_len(&self) -> usize {
        self.bytes.len()
    }

    /// What it is written against.
    pub(in crate::object) fn against(&self) -> Option<&Arc<Self>> {
        self.against.as_ref()
    }
}
