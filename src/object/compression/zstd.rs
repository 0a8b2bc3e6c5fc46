//! Compression by zstd with a prefix. Its C library is built with the feature `compression` only.

use zstd::zstd_safe::{CCtx, CDict, DCtx, compress_bound, get_error_name, get_frame_content_size};

/// The zstd level with the best ratio for its cost.
const LEVEL: i32 = 1;

/// A reusable context for compression.
pub(super) struct Encoder(CCtx<'static>);

impl Encoder {
    pub(super) fn new() -> Self {
        Self(CCtx::create())
    }

    /// Writes the frame of a text into a buffer, whose content it replaces, with room for `more` bytes after it. Returns
    /// `None` only if zstd fails, for example without memory.
    pub(super) fn compress(
        &mut self,
        text: &[u8],
        prefix: &[u8],
        frame: &mut Vec<u8>,
        more: usize,
    ) -> Option<()> {
        frame.reserve(compress_bound(text.len()) + more);
        self.0.compress_using_dict(frame, text, prefix, LEVEL).ok().map(drop)
    }

    /// Does the same with a digested prefix.
    pub(super) fn compress_digested(
        &mut self,
        text: &[u8],
        prefix: &Digested,
        frame: &mut Vec<u8>,
        more: usize,
    ) -> Option<()> {
        frame.reserve(compress_bound(text.len()) + more);
        self.0.compress_using_cdict(frame, text, &prefix.0).ok().map(drop)
    }
}

/// A prefix prepared for repeated use.
pub(super) struct Digested(CDict<'static>);

impl Digested {
    /// Digests a prefix. Returns `None` only without memory.
    pub(super) fn new(prefix: &[u8]) -> Option<Self> {
        CDict::try_create(prefix, LEVEL).map(Self)
    }

    /// Returns the memory that it occupies, in bytes.
    pub(super) fn size(&self) -> usize {
        self.0.sizeof()
    }
}

/// A reusable context for decompression.
pub(super) struct Decoder(DCtx<'static>);

impl Decoder {
    pub(super) fn new() -> Self {
        Self(DCtx::create())
    }

    /// Returns the text of a frame that was compressed with this prefix.
    pub(super) fn decompress(&mut self, frame: &[u8], prefix: &[u8]) -> Result<Vec<u8>, &'static str> {
        let mut text = Vec::with_capacity(text_length(frame).ok_or("the frame has no length")?);
        self.0.decompress_using_dict(&mut text, frame, prefix).map_err(get_error_name)?;
        Ok(text)
    }
}

/// Returns the length of a frame's text.
pub(super) fn text_length(frame: &[u8]) -> Option<usize> {
    get_frame_content_size(frame).ok().flatten().and_then(|length| usize::try_from(length).ok())
}
