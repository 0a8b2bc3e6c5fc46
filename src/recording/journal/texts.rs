//! Journals with given records, for tests and the fuzzer: no other input has valid compressed chunks.

use std::io;

use super::stream::Compression;
use crate::recording::files::{Header, Kind};

/// Returns the bytes of a journal with these texts, each with its number of entries, in one compressed stream.
///
/// # Errors
/// A text is too long, or can't be compressed.
pub(in crate::recording) fn journal_of(texts: &[(&[u8], u32)]) -> io::Result<Vec<u8>> {
    let header = Header { context: "test".to_owned(), first_gap: i64::MAX, ..Header::default() };
    let mut bytes = Vec::new();
    header.put(Kind::Journal, None, &mut bytes)?;
    bytes.extend_from_within(..);
    let mut stream = Compression::new()?;
    for (text, entries) in texts {
        let payload = stream.chunk(text)?;
        let start = bytes.len();
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&entries.to_le_bytes());
        let mut sum = crc32fast::Hasher::new();
        sum.update(&bytes[start..]);
        sum.update(&payload);
        bytes.extend_from_slice(&sum.finalize().to_le_bytes());
        bytes.extend_from_slice(&payload);
    }
    Ok(bytes)
}
