//! A buffer for text that is written in many short parts.

use super::write::{USUAL_NESTING, line_end};

/// The length of parts that are copied at once, whatever their own length: a copy of a constant length needs no call.
const SHORT: usize = 32;

/// The room that is added when there is too little.
const ROOM: usize = 4096;

/// Appends to a vector, which has the text and no more when this is [finished](TextBuffer::finish).
pub(super) struct TextBuffer<'a> {
    out: &'a mut Vec<u8>,
    /// The end of the text. The bytes after it are zero, or parts of copies.
    len: usize,
}

impl<'a> TextBuffer<'a> {
    /// `room` is an estimate of the length of the text.
    pub(super) fn with_room(out: &'a mut Vec<u8>, room: usize) -> Self {
        let len = out.len();
        out.resize(len + room, 0);
        Self { out, len }
    }

    /// Removes everything after the text.
    pub(super) fn finish(self) {
        self.out.truncate(self.len);
    }

    /// Makes sure that so many bytes can be written.
    #[inline(always)]
    fn reserve(&mut self, count: usize) {
        if self.out.len() - self.len < count {
            self.grow(count);
        }
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        self.out.resize(self.len + count + ROOM, 0);
    }

    /// Appends a byte.
    #[inline(always)]
    pub(super) fn push(&mut self, byte: u8) {
        self.reserve(1);
        self.out[self.len] = byte;
        self.len += 1;
    }

    /// Appends a part of a text.
    #[inline(always)]
    pub(super) fn push_part(&mut self, text: &[u8], start: usize, end: usize) {
        let count = end - start;
        match text[start..].first_chunk::<SHORT>() {
            Some(chunk) if count <= SHORT => {
                self.reserve(SHORT);
                self.out[self.len..][..SHORT].copy_from_slice(chunk);
                self.len += count;
            }
            _ => self.push_long(&text[start..end]),
        }
    }

    /// Appends a text of any length.
    pub(super) fn push_long(&mut self, text: &[u8]) {
        self.reserve(text.len());
        self.out[self.len..][..text.len()].copy_from_slice(text);
        self.len += text.len();
    }

    /// Appends a character, a line break and the blanks of the next line.
    #[inline(always)]
    pub(super) fn new_line_after<const CHARACTER: u8>(&mut self, depth: usize) {
        self.push_line(&const { line_end(CHARACTER) }, 2, depth);
    }

    /// Appends a line break and the blanks of the next line.
    #[inline(always)]
    pub(super) fn new_line(&mut self, depth: usize) {
        self.push_line(&const { line_end(b' ') }[1..], 1, depth);
    }

    /// Appends the front of a text, with the blanks of the depth after it.
    #[inline(always)]
    fn push_line(&mut self, text: &[u8], front: usize, depth: usize) {
        self.push_part(text, 0, front + 4 * depth.min(USUAL_NESTING));
        if depth > USUAL_NESTING {
            self.push_long(&vec![b' '; 4 * (depth - USUAL_NESTING)]);
        }
    }

    /// Appends what `write` appends to a vector.
    pub(super) fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.out.truncate(self.len);
        write(self.out);
        self.len = self.out.len();
    }
}
