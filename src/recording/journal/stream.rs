//! The compressed stream of a journal, cut into chunks that can be decompressed as they arrive.

use std::io;

use zstd::stream::raw::{CParameter, Decoder, Encoder, InBuffer, Operation, OutBuffer};

use crate::recording::block::MAX_LEN;

/// The compression level, at which a second of entries costs the recorder little.
const LEVEL: i32 = 3;

/// The binary logarithm of the window. By default it is 2 MiB, which a writer and a reader allocate each; a journal is 8 %
/// smaller with it.
const WINDOW_LOG: u32 = 19;

/// The output buffer of one step.
const STEP: usize = 64 << 10;

/// The longest decompressed text of a chunk. A chunk ends with the entry that reaches its length, and an entry has
/// one text.
const MAX_TEXT: usize = MAX_LEN;

/// The largest buffer that is kept for the next chunk.
const MAX_KEPT: usize = 1 << 20;

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
pub(super) struct Decompression {
    decoder: Decoder<'static>,
    /// The output of one step. A journal has a chunk for each second, so that all share the buffers.
    step: Vec<u8>,
    text: Vec<u8>,
}

impl Decompression {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { decoder: Decoder::new()?, step: vec![0; STEP], text: Vec::new() })
    }

    /// Returns the text of the next chunk, which must not be longer than `max_len`.
    pub(super) fn text(&mut self, chunk: &[u8], max_len: usize) -> io::Result<&[u8]> {
        let max_len = max_len.min(MAX_TEXT);
        self.text.clear();
        self.text.shrink_to(MAX_KEPT);
        let mut input = InBuffer::around(chunk);
        loop {
            let length = self.run_step(&mut input)?;
            // If the buffer is full, the decoder may have more output for the same input.
            let is_last = input.pos() == chunk.len() && length < STEP;
            if self.text.len() + length > max_len {
                return Err(io::Error::other("a chunk is too long"));
            }
            // Most texts are those of one step, and need not be copied.
            if is_last && self.text.is_empty() {
                return Ok(&self.step[..length]);
            }
            self.text.extend_from_slice(&self.step[..length]);
            if is_last {
                return Ok(&self.text);
            }
        }
    }

    /// Decompresses as much as the buffer holds, and returns its length.
    fn run_step(&mut self, input: &mut InBuffer<'_>) -> io::Result<usize> {
        let mut output = OutBuffer::around(&mut self.step[..]);
        self.decoder.run(input, &mut output)?;
        Ok(output.as_slice().len())
    }
}
