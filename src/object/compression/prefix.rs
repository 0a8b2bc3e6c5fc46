//! The texts that bodies are compressed against.

use std::sync::Arc;

/// A text that bodies are compressed against: stored uncompressed, or compressed against another prefix that is
/// uncompressed.
pub(in crate::object) struct Prefix {
    pub(super) bytes: Box<[u8]>,
    pub(super) against: Option<Arc<Prefix>>,
}

impl Prefix {
    /// Creates an uncompressed prefix.
    pub(super) fn text(text: Box<[u8]>) -> Self {
        Self { bytes: text, against: None }
    }

    /// Creates a compressed prefix from its frame and the uncompressed prefix that the frame needs.
    pub(super) fn compressed(frame: Box<[u8]>, against: Arc<Prefix>) -> Self {
        Self { bytes: frame, against: Some(against) }
    }

    /// Returns the bytes that this prefix alone occupies.
    pub(in crate::object) fn stored_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the prefix that this one is compressed against.
    pub(in crate::object) fn against(&self) -> Option<&Arc<Self>> {
        self.against.as_ref()
    }
}
