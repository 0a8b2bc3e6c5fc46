//! Gzip decompression (RFC 1952) of a body as it arrives.
//!
//! Own code, since the decoders of HTTP clients return 4 KB at a time, each in its own buffer, so that nearly every
//! object of a list is cut and must be joined again.

use bytes::{Buf, Bytes, BytesMut};
use flate2::{Decompress, FlushDecompress, Status};

/// The size of a decompressed chunk: several objects, small enough for a core's cache.
const CHUNK: usize = 128 * 1024;
/// The smallest free space that is still filled; less is given up.
const MIN_FREE: usize = 16 * 1024;
/// The largest window of the format.
const WINDOW_BITS: u8 = 15;

/// A body that is not valid gzip.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DecompressionError {
    #[error("invalid gzip data")]
    Invalid(#[from] flate2::DecompressError),
    #[error("the response ended in the middle of its gzip data")]
    CutOff,
}

/// Decompresses one body. It holds at most [`CHUNK`] bytes of output in addition to its input, whatever the ratio.
#[derive(Default)]
pub(super) struct GzipDecoder {
    /// The decoder of the current member, which checks its length and checksum. Most bodies have one member, and no
    /// decoder is made before it starts.
    member: Option<Decompress>,
    position: Position,
    compressed: Bytes,
    /// The output buffer, reclaimed from earlier chunks once they are dropped.
    buffer: BytesMut,
}

#[derive(Default, PartialEq, Eq)]
enum Position {
    /// Between two members, or before the first.
    #[default]
    Between,
    Inside,
    /// Inside a member, with more output than the last buffer could take.
    Full,
}

impl GzipDecoder {
    /// Adds the next bytes of the body. Call it when [`GzipDecoder::next`] has returned `None`.
    pub(super) fn push(&mut self, compressed: Bytes) {
        debug_assert!(self.compressed.is_empty(), "something was given before");
        self.compressed = compressed;
    }

    /// Returns the next decompressed chunk; `None` when the input is used up.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, DecompressionError> {
        while self.position == Position::Full || !self.compressed.is_empty() {
            if self.buffer.len() < MIN_FREE {
                self.buffer.clear();
                self.buffer.resize(CHUNK, 0);
            }
            let member = self.member.get_or_insert_with(|| Decompress::new_gzip(WINDOW_BITS));
            let before = (member.total_in(), member.total_out());
            let status = member.decompress(&self.compressed, &mut self.buffer, FlushDecompress::None)?;
            // Bounded by the input and the free space of the buffer.
            let [read, written] = [member.total_in() - before.0, member.total_out() - before.1]
                .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
            self.compressed.advance(read);
            if self.compressed.is_empty() {
                // Releases the caller's buffer.
                self.compressed = Bytes::new();
            }
            self.position = match status {
                Status::StreamEnd => {
                    self.member = None;
                    Position::Between
                }
                _ if written == self.buffer.len() => Position::Full,
                _ => Position::Inside,
            };
            if written > 0 {
                return Ok(Some(self.buffer.split_to(written).freeze()));
            }
        }
        Ok(None)
    }

    /// Ends the body. An empty body is not valid gzip.
    pub(super) fn finish(&self) -> Result<(), DecompressionError> {
        if self.position == Position::Between { Ok(()) } else { Err(DecompressionError::CutOff) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }

    /// Decompresses a body that arrives in these pieces.
    fn decompressed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, DecompressionError> {
        let mut gunzip = GzipDecoder::default();
        let mut text = Vec::new();
        for piece in pieces {
            gunzip.push(Bytes::copy_from_slice(piece));
            while let Some(part) = gunzip.next()? {
                assert!(!part.is_empty() && part.len() <= CHUNK);
                text.extend_from_slice(&part);
            }
        }
        gunzip.finish().map(|()| text)
    }

    proptest! {
        #[test]
        fn decompression_does_not_depend_on_cuts(
            members in prop::collection::vec((any::<Vec<u8>>(), 1..3000usize), 1..4),
            size in 1..5000usize,
        ) {
            let texts: Vec<_> = members.iter().map(|(bytes, times)| bytes.repeat(*times)).collect();
            let body: Vec<_> = texts.iter().flat_map(|text| compressed(text)).collect();
            prop_assert_eq!(decompressed(body.chunks(size)).unwrap(), texts.concat());
        }

        #[test]
        fn corrupted_bodies_are_detected(
            text in prop::collection::vec(any::<u8>(), 1..500),
            at: prop::sample::Index,
            bit in 0..8u32,
        ) {
            let mut body = compressed(&text);
            // The time, flags and system fields of the header do not affect the text.
            let at = 10 + at.index(body.len() - 10);
            body[at] ^= 1 << bit;
            prop_assert!(decompressed([&body[..]]).map_or(true, |decompressed| decompressed == text));
        }

        #[test]
        fn arbitrary_bytes_never_panic(body: Vec<u8>, size in 1..50usize) {
            let _ = decompressed(body.chunks(size));
            let _ = decompressed([&compressed(b"")[..10], &body]);
        }
    }

    #[test]
    fn available_output_does_not_wait_for_input() {
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        let mut gunzip = GzipDecoder::default();
        // Output that fills the buffer exactly, and more: the rest must not wait for further input.
        for size in [1, CHUNK - 1, CHUNK, CHUNK + 1, 10 * CHUNK] {
            out.write_all(&vec![b'x'; size]).unwrap();
            out.flush().unwrap();
            gunzip.push(std::mem::take(out.get_mut()).into());
            let mut reported = 0;
            while let Some(part) = gunzip.next().unwrap() {
                reported += part.len();
            }
            assert_eq!(reported, size);
        }
    }

    #[test]
    fn truncated_body_is_an_error() {
        let body = compressed(&b"text".repeat(40_000));
        for end in 1..body.len() {
            assert!(matches!(decompressed([&body[..end]]), Err(DecompressionError::CutOff)), "{end}");
        }
        assert_eq!(decompressed([]).unwrap(), b"");
        assert!(matches!(
            decompressed([&body[..], b"more"]),
            Err(DecompressionError::Invalid(_) | DecompressionError::CutOff)
        ));
    }

    #[test]
    fn buffer_is_reused_once_its_chunks_are_dropped() {
        let mut gunzip = GzipDecoder::default();
        gunzip.push(compressed(&vec![b'x'; 20 * CHUNK]).into());
        let mut places = std::collections::HashSet::new();
        while let Some(part) = gunzip.next().unwrap() {
            places.insert(part.as_ptr());
        }
        assert!(places.len() < 3, "{}", places.len());
    }
}
