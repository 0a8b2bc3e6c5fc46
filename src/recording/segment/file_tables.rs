//! The header and the footer of a sealed segment or a keyframe.

use super::footer::{FOOTER, Footer};
use crate::recording::bytes::Cursor;
use crate::recording::files::{FileError, Header, HeaderError, Kind, RandomAccess};

/// The length of the end of a file: the position of the footer and its checksum.
const TRAILER: u64 = 12;

/// The bytes that are read for a header. A longer one, of a context with a very long name, is read again as a whole.
const HEADER_READ: u64 = 512;

/// The header and the footer of a sealed segment.
#[derive(Debug)]
pub(in crate::recording) struct FileTables {
    pub(in crate::recording) header: Header,
    pub(in crate::recording) footer: Footer,
    /// The length of the text of the footer.
    pub(in crate::recording) text_len: usize,
}

impl FileTables {
    pub(in crate::recording) fn read(access: &RandomAccess) -> Result<Self, FileError> {
        let (header, start) = read_header(access, Kind::Segment)?;
        let (payload, at) = read_footer(access, FOOTER)?;
        let mut cursor = Cursor::new(&payload);
        let footer = Footer::take(&mut cursor, start..at).filter(|_| cursor.is_empty());
        let footer = footer.ok_or_else(|| access.damaged(at, "the footer is invalid"))?;
        Ok(Self { header, footer, text_len: payload.len() })
    }
}

/// Reads the header of a segment or keyframe, and returns its length.
pub(in crate::recording) fn read_header(
    access: &RandomAccess,
    kind: Kind,
) -> Result<(Header, u64), FileError> {
    for length in [HEADER_READ, 1 << 20] {
        let bytes = access.read(0, length.min(access.len()))?;
        match Header::read(&bytes, kind, access.cipher()) {
            Ok((header, length)) => return Ok((header, length as u64)),
            // The file's name determines what it must be.
            Err(HeaderError::Foreign) => return Err(access.damaged(0, "the header is that of another file")),
            Err(error) if length > HEADER_READ => return Err(FileError::of_header(access.path(), &error)),
            Err(_) => {}
        }
    }
    Err(access.damaged(0, "the header is incomplete"))
}

/// Reads the footer of a segment or keyframe, and returns its position.
pub(in crate::recording) fn read_footer(access: &RandomAccess, tag: u8) -> Result<(Vec<u8>, u64), FileError> {
    let trailer_at = access.len().saturating_sub(TRAILER);
    let trailer = access.read(trailer_at, TRAILER)?;
    let invalid = || access.damaged(trailer_at, "the checksum of the trailer differs");
    let (position, sum) = trailer.split_first_chunk::<8>().ok_or_else(invalid)?;
    if !cfg!(fuzzing) && crc32fast::hash(position).to_le_bytes() != *sum {
        return Err(invalid());
    }
    let at = u64::from_le_bytes(*position);
    let length = trailer_at.checked_sub(at).ok_or_else(invalid)?;
    Ok((access.block(tag, at, length)?, at))
}
