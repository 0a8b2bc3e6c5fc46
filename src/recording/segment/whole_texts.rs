//! Whole texts, each stored as its difference from the previous whole text of its block.

use crate::recording::frame::{FrameContext, FrameWriter, read_frame};

/// Writes whole texts. The base of each is the previous whole text of the same block, and the object's name is
/// known from the names of the file. A block can therefore be decoded independently.
#[derive(Default)]
pub(in crate::recording) struct WholeTextWriter {
    writer: FrameWriter,
    text: Vec<u8>,
    version: u64,
    name_len: usize,
}

impl WholeTextWriter {
    /// Starts a new block.
    pub(in crate::recording) fn clear(&mut self) {
        self.text.clear();
        (self.version, self.name_len) = (0, 0);
    }

    /// Appends the frame of a text against an earlier state of its object. The next whole text does not depend on it.
    pub(in crate::recording) fn write_against(
        &mut self,
        text: &[u8],
        (base, base_version): (&[u8], u64),
        context: FrameContext<'_>,
        out: &mut Vec<u8>,
    ) {
        self.writer.write(text, base, base_version, &context, out);
    }

    /// Appends the frame of a text.
    pub(in crate::recording) fn write(
        &mut self,
        text: &[u8],
        key: &str,
        context: FrameContext<'_>,
        out: &mut Vec<u8>,
    ) {
        let name = name_in(key);
        let context = context.with_name(name, self.name_len);
        self.writer.write(text, &self.text, self.version, &context, out);
        self.text.clear();
        self.text.extend_from_slice(text);
        (self.version, self.name_len) = (context.version, name.len());
    }
}

/// Reads the whole texts of a block, in their order.
#[derive(Debug, Default)]
pub(in crate::recording) struct WholeTextReader {
    text: Vec<u8>,
    version: u64,
    name_len: usize,
    next: Vec<u8>,
}

impl WholeTextReader {
    /// Returns the text that was read last.
    pub(in crate::recording) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the text of the next frame, or `None` if it is damaged.
    pub(in crate::recording) fn read(
        &mut self,
        frame: &[u8],
        key: &str,
        context: FrameContext<'_>,
    ) -> Option<&[u8]> {
        let name = name_in(key);
        self.next.clear();
        let named = context.with_name(name, self.name_len);
        read_frame(frame, &self.text, self.version, &named, &mut self.next)?;
        std::mem::swap(&mut self.text, &mut self.next);
        (self.version, self.name_len) = (context.version, name.len());
        Some(&self.text)
    }
}

/// Returns the name in a key.
fn name_in(key: &str) -> &str {
    key.rsplit_once('/').map_or(key, |(_, name)| name)
}
