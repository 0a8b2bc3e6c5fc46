//! Reads parts of a file.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::directory::cipher_of;
use super::header::HeaderError;
use crate::recording::block::{Block, BlockDamage, read_block};
use crate::recording::encryption::{Cipher, FileCipher};
use crate::recording::error::RecordingError;

/// The most bytes that a thread keeps for the next block.
const MAX_KEPT: usize = 256 << 10;

thread_local! {
    /// The stored bytes of the last block. Each thread reuses them, because fresh memory costs more than reading a block into it;
    /// they are freed with the thread.
    static STORED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The reasons why a part of a file can't be read.
#[derive(Debug)]
pub(in crate::recording) enum FileError {
    Io(PathBuf, io::Error),
    /// The file belongs to another program, or is of another kind.
    Foreign(PathBuf),
    /// The major version of its format is newer.
    Newer(PathBuf, u16),
    /// The bytes at this position are damaged, for this reason.
    Damaged(PathBuf, u64, String),
}

impl FileError {
    pub(in crate::recording) fn of_header(path: &Path, error: &HeaderError) -> Self {
        match *error {
            HeaderError::Foreign => Self::Foreign(path.to_owned()),
            HeaderError::Newer(version) => Self::Newer(path.to_owned(), version),
            HeaderError::Damaged(reason) => Self::Damaged(path.to_owned(), 0, reason.to_owned()),
        }
    }
}

/// A file that is read in parts.
#[derive(Debug)]
pub(in crate::recording) struct RandomAccess {
    path: PathBuf,
    /// A std mutex, held while a part is read, because a file has one position.
    file: Mutex<File>,
    length: u64,
    /// `None` if the recording is not encrypted.
    cipher: Option<FileCipher>,
}

impl RandomAccess {
    pub(in crate::recording) fn open(path: PathBuf, cipher: Option<&Arc<Cipher>>) -> Result<Self, FileError> {
        let cipher = cipher_of(&path, cipher);
        let opened = File::open(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        match opened {
            Ok((length, file)) => Ok(Self { path, file: Mutex::new(file), length, cipher }),
            Err(error) => Err(FileError::Io(path, error)),
        }
    }

    pub(in crate::recording) fn path(&self) -> &Path {
        &self.path
    }

    pub(in crate::recording) fn len(&self) -> u64 {
        self.length
    }

    pub(in crate::recording) fn cipher(&self) -> Option<&FileCipher> {
        self.cipher.as_ref()
    }

    /// Reads a part. A part beyond the end is damage: the file is shorter than its tables state.
    pub(in crate::recording) fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        self.read_into(offset, length, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads a part as [`RandomAccess::read`] does, in place of the bytes.
    fn read_into(&self, offset: u64, length: u64, bytes: &mut Vec<u8>) -> Result<(), FileError> {
        if offset.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(self.damaged(offset, "the file is too short"));
        }
        bytes.resize(usize::try_from(length).unwrap_or(usize::MAX), 0);
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        read_at(&file, offset, bytes).map_err(|error| FileError::Io(self.path.clone(), error))
    }

    /// Reads the payload of the block in a part, which must have this tag and fill the part.
    pub(in crate::recording) fn block(
        &self,
        tag: u8,
        offset: u64,
        length: u64,
    ) -> Result<Vec<u8>, FileError> {
        Ok(self.block_of_any(&[tag], offset, length)?.payload)
    }

    /// Reads the block in a part, which must have one of these tags and fill the part.
    pub(in crate::recording) fn block_of_any(
        &self,
        tags: &[u8],
        offset: u64,
        length: u64,
    ) -> Result<Block, FileError> {
        STORED.with_borrow_mut(|stored| {
            self.read_into(offset, length, stored)?;
            let block = self.block_in(stored, tags, offset);
            if stored.capacity() > MAX_KEPT {
                *stored = Vec::new();
            }
            block
        })
    }

    /// Returns the block in bytes that were read from this position. It must have one of these tags and fill the bytes.
    pub(in crate::recording) fn block_in(
        &self,
        bytes: &[u8],
        tags: &[u8],
        offset: u64,
    ) -> Result<Block, FileError> {
        let mut bytes = Cow::Borrowed(bytes);
        if let Some(cipher) = &self.cipher {
            let opened = cipher.open_block(offset, &bytes).and_then(|(block, consumed)| {
                if consumed == bytes.len() { Ok(block) } else { Err(BlockDamage::Invalid) }
            });
            bytes = Cow::Owned(opened.map_err(|damage| self.damaged(offset, &damage.to_string()))?);
        }
        match read_block(&bytes) {
            Ok((block, consumed)) if tags.contains(&block.tag) && consumed == bytes.len() => Ok(block),
            Ok(_) => Err(self.damaged(offset, "another block than expected")),
            Err(damage) => Err(self.damaged(offset, &damage.to_string())),
        }
    }

    pub(in crate::recording) fn damaged(&self, offset: u64, reason: &str) -> FileError {
        FileError::Damaged(self.path.clone(), offset, reason.to_owned())
    }
}

#[cfg(unix)]
fn read_at(file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

impl From<(PathBuf, io::Error)> for RecordingError {
    fn from((path, source): (PathBuf, io::Error)) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::Full { path }
            }
            _ => Self::Io { path, source },
        }
    }
}
