//! The counterpart of `zstd` without the feature `compression`: no text is compressed, so that no base for siblings
//! comes into being and every body stays as it is.

#![expect(clippy::unused_self, reason = "zstd needs its contexts")]

/// Compresses nothing.
pub(super) struct Encoder;

impl Encoder {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) fn compress(&mut self, _: &[u8], _: &[u8], _: &mut Vec<u8>, _: usize) -> Option<()> {
        None
    }

    pub(super) fn compress_digested(
        &mut self,
        _: &[u8],
        prefix: &Digested,
        _: &mut Vec<u8>,
        _: usize,
    ) -> Option<()> {
        match *prefix {}
    }
}

/// A prefix prepared for repeated use; there is none.
pub(super) enum Digested {}

impl Digested {
    pub(super) fn new(_: &[u8]) -> Option<Self> {
        None
    }

    pub(super) fn size(&self) -> usize {
        match *self {}
    }
}

/// Decompresses nothing.
pub(super) struct Decoder;

impl Decoder {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) fn decompress(&mut self, _: &[u8], _: &[u8]) -> Result<Vec<u8>, &'static str> {
        Err("this build has no zstd")
    }
}

/// Returns the length of a frame's text.
pub(super) fn text_length(_: &[u8]) -> Option<usize> {
    None
}
