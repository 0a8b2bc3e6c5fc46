//! Whole texts as differences from their predecessors.

use crate::recording::frame::{FrameContext, FrameWriter, read_frame};

/// Writes whole texts. The base of each is the previous whole text of the same block, followed by the object's own key,
/// which it contains. A block can therefore be decoded alone.
#[derive(Default)]
pub(in crate::recording) struct Sibling {
    writer: FrameWriter,
    text: Vec<u8>,
    version: u64,
}

impl Sibling {
    /// Begins another block.
    pub(in crate::recording) fn clear(&mut self) {
        self.text.clear();
        self.version = 0;
    }

    /// Appends the frame of a text.
    pub(in crate::recording) fn write(
        &mut self,
        text: &[u8],
        key: &str,
        context: FrameContext,
        out: &mut Vec<u8>,
    ) {
        self.text.extend_from_slice(key.as_bytes());
        self.writer.write(text, &self.text, self.version, &context, out);
        self.text.clear();
        self.text.extend_from_slice(text);
        self.version = context.version;
    }
}

/// Reads the whole texts of a block, in their order.
#[derive(Debug, Default)]
pub(in crate::recording) struct Siblings {
    text: Vec<u8>,
    version: u64,
    next: Vec<u8>,
}

impl Siblings {
    /// Returns the text of the next frame, or `None` if it is damaged.
    pub(in crate::recording) fn read(
        &mut self,
        frame: &[u8],
        key: &str,
        context: FrameContext,
    ) -> Option<&[u8]> {
        self.text.extend_from_slice(key.as_bytes());
        self.next.clear();
        read_frame(frame, &self.text, self.version, &context, &mut self.next)?;
        std::mem::swap(&mut self.text, &mut self.next);
        self.version = context.version;
        Some(&self.text)
    }
}
