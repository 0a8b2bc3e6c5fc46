//! Reads frames.

use super::{COPY, FrameContext, INSERT, OTHER, REPLACE, SEEK, TIME, VERSION, time};
use crate::recording::bytes::Cursor;

/// The longest text: servers refuse larger objects by far.
const MAX_LEN: u64 = 256 << 20;

/// Appends the text of a frame. Returns `None` if the frame is not one of this base and context.
pub(in crate::recording) fn read_frame(
    frame: &[u8],
    base: &[u8],
    base_version: u64,
    context: &FrameContext,
    text: &mut Vec<u8>,
) -> Option<()> {
    let mut frame = Cursor::new(frame);
    let length = frame.take_number().filter(|length| *length <= MAX_LEN)?;
    let end = text.len().checked_add(usize::try_from(length).ok()?)?;
    // A damaged length must not reserve more than the text may need.
    text.reserve((end - text.len()).min(2 * base.len() + 16 * frame.len()));
    let mut at = 0usize;
    let mut last_time = context.seconds();
    while text.len() < end {
        let operation = frame.take_number()?;
        let count = usize::try_from(operation >> 2).ok()?;
        match operation & 3 {
            COPY => {
                text.extend_from_slice(base.get(at..at.checked_add(count)?)?);
                at += count;
            }
            INSERT => text.extend_from_slice(frame.take_bytes(count)?),
            REPLACE => {
                text.extend_from_slice(frame.take_bytes(count)?);
                at = at.checked_add(count)?;
            }
            OTHER => match operation >> 2 {
                SEEK => at = at.checked_add_signed(isize::try_from(frame.take_signed()?).ok()?)?,
                VERSION => {
                    text.extend_from_slice(context.version.to_string().as_bytes());
                    at = at.checked_add(base_version.to_string().len())?;
                }
                TIME => {
                    let number = frame.take_signed()?;
                    let from = if number & 1 == 0 { context.seconds() } else { last_time };
                    last_time = from.checked_add(number >> 1)?;
                    text.extend_from_slice(&time::write(last_time)?);
                    at = at.checked_add(time::LENGTH)?;
                }
                _ => return None,
            },
            _ => return None,
        }
    }
    (text.len() == end && frame.is_empty()).then_some(())
}
