//! A journal whose texts stay compressed: they take most of the memory of a journal that is read.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::reader::{Journal, JournalReader};
use super::stored_chunk::{ChunkTexts, whole_chunk};
use crate::recording::encryption::{Cipher, FileCipher};
use crate::recording::files::FileError;

/// A journal that is read to be sealed.
pub(in crate::recording) struct CompressedJournal {
    /// The entries. Their chunks have no bytes.
    pub(in crate::recording) journal: Journal,
    /// Whether unreadable entries follow.
    pub(in crate::recording) is_broken: bool,
    pub(in crate::recording) texts: CompressedTexts,
}

/// The compressed chunks of a journal.
pub(in crate::recording) struct CompressedTexts {
    /// The bytes of the file.
    bytes: Vec<u8>,
    /// The position of the first chunk.
    start: usize,
    /// `None` if the recording is not encrypted.
    cipher: Option<FileCipher>,
}

impl CompressedJournal {
    pub(in crate::recording) fn open(path: PathBuf, cipher: Option<&Arc<Cipher>>) -> Result<Self, FileError> {
        let bytes = fs::read(&path).map_err(|error| FileError::Io(path.clone(), error))?;
        let (reader, start) = JournalReader::of_bytes(path, &bytes, cipher, false)?;
        let is_broken = reader.is_broken();
        let (journal, cipher) = reader.into_journal();
        Ok(Self { journal, is_broken, texts: CompressedTexts { bytes, start, cipher } })
    }
}

impl CompressedTexts {
    /// Passes the numbers and texts of the first `count` chunks to `receive`.
    pub(in crate::recording) fn read(
        &self,
        count: usize,
        mut receive: impl FnMut(usize, &[u8]),
    ) -> io::Result<()> {
        let mut texts = ChunkTexts::new(self.cipher.clone())?;
        let mut at = self.start;
        for number in 0..count {
            let chunk = self.bytes.get(at..).and_then(whole_chunk);
            let chunk = chunk.ok_or_else(|| io::Error::other("a chunk that was read before is invalid"))?;
            receive(number, texts.next(&chunk, at as u64, usize::MAX)?);
            at += chunk.length;
        }
        Ok(())
    }
}
