//! The chunks in the file of a journal: their heads and checksums, and their texts.

use std::io;

use super::stream::Decompression;
use crate::recording::encryption::FileCipher;

/// The head of a chunk: the length of its payload, the number of its entries, and the checksum of these and the
/// payload.
pub(super) const HEAD: usize = 12;

/// The bit in the number of entries that marks a chunk with which a compressed stream begins: a writer can't
/// continue the stream of another one.
pub(super) const RESTART: u32 = 1 << 31;

/// A chunk as the file of a journal has it.
pub(super) struct StoredChunk<'a> {
    /// The length of the payload and the number of entries.
    head: &'a [u8],
    payload: &'a [u8],
    pub(super) entries: usize,
    /// Whether a compressed stream begins with it.
    is_restart: bool,
    /// The length, including the head.
    pub(super) length: usize,
}

/// Returns the length of the chunk that begins with these bytes, including the head. `None` if the head is incomplete.
pub(super) fn chunk_len(bytes: &[u8]) -> Option<usize> {
    let [a, b, c, d, ..]: &[u8; HEAD] = bytes.first_chunk()?;
    usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).ok()?.checked_add(HEAD)
}

/// Returns the chunk at the front, or `None` if it is incomplete or damaged.
pub(super) fn whole_chunk(bytes: &[u8]) -> Option<StoredChunk<'_>> {
    let length = chunk_len(bytes)?;
    let [head @ .., a, b, c, d]: &[u8; HEAD] = bytes.first_chunk()?;
    let payload = bytes.get(HEAD..length)?;
    let mut sum = crc32fast::Hasher::new();
    sum.update(head);
    sum.update(payload);
    let entries = head[4..].try_into().map(u32::from_le_bytes).ok()?;
    let is_restart = entries & RESTART != 0;
    let entries = usize::try_from(entries & !RESTART).ok()?;
    // A fuzzer would never find a valid checksum.
    let is_valid = cfg!(fuzzing) || sum.finalize() == u32::from_le_bytes([*a, *b, *c, *d]);
    is_valid.then_some(StoredChunk { head, payload, entries, is_restart, length })
}

/// Decrypts and decompresses the chunks of a journal, in order.
pub(super) struct ChunkTexts {
    decompression: Decompression,
    /// `None` if the recording is not encrypted.
    cipher: Option<FileCipher>,
}

impl ChunkTexts {
    pub(super) fn new(cipher: Option<FileCipher>) -> io::Result<Self> {
        Ok(Self { decompression: Decompression::new()?, cipher })
    }

    /// Appends the text of the next chunk, which is at this position in the file. It must not be longer than `max_len`. After an
    /// error, a part of it may have been appended.
    pub(super) fn append(
        &mut self,
        chunk: &StoredChunk<'_>,
        position: u64,
        max_len: usize,
        text: &mut Vec<u8>,
    ) -> io::Result<()> {
        if chunk.is_restart {
            self.decompression = Decompression::new()?;
        }
        match &self.cipher {
            None => self.decompression.append(chunk.payload, max_len, text),
            Some(cipher) => {
                let payload = cipher.open(position, chunk.head, chunk.payload);
                let payload = payload.ok_or_else(|| io::Error::other("a chunk can't be decrypted"))?;
                self.decompression.append(&payload, max_len, text)
            }
        }
    }

    /// Frees the working memory of the decompressor, until the next compressed stream begins.
    pub(super) fn free_decompressor(&mut self) -> io::Result<()> {
        self.decompression = Decompression::new()?;
        Ok(())
    }

    pub(super) fn into_cipher(self) -> Option<FileCipher> {
        self.cipher
    }
}
