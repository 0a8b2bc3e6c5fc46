//! Decompression of bodies.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use super::checksum::checksum;
use super::frame::{Form, open};
use super::prefix::Prefix;
use super::sibling;
use super::zstd::{Decoder, text_length};

thread_local! {
    /// One reader per thread, so that readers never wait for each other. It is freed with its thread.
    static READER: RefCell<Reader> = RefCell::new(Reader {
        decoder: Decoder::new(),
        base: Weak::new(),
        base_text: Vec::new(),
    });
}

struct Reader {
    decoder: Decoder,
    /// The base that was read last: siblings are mostly read in a row. Weak: a reader keeps no base alive.
    base: Weak<Prefix>,
    base_text: Vec<u8>,
}

/// Decompresses a frame that was compressed against this prefix. An empty frame stands for the prefix's own text.
///
/// # Errors
/// The frame was compressed against another prefix, which would be a bug in this module.
pub(in crate::object) fn decompress(frame: &[u8], against: &Arc<Prefix>) -> Result<Vec<u8>, &'static str> {
    READER.with_borrow_mut(|reader| reader.decompress(frame, against))
}

/// Returns the length of a frame's text. An empty frame stands for the prefix's own text.
pub(in crate::object) fn length(frame: &[u8], against: &Prefix) -> usize {
    let frame = match (frame, &against.against) {
        ([], None) => return against.bytes.len(),
        ([], Some(_)) => &*against.bytes,
        _ => frame,
    };
    let length = open(frame).and_then(|(form, bytes, _)| match form {
        Form::Zstd => text_length(bytes),
        Form::Sibling => sibling::length(bytes),
    });
    length.unwrap_or_default()
}

impl Reader {
    fn decompress(&mut self, frame: &[u8], against: &Arc<Prefix>) -> Result<Vec<u8>, &'static str> {
        let Self { decoder, base, base_text } = self;
        let prefix = match &against.against {
            None => &*against.bytes,
            Some(dictionary) => {
                if !std::ptr::eq(base.as_ptr(), Arc::as_ptr(against)) {
                    *base = Weak::new();
                    *base_text = read(decoder, &against.bytes, &dictionary.bytes)?;
                    *base = Arc::downgrade(against);
                }
                &base_text[..]
            }
        };
        if frame.is_empty() { Ok(prefix.to_vec()) } else { read(decoder, frame, prefix) }
    }
}

fn read(decoder: &mut Decoder, frame: &[u8], prefix: &[u8]) -> Result<Vec<u8>, &'static str> {
    let (form, bytes, expected) = open(frame).ok_or("the frame is truncated")?;
    let text = match form {
        Form::Zstd => decoder.decompress(bytes, prefix)?,
        Form::Sibling => sibling::read(bytes, prefix).ok_or("the frame is not a valid sibling frame")?,
    };
    if checksum(&text) == expected { Ok(text) } else { Err("the text has a different checksum") }
}
