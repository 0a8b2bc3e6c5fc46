//! The trailer of each frame: a checksum of its text, and its format.

use super::checksum::checksum;

/// The format of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Written by zstd with the prefix as dictionary.
    Zstd,
    /// Written as the difference from a sibling.
    Sibling,
}

/// The length of the trailer that [`seal`] appends.
pub(super) const SEAL: usize = size_of::<u32>() + 1;

/// Appends the trailer to the frame of a text.
pub(super) fn seal(frame: &mut Vec<u8>, form: Form, text: &[u8]) {
    frame.extend_from_slice(&checksum(text).to_le_bytes());
    frame.push(u8::from(form == Form::Sibling));
}

/// Splits a frame into its format, its contents and the checksum of its text.
pub(super) fn open(frame: &[u8]) -> Option<(Form, &[u8], u32)> {
    let (form, rest) = frame.split_last()?;
    let (bytes, checksum) = rest.split_last_chunk()?;
    let form = match form {
        0 => Form::Zstd,
        1 => Form::Sibling,
        _ => return None,
    };
    Some((form, bytes, u32::from_le_bytes(*checksum)))
}
