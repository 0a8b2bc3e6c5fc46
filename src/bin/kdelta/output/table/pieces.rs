//! Laid-out lines that are written in pieces of whole lines.

use std::io::{self, Write};

use crate::view::{Colour, PLAIN};

/// The amount of text that is laid out before it is written; also the capacity kept for the next lines, because an
/// endless table may begin with a large one.
pub(super) const PIECE: usize = 1 << 16;

const BLANKS: &str = "                                                                ";

/// Collects lines and writes them once there is a piece of them.
pub(super) struct Pieces<'a, W> {
    text: &'a mut String,
    out: &'a mut W,
}

impl<'a, W: Write> Pieces<'a, W> {
    /// `text` is empty, and reused for its capacity.
    pub(super) fn new(text: &'a mut String, out: &'a mut W) -> Self {
        Self { text, out }
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn push_coloured(&mut self, text: &str, colour: Option<Colour>) {
        match colour.filter(|_| !text.is_empty()) {
            Some(colour) => [colour.start(), text, PLAIN].iter().for_each(|text| self.push(text)),
            None => self.push(text),
        }
    }

    pub(super) fn push_blanks(&mut self, mut count: usize) {
        // Many blanks are copied at once, because a large table has many of them.
        while count > 0 {
            let blanks = &BLANKS[..count.min(BLANKS.len())];
            self.text.push_str(blanks);
            count -= blanks.len();
        }
    }

    /// Ends a line, and writes the lines if they are a piece.
    ///
    /// # Errors
    /// The writer failed.
    pub(super) fn end_line(&mut self) -> io::Result<()> {
        self.text.push('\n');
        if self.text.len() < PIECE { Ok(()) } else { self.write() }
    }

    /// Writes the remaining lines.
    ///
    /// # Errors
    /// The writer failed.
    pub(super) fn write(&mut self) -> io::Result<()> {
        let written = self.out.write_all(self.text.as_bytes());
        self.text.clear();
        self.text.shrink_to(PIECE);
        written
    }
}
