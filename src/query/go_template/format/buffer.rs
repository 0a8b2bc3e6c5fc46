//! A bounded buffer: what exceeds the limit is dropped and reported.

/// A buffer at the end of a vector.
#[derive(Debug)]
pub(in crate::query::go_template) struct Buffer<'b> {
    bytes: &'b mut Vec<u8>,
    /// The bytes that may still be written.
    left: usize,
    is_full: bool,
}

impl<'b> Buffer<'b> {
    /// Returns a buffer that appends at most `limit` bytes.
    pub(in crate::query::go_template) fn new(bytes: &'b mut Vec<u8>, limit: usize) -> Self {
        Self { bytes, left: limit, is_full: false }
    }

    /// Returns whether something was dropped.
    pub(in crate::query::go_template) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Drops what is written from here on.
    pub(super) fn fill(&mut self) {
        self.is_full = true;
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        if self.is_full || bytes.len() > self.left {
            self.is_full = true;
            return;
        }
        self.left -= bytes.len();
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.write(text.as_bytes());
    }

    pub(super) fn character(&mut self, character: char) {
        self.text(character.encode_utf8(&mut [0; 4]));
    }

    pub(super) fn repeat(&mut self, byte: u8, count: usize) {
        if self.is_full || count > self.left {
            self.is_full = true;
            return;
        }
        self.left -= count;
        self.bytes.resize(self.bytes.len() + count, byte);
    }
}
