//! The header of each file.

use super::directory::Kind;
use crate::recording::block::{BlockDamage, read_block, write_block};
use crate::recording::bytes::{Cursor, put_number, put_signed, put_text};
use crate::recording::tables::take_string;

/// The format that this version writes. Readers accept every minor version of a major version that they know.
const MAJOR: u16 = 1;
const MINOR: u16 = 0;

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
}

/// The reasons why a header can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::recording) enum HeaderError {
    /// The file is not of this kind.
    Foreign,
    /// The format has a newer major version.
    Newer(u16),
    Damaged(&'static str),
}

impl Header {
    /// Appends the header of a file.
    pub(in crate::recording) fn put(&self, kind: Kind, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(MAGIC);
        out.push(kind.letter());
        out.extend_from_slice(&MAJOR.to_le_bytes());
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
        write_block(HEADER_TAG, &payload, 0, out);
    }

    /// Returns whether the bytes begin like a file of a recording.
    pub(in crate::recording) fn is_at(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Reads the header of a file from its first bytes, and returns its length.
    pub(in crate::recording) fn read(bytes: &[u8], kind: Kind) -> Result<(Self, usize), HeaderError> {
        let prefix: &[u8; PREFIX] =
            bytes.first_chunk().ok_or(HeaderError::Damaged("the header is incomplete"))?;
        let [.., a, b, c, d] = *prefix;
        if !cfg!(fuzzing) && crc32fast::hash(&prefix[..12]) != u32::from_le_bytes([a, b, c, d]) {
            let reason = if prefix.starts_with(MAGIC) {
                HeaderError::Damaged("the checksum of the header differs")
            } else {
                HeaderError::Foreign
            };
            return Err(reason);
        }
        if !prefix.starts_with(MAGIC) || prefix[7] != kind.letter() {
            return Err(HeaderError::Foreign);
        }
        let major = u16::from_le_bytes([prefix[8], prefix[9]]);
        if major > MAJOR {
            return Err(HeaderError::Newer(major));
        }
        let (block, length) = read_block(&bytes[PREFIX..]).map_err(|damage| match damage {
            BlockDamage::Incomplete => HeaderError::Damaged("the header is incomplete"),
            _ => HeaderError::Damaged("the checksum of the header differs"),
        })?;
        let header =
            (block.tag == HEADER_TAG).then(|| Self::take(&mut Cursor::new(&block.payload))).flatten();
        Ok((header.ok_or(HeaderError::Damaged("the header is invalid"))?, PREFIX + length))
    }

    fn take(cursor: &mut Cursor<'_>) -> Option<Self> {
        Some(Self {
            context: take_string(cursor)?.to_owned(),
            first: cursor.take_number()?,
            count: cursor.take_number()?,
            first_time: cursor.take_signed()?,
            last_time: cursor.take_signed()?,
            time_before: cursor.take_signed()?,
            first_gap: cursor.take_signed()?,
            min_version: cursor.take_number()?,
            max_version: cursor.take_number()?,
        })
    }
}
