//! What stands behind the bytes of each frame: a sum of its text, and who wrote it.

use super::sum::sum;

/// How a frame was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// By zstd, with the other text as its dictionary.
    Zstd,
    /// As a sibling of the other text.
    Sibling,
}

/// What [`seal`] appends.
pub(super) const SEAL: usize = size_of::<u32>() + 1;

/// Completes the frame of a text.
pub(super) fn seal(frame: &mut Vec<u8>, form: Form, text: &[u8]) {
    frame.extend_from_slice(&sum(text).to_le_bytes());
    frame.push(u8::from(form == Form::Sibling));
}

/// Who wrote a frame, its bytes, and the sum of its text.
pub(super) fn open(frame: &[u8]) -> Option<(Form, &[u8], u32)> {
    let (form, rest) = frame.split_last()?;
    let (bytes, sum) = rest.split_last_chunk()?;
    let form = match form {
        0 => Form::Zstd,
        1 => Form::Sibling,
        _ => return None,
    };
    Some((form, bytes, u32::from_le_bytes(*sum)))
}
