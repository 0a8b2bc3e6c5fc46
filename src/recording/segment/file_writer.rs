//! Writes the blocks of a file.

use super::footer::{BlockRef, Footer};
use crate::recording::block::write_block;

/// The level of compression: higher ones gain little for 30 times the work.
const LEVEL: i32 = 9;

/// Appends blocks to the bytes of a file.
pub(in crate::recording) struct FileWriter(Vec<u8>);

impl FileWriter {
    /// Continues a file after its header.
    pub(in crate::recording) fn new(header: Vec<u8>) -> Self {
        Self(header)
    }

    /// Appends a block, whose first entry or name has the number `first`.
    pub(in crate::recording) fn block(&mut self, tag: u8, payload: &[u8], first: usize) -> BlockRef {
        let offset = self.0.len() as u64;
        write_block(tag, payload, LEVEL, &mut self.0);
        let first = u32::try_from(first).unwrap_or(u32::MAX);
        BlockRef { offset, length: self.0.len() as u64 - offset, first }
    }

    /// Appends the footer and its position, and returns the file.
    pub(in crate::recording) fn finish(mut self, tag: u8, footer: &Footer) -> Vec<u8> {
        let mut payload = Vec::new();
        footer.put(&mut payload);
        let position = self.block(tag, &payload, 0).offset.to_le_bytes();
        self.0.extend_from_slice(&position);
        self.0.extend_from_slice(&crc32fast::hash(&position).to_le_bytes());
        self.0
    }
}
