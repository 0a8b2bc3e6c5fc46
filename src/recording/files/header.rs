//! The header of each file.

use std::io;

use super::directory::Kind;
use crate::recording::block::{BlockDamage, read_block, write_block};
use crate::recording::bytes::{Cursor, put_number, put_signed, put_text};
use crate::recording::encryption::{FileCipher, RecordingId};
use crate::recording::tables::take_string;

/// The formats that this version writes: of recordings that are not encrypted, and of those that are. Readers accept every
/// minor version of a major version that they know.
const PLAIN: u16 = 3;
const ENCRYPTED: u16 = 4;
const MINOR: u16 = 0;

/// The latest format that this version reads.
const LATEST: u16 = 4;

/// Returns whether a format is that of encrypted recordings.
fn is_encrypted(major: u16) -> bool {
    matches!(major, 2 | ENCRYPTED)
}

/// The length of the part before the header's block: magic, kind, format version and their checksum.
const PREFIX: usize = 16;
const MAGIC: &[u8; 7] = b"kdelta\n";

/// The tag of the header's block.
const HEADER_TAG: u8 = 1;

/// The header of a file, which suffices to find the file of a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::recording) struct Header {
    /// The kubeconfig context.
    pub(in crate::recording) context: String,
    /// The number of the first entry; in a keyframe, of the first entry after it.
    pub(in crate::recording) first: u64,
    /// The number of entries; in a keyframe, of objects.
    pub(in crate::recording) count: u64,
    /// The times of the first and the last entry, in Unix milliseconds. In a keyframe, both are that of the last
    /// entry before it; in a journal, both are that too, or that of its creation if there is no entry before it.
    pub(in crate::recording) first_time: i64,
    pub(in crate::recording) last_time: i64,
    /// The time of the last entry before the file.
    pub(in crate::recording) time_before: i64,
    /// The beginning of the earliest gap whose end is recorded in a segment; `i64::MAX` without one.
    pub(in crate::recording) first_gap: i64,
    /// The lowest and the highest version of the changes; in a keyframe, the highest version up to it.
    pub(in crate::recording) min_version: u64,
    pub(in crate::recording) max_version: u64,
    /// The number of the earlier keyframe to which states in a keyframe refer; `None` if all are whole, and in other files.
    pub(in crate::recording) base: Option<u64>,
}

/// The reasons why a header can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::recording) enum HeaderError {
    /// The file is not of this kind, or not of this recording.
    Foreign,
    /// The format has a newer major version.
    Newer(u16),
    Damaged(&'static str),
}

/// The part of a header that is never encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recording) enum Clear {
    /// The file is not encrypted.
    Plain,
    /// The file is a part of this recording.
    Encrypted(RecordingId),
}

impl Clear {
    /// The number of bytes that it is read from.
    pub(in crate::recording) const LEN: usize = PREFIX + RecordingId::LEN;

    /// Reads the first bytes of a file. Returns `None` if they are damaged, or not of a recording.
    pub(in crate::recording) fn read(bytes: &[u8]) -> Option<Self> {
        let (prefix, rest) = bytes.split_first_chunk::<PREFIX>()?;
        Some(if is_encrypted(version(prefix).ok()?) {
            Self::Encrypted(RecordingId::from_bytes(*rest.first_chunk()?))
        } else {
            Self::Plain
        })
    }
}

/// Returns the major version of a file's format.
fn version(prefix: &[u8; PREFIX]) -> Result<u16, HeaderError> {
    let [.., a, b, c, d] = *prefix;
    if !cfg!(fuzzing) && crc32fast::hash(&prefix[..12]) != u32::from_le_bytes([a, b, c, d]) {
        return Err(if prefix.starts_with(MAGIC) {
            HeaderError::Damaged("the checksum of the header differs")
        } else {
            HeaderError::Foreign
        });
    }
    if !prefix.starts_with(MAGIC) {
        return Err(HeaderError::Foreign);
    }
    Ok(u16::from_le_bytes([prefix[8], prefix[9]]))
}

