//! Reading what was packed.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use zstd::zstd_safe::{DCtx, get_frame_content_size};

use super::prefix::Prefix;
use super::sum::sum;

thread_local! {
    /// One for each thread, so that readers wait for nobody. It ends with its thread.
    static READER: RefCell<Reader> = RefCell::new(Reader {
        context: DCtx::create(),
        base: Weak::new(),
        base_text: Vec::new(),
    });
}

struct Reader {
    context: DCtx<'static>,
    /// The base that was read last, for siblings are mostly read in a row. Weak: a reader keeps no base alive.
    base: Weak<Prefix>,
    base_text: Vec<u8>,
}

/// The text of a frame that was written against this; of an empty one, the text that it was written against.
///
/// # Errors
/// The frame was not written against this: a mistake in this room.
pub(in crate::object) fn unpack(frame: &[u8], against: &Arc<Prefix>) -> Result<Vec<u8>, &'static str> {
    READER.with_borrow_mut(|reader| reader.unpack(frame, against))
}

/// How long the text of a frame is; of an empty one, the text that it was written against.
pub(in crate::object) fn length(frame: &[u8], against: &Prefix) -> usize {
    let frame = match (frame, &against.against) {
        ([], None) => return against.bytes.len(),
        ([], Some(_)) => &*against.bytes,
        _ => frame,
    };
    let length = get_frame_content_size(frame).ok().flatten();
    length.and_then(|length| usize::try_from(length).ok()).unwrap_or_default()
}

impl Reader {
    fn unpack(&mut self, frame: &[u8], against: &Arc<Prefix>) -> Result<Vec<u8>, &'static str> {
        let Self { context, base, base_text } = self;
        let prefix = match &against.against {
            None => &*against.bytes,
            Some(dictionary) => {
                if !std::ptr::eq(base.as_ptr(), Arc::as_ptr(against)) {
                    *base = Weak::new();
                    *base_text = read(context, &against.bytes, &dictionary.bytes)?;
                    *base = Arc::downgrade(against);
                }
                &base_text[..]
            }
        };
        if frame.is_empty() { Ok(prefix.to_vec()) } else { read(context, frame, prefix) }
    }
}

fn read(context: &mut DCtx<'_>, frame: &[u8], prefix: &[u8]) -> Result<Vec<u8>, &'static str> {
    let (frame, wanted) = frame.split_last_chunk().ok_or("a frame is cut off")?;
    let length = get_frame_content_size(frame).ok().flatten().and_then(|length| usize::try_from(length).ok());
    let mut text = Vec::with_capacity(length.ok_or("a frame does not say its length")?);
    context.decompress_using_dict(&mut text, frame, prefix).map_err(zstd::zstd_safe::get_error_name)?;
    if sum(&text) == u32::from_le_bytes(*wanted) { Ok(text) } else { Err("a text has another sum") }
}
