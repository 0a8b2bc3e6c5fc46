//! A journal that is read chunk by chunk, by a writer that seals or continues it: the texts take most of the memory of a journal.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chunk::DecodedChunk;
use super::reader::{JOINED, Journal, JournalReader, MAX_FRONT};
use super::stored_chunk::{ChunkTexts, HEAD, StoredChunk, chunk_len, whole_chunk};
use super::stream::STEP;
use crate::recording::encryption::{Cipher, FileCipher};
use crate::recording::files::{FileError, Header};
use crate::recording::tables::Tables;

/// The largest buffer that is kept for the next chunk. A journal has a chunk for each second, so that all share one.
const MAX_KEPT: usize = 1 << 20;

/// A journal that is read chunk by chunk.
pub(in crate::recording) struct JournalChunks {
    /// Its journal has no chunks.
    reader: JournalReader,
    /// The text of the last chunk.
    text: Vec<u8>,
    file: ChunkFile,
    /// The position of the first chunk.
    start: u64,
}

/// The texts of a journal that was read before.
pub(in crate::recording) struct JournalTexts {
    file: ChunkFile,
    start: u64,
    /// `None` if the recording is not encrypted.
    cipher: Option<FileCipher>,
}

impl JournalChunks {
    /// Opens a journal and reads its header.
    pub(in crate::recording) fn open(path: PathBuf, cipher: Option<&Arc<Cipher>>) -> Result<Self, FileError> {
        let failed = |error| FileError::Io(path.clone(), error);
        let mut file = ChunkFile::open(&path).map_err(failed)?;
        let front = file.front().map_err(failed)?;
        let (reader, length) = JournalReader::of_front(path, &front, file.end, cipher)?;
        let start = length as u64;
        file.rewind(start).map_err(|error| FileError::Io(reader.path().to_owned(), error))?;
        Ok(Self { reader, text: Vec::new(), file, start })
    }

    pub(in crate::recording) fn header(&self) -> &Header {
        &self.reader.journal().header
    }

    /// Returns the entries of the next chunk, without its text. `None` at the end, or before an unreadable chunk.
    pub(in crate::recording) fn next(&mut self) -> Result<Option<DecodedChunk>, FileError> {
        let Self { reader, text, file, .. } = self;
        let failed = |path: &Path, error| FileError::Io(path.to_owned(), error);
        if let Some(stored) = file.next().map_err(|error| failed(reader.path(), error))? {
            clear(text);
            return Ok(reader.decode_chunk(&stored, text));
        }
        self.end()?;
        Ok(None)
    }

    /// Returns the next chunks with their texts, joined to a long one. `None` at the end, or before an unreadable chunk.
    pub(in crate::recording) fn next_joined(&mut self) -> Result<Option<DecodedChunk>, FileError> {
        let mut joined = DecodedChunk { bytes: Vec::with_capacity(JOINED + STEP), ..DecodedChunk::default() };
        while joined.bytes.len() < JOINED {
            let Self { reader, file, .. } = self;
            let start = joined.bytes.len();
            let stored = file.next().map_err(|error| FileError::Io(reader.path().to_owned(), error))?;
            let Some(stored) = stored else {
                self.end()?;
                break;
            };
            let Some(chunk) = reader.decode_chunk(&stored, &mut joined.bytes) else {
                joined.bytes.truncate(start);
                break;
            };
            joined.append(chunk, start);
        }
        Ok((!joined.bytes.is_empty()).then_some(joined))
    }

    /// Ends before bytes that are not a whole chunk.
    fn end(&mut self) -> Result<(), FileError> {
        let rest = self.file.rest().map_err(|error| FileError::Io(self.reader.path().to_owned(), error))?;
        self.reader.end_before(&rest);
        Ok(())
    }

    /// Returns the tables of the chunks that were returned.
    pub(in crate::recording) fn tables(&self) -> &Tables {
        &self.reader.journal().tables
    }

    /// Returns whether unreadable entries follow those that were returned, once there are no others.
    pub(in crate::recording) fn is_broken(&self) -> bool {
        self.reader.is_broken()
    }

    /// Reads all chunks, and keeps only the objects that they define.
    pub(in crate::recording) fn into_objects(mut self) -> Result<JournalReader, FileError> {
        let mut objects = Vec::new();
        while let Some(chunk) = self.next()? {
            objects.extend(chunk.objects);
        }
        self.reader.finish_with(objects)?;
        Ok(self.reader)
    }

    /// Returns the journal without its chunks, whether unreadable entries follow those that were returned, and the
    /// texts.
    pub(in crate::recording) fn finish(self) -> (Journal, bool, JournalTexts) {
        let Self { reader, file, start, .. } = self;
        let is_broken = reader.is_broken();
        let (journal, cipher) = reader.into_journal();
        (journal, is_broken, JournalTexts { file, start, cipher })
    }
}

impl JournalTexts {
    /// Passes the numbers and texts of the first `count` chunks to `receive`.
    pub(in crate::recording) fn read(
        &mut self,
        count: usize,
        mut receive: impl FnMut(usize, &[u8]),
    ) -> io::Result<()> {
        let mut texts = ChunkTexts::new(self.cipher.clone())?;
        let mut text = Vec::new();
        self.file.rewind(self.start)?;
        for number in 0..count {
            let at = self.file.at;
            let chunk = self.file.next()?;
            let chunk = chunk.ok_or_else(|| io::Error::other("a chunk that was read before is invalid"))?;
            clear(&mut text);
            texts.append(&chunk, at, usize::MAX, &mut text)?;
            receive(number, &text);
        }
        Ok(())
    }
}

/// Empties the buffer of a text for the next one.
fn clear(text: &mut Vec<u8>) {
    text.clear();
    text.shrink_to(MAX_KEPT);
}

/// The chunks in the file of a journal.
struct ChunkFile {
    file: BufReader<File>,
    /// The position of the next chunk.
    at: u64,
    /// The length of the file.
    end: u64,
    /// The bytes of the last chunk.
    bytes: Vec<u8>,
}

impl ChunkFile {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let end = file.metadata()?.len();
        Ok(Self { file: BufReader::new(file), at: 0, end, bytes: Vec::new() })
    }

    /// Returns the bytes in which the header is.
    fn front(&mut self) -> io::Result<Vec<u8>> {
        let mut front = Vec::new();
        (&mut self.file).take(MAX_FRONT).read_to_end(&mut front)?;
        Ok(front)
    }

    /// Continues with the chunk at a position.
    fn rewind(&mut self, start: u64) -> io::Result<()> {
        self.at = start;
        self.file.seek(SeekFrom::Start(start)).map(drop)
    }

    /// Returns the next chunk, or `None` if it is incomplete or damaged.
    fn next(&mut self) -> io::Result<Option<StoredChunk<'_>>> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        self.bytes.resize(left.min(HEAD), 0);
        self.file.read_exact(&mut self.bytes)?;
        let Some(length) = chunk_len(&self.bytes).filter(|length| *length <= left) else { return Ok(None) };
        self.bytes.resize(length, 0);
        self.file.read_exact(&mut self.bytes[HEAD..])?;
        let chunk = whole_chunk(&self.bytes);
        if let Some(chunk) = &chunk {
            self.at += chunk.length as u64;
        }
        Ok(chunk)
    }

    /// Returns the bytes after the last whole chunk, and continues before them.
    fn rest(&mut self) -> io::Result<Vec<u8>> {
        let mut rest = Vec::new();
        self.rewind(self.at)?;
        self.file.read_to_end(&mut rest)?;
        self.rewind(self.at)?;
        Ok(rest)
    }
}