impl Header {
    /// Appends the header of a file.
    pub(in crate::recording) fn put(
        &self,
        kind: Kind,
        cipher: Option<&FileCipher>,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        let start = out.len();
        out.extend_from_slice(MAGIC);
        out.push(kind.letter());
        let major = if cipher.is_some() { ENCRYPTED } else { PLAIN };
        out.extend_from_slice(&major.to_le_bytes());
        out.extend_from_slice(&MINOR.to_le_bytes());
        out.extend_from_slice(&crc32fast::hash(&out[start..]).to_le_bytes());
        let mut payload = Vec::new();
        put_text(&mut payload, self.context.as_bytes());
        for number in [self.first, self.count] {
            put_number(&mut payload, number);
        }
        for time in [self.first_time, self.last_time, self.time_before, self.first_gap] {
            put_signed(&mut payload, time);
        }
        for version in [self.min_version, self.max_version] {
            put_number(&mut payload, version);
        }
        if kind == Kind::Keyframe {
            put_number(&mut payload, self.base.map_or(0, |base| base + 1));
        }
        let Some(cipher) = cipher else {
            write_block(HEADER_TAG, &payload, 0, out);
            return Ok(());
        };
        out.extend_from_slice(cipher.id().as_bytes());
        let mut block = Vec::new();
        write_block(HEADER_TAG, &payload, 0, &mut block);
        // Both copies in a journal are equal.
        cipher.seal_block(0, &block, out)
    }

    /// Returns whether the bytes begin like a file of a recording.
    pub(in crate::recording) fn is_at(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Reads the header of a file from its first bytes, and returns its length.
    pub(in crate::recording) fn read(
        bytes: &[u8],
        kind: Kind,
        cipher: Option<&FileCipher>,
    ) -> Result<(Self, usize), HeaderError> {
        let incomplete = HeaderError::Damaged("the header is incomplete");
        let (prefix, rest) = bytes.split_first_chunk::<PREFIX>().ok_or(incomplete.clone())?;
        let major = version(prefix)?;
        if prefix[7] != kind.letter() {
            return Err(HeaderError::Foreign);
        }
        let damaged = |damage| match damage {
            BlockDamage::Incomplete => HeaderError::Damaged("the header is incomplete"),
            BlockDamage::Sealed => HeaderError::Foreign,
            _ => HeaderError::Damaged("the checksum of the header differs"),
        };
        if major > LATEST {
            return Err(HeaderError::Newer(major));
        }
        let (block, length) = match (is_encrypted(major), cipher) {
            (true, Some(cipher)) => {
                let (id, sealed) = rest.split_first_chunk::<{ RecordingId::LEN }>().ok_or(incomplete)?;
                if id != cipher.id().as_bytes() {
                    return Err(HeaderError::Foreign);
                }
                let (block, length) = cipher.open_block(0, sealed).map_err(damaged)?;
                (read_block(&block).map_err(damaged)?.0, RecordingId::LEN + length)
            }
            // Without an id, there is no cipher.
            (true, None) if rest.len() < RecordingId::LEN => return Err(incomplete),
            // All files of a recording are encrypted, or none is.
            (true, None) | (false, Some(_)) => return Err(HeaderError::Foreign),
            (false, None) => read_block(rest).map_err(damaged)?,
        };
        let header =
            (block.tag == HEADER_TAG).then(|| Self::take(kind, &mut Cursor::new(&block.payload))).flatten();
        Ok((header.ok_or(HeaderError::Damaged("the header is invalid"))?, PREFIX + length))
    }

    fn take(kind: Kind, cursor: &mut Cursor<'_>) -> Option<Self> {
        let mut header = Self {
            context: take_string(cursor)?.to_owned(),
            first: cursor.take_number()?,
            count: cursor.take_number()?,
            first_time: cursor.take_signed()?,
            last_time: cursor.take_signed()?,
            time_before: cursor.take_signed()?,
            first_gap: cursor.take_signed()?,
            min_version: cursor.take_number()?,
            max_version: cursor.take_number()?,
            base: None,
        };
        // Keyframes of the versions 1 and 2 have whole states only.
        if kind.letter() == Kind::Keyframe.letter() && !cursor.is_empty() {
            header.base = cursor.take_number()?.checked_sub(1);
        }
        Some(header)
    }
}
