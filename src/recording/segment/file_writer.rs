//! Writes the blocks of a file.

use std::io;
use std::path::Path;

use super::footer::{BlockRef, Footer};
use crate::recording::block::{write_block, write_uncompressed_block};
use crate::recording::encryption::FileCipher;
use crate::recording::files::{Header, Kind, NewFile};

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

/// A file that is being written block by block.
pub(in crate::recording) struct FileWriter {
    file: NewFile,
    length: u64,
    /// `None` if the recording is not encrypted.
    cipher: Option<FileCipher>,
    /// The first failure to encrypt or write, which [`FileWriter::finish`] returns.
    failure: Option<io::Error>,
}

impl FileWriter {
    /// Creates a file and writes its header.
    pub(in crate::recording) fn create(
        path: &Path,
        kind: Kind,
        header: &Header,
        cipher: Option<FileCipher>,
    ) -> io::Result<Self> {
        let mut bytes = Vec::new();
        header.put(kind, cipher.as_ref(), &mut bytes)?;
        let mut file = NewFile::create(path)?;
        file.write(&bytes)?;
        Ok(Self { file, length: bytes.len() as u64, cipher, failure: None })
    }

    /// Appends a block, whose first entry or name has the number `first`.
    pub(in crate::recording) fn block(&mut self, tag: u8, payload: &[u8], first: usize) -> BlockRef {
        self.append(&Compressed::new(tag, payload, first))
    }

    /// Appends a block that is not compressed.
    pub(super) fn uncompressed_block(&mut self, tag: u8, payload: &[u8], first: usize) -> BlockRef {
        let mut bytes = Vec::new();
        write_uncompressed_block(tag, payload, &mut bytes);
        self.append_bytes(&bytes, first)
    }

    /// Appends a block that was compressed earlier.
    pub(in crate::recording) fn append(&mut self, block: &Compressed) -> BlockRef {
        self.append_bytes(&block.bytes, block.first)
    }

    /// Appends the bytes of a block.
    fn append_bytes(&mut self, bytes: &[u8], first: usize) -> BlockRef {
        let offset = self.length;
        let first = u32::try_from(first).unwrap_or(u32::MAX);
        let length = match &self.cipher {
            None => self.write(bytes),
            Some(cipher) => {
                let mut sealed = Vec::new();
                self.failure = cipher.seal_block(offset, bytes, &mut sealed).err().or(self.failure.take());
                self.write(&sealed)
            }
        };
        BlockRef { offset, length, first }
    }

    /// Writes bytes, and returns their length.
    fn write(&mut self, bytes: &[u8]) -> u64 {
        if self.failure.is_none() {
            self.failure = self.file.write(bytes).err();
        }
        self.length += bytes.len() as u64;
        bytes.len() as u64
    }

    /// Appends the footer and its position, completes the file and returns its length.
    pub(in crate::recording) fn finish(mut self, tag: u8, footer: &Footer) -> io::Result<u64> {
        let mut payload = Vec::new();
        footer.put(&mut payload);
        let position = self.block(tag, &payload, 0).offset.to_le_bytes();
        let sum = crc32fast::hash(&position).to_le_bytes();
        self.write(&[&position[..], &sum].concat());
        match self.failure {
            Some(failure) => Err(failure),
            None => self.file.complete().map(|()| self.length),
        }
    }
}
