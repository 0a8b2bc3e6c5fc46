//! The compressed stream of a journal, cut into chunks that can be decompressed as they arrive.

use std::io;

use zstd::stream::raw::{CParameter, Decoder, Encoder, InBuffer, Operation, OutBuffer};

use crate::recording::block::MAX_LEN;

/// The compression level, at which a second of entries costs the recorder little.
const LEVEL: i32 = 3;

/// The binary logarithm of the window. By default it is 2 MiB, which a writer and a reader allocate each; a journal is 8 %
/// smaller with it.
const WINDOW_LOG: u32 = 19;

/// The room for the output of one step.
pub(super) const STEP: usize = 64 << 10;

/// The longest decompressed text of a chunk. A chunk ends with the entry that reaches its length, and an entry has
/// one text.
const MAX_TEXT: usize = MAX_LEN;

/// Compresses the chunks of one stream.
pub(super) struct Compression(Encoder<'static>);

impl Compression {
    pub(super) fn new() -> io::Result<Self> {
        let mut encoder = Encoder::new(LEVEL)?;
        encoder.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
        Ok(Self(encoder))
    }

    /// Compresses a text up to its end, so that it can be decompressed without later chunks.
    pub(super) fn chunk(&mut self, text: &[u8]) -> io::Result<Vec<u8>> {
        let mut chunk = Vec::new();
        let mut step = vec![0; STEP];
        let mut input = InBuffer::around(text);
        while input.pos() < text.len() {
            let mut output = OutBuffer::around(&mut step[..]);
            self.0.run(&mut input, &mut output)?;
            chunk.extend_from_slice(output.as_slice());
        }
        loop {
            let mut output = OutBuffer::around(&mut step[..]);
            let left = self.0.flush(&mut output)?;
            chunk.extend_from_slice(output.as_slice());
            if left == 0 {
                return Ok(chunk);
            }
        }
    }
}

/// Decompresses the chunks of one stream, in order.
pub(super) struct Decompression(Decoder<'static>);

impl Decompression {
    pub(super) fn new() -> io::Result<Self> {
        Decoder::new().map(Self)
    }

    /// Appends the text of the next chunk, which must not be longer than `max_len`. After an error, a part of it may have been
    /// appended.
    pub(super) fn append(&mut self, chunk: &[u8], max_len: usize, text: &mut Vec<u8>) -> io::Result<()> {
        let start = text.len();
        let mut input = InBuffer::around(chunk);
        loop {
            text.reserve(STEP);
            let end = text.len();
            self.0.run(&mut input, &mut OutBuffer::around_pos(text, end))?;
            if text.len() - start > max_len.min(MAX_TEXT) {
                return Err(io::Error::other("a chunk is too long"));
            }
            // If the buffer is full, the decoder may have more output for the same input.
            if input.pos() == chunk.len() && text.len() < text.capacity() {
                return Ok(());
            }
        }
    }
}
