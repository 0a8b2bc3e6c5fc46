//! Writes the blocks of a file.

use std::io;

use super::footer::{BlockRef, Footer};
use crate::recording::block::write_block;
use crate::recording::encryption::FileCipher;

/// The level of compression. Compared with level 9, it saves 4 % and costs 30 µs more per version, in the
/// background.
const LEVEL: i32 = 17;

/// A compressed block that is not appended yet: it takes a fraction of the memory of its payload.
pub(in crate::recording) struct Compressed {
    bytes: Vec<u8>,
    first: usize,
}

impl Compressed {
    /// Compresses a block, whose first entry or name has the number `first`.
    pub(in crate::recording) fn new(tag: u8, payload: &[u8], first: usize) -> Self {
        let mut bytes = Vec::new();
        write_block(tag, payload, LEVEL, &mut bytes);
        Self { bytes, first }
    }
}

/// A file that is being written, as its parts in order. Joining them would take several times the memory of a
/// keyframe.
pub(in crate::recording) struct FileWriter {
    parts: Vec<Vec<u8>>,
    length: u64,
    /// `None` if the recording is not encrypted.
    cipher: Option<FileCipher>,
    /// The first failure to encrypt, which [`FileWriter::finish`] returns.
    failure: Option<io::Error>,
}

impl FileWriter {
    /// Continues a file after its header.
    pub(in crate::recording) fn new(header: Vec<u8>, cipher: Option<FileCipher>) -> Self {
        Self { length: header.len() as u64, parts: vec![header], cipher, failure: None }
    }

    /// Appends a block, whose first entry or name has the number `first`.
    pub(in crate::recording) fn block(&mut self, tag: u8, payload: &[u8], first: usize) -> BlockRef {
        self.append(Compressed::new(tag, payload, first))
    }

    /// Appends a block that was compressed earlier.
    pub(in crate::recording) fn append(&mut self, block: Compressed) -> BlockRef {
        let offset = self.length;
        let first = u32::try_from(block.first).unwrap_or(u32::MAX);
        let mut bytes = block.bytes;
        if let Some(cipher) = &self.cipher {
            let mut sealed = Vec::new();
            self.failure = cipher.seal_block(offset, &bytes, &mut sealed).err().or(self.failure.take());
            bytes = sealed;
        }
        let length = bytes.len() as u64;
        self.length += length;
        self.parts.push(bytes);
        BlockRef { offset, length, first }
    }

    /// Appends the footer and its position, and returns the parts of the file.
    pub(in crate::recording) fn finish(mut self, tag: u8, footer: &Footer) -> io::Result<Vec<Vec<u8>>> {
        let mut payload = Vec::new();
        footer.put(&mut payload);
        let position = self.block(tag, &payload, 0).offset.to_le_bytes();
        let sum = crc32fast::hash(&position).to_le_bytes();
        self.parts.push([&position[..], &sum].concat());
        self.failure.map_or(Ok(self.parts), Err)
    }
}
