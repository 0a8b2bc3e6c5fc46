//! The outline of a journal: what is known of it without decompressing its entries.

use std::path::Path;
use std::sync::Arc;

use super::reader::read_header;
use super::stored_chunk::whole_chunk;
use crate::recording::encryption::Cipher;
use crate::recording::files::{FileError, Header, cipher_of};

/// The header of a journal, and what the heads of its chunks state.
pub(in crate::recording) struct Outline {
    pub(in crate::recording) header: Header,
    /// Whether one of the two copies of the header is damaged.
    pub(in crate::recording) has_damaged_header: bool,
    /// The number of entries in the chunks before the first damaged or incomplete one.
    pub(in crate::recording) entries: u64,
    /// Whether whole chunks follow a damaged one: a killed writer leaves an incomplete chunk only at the end.
    pub(in crate::recording) is_broken: bool,
    /// The end of the last whole chunk before any damage, and the length of the file.
    pub(in crate::recording) torn: (u64, u64),
}

impl Outline {
    /// Reads the outline from the bytes of the file.
    pub(in crate::recording) fn read(
        path: &Path,
        bytes: &[u8],
        cipher: Option<&Arc<Cipher>>,
    ) -> Result<Self, FileError> {
        let read = read_header(bytes, cipher_of(path, cipher).as_ref());
        let (header, length, has_damaged_header) =
            read.map_err(|error| FileError::of_header(path, &error))?;
        let (mut rest, mut entries) = (&bytes[length..], 0u64);
        while let Some(chunk) = whole_chunk(rest) {
            entries += chunk.entries as u64;
            rest = &rest[chunk.length..];
        }
        let is_broken = (1..rest.len()).any(|at| whole_chunk(&rest[at..]).is_some());
        let torn = ((bytes.len() - rest.len()) as u64, bytes.len() as u64);
        Ok(Self { header, has_damaged_header, entries, is_broken, torn })
    }
}
