//! Reads frames.

use super::{
    COPY, DIGITS, FrameContext, INSERT, NAME, NEW_DIGITS, NEW_NAME, NEW_TIME, NEW_UID, NEW_VERSION, OTHER,
    REPLACE, SEEK, TIME, VERSION, hex_digits, time,
};
use crate::recording::bytes::Cursor;

/// The longest text: that of the longest frame of a watch, so that each received object can be recorded.
pub(in crate::recording) const MAX_LEN: usize = 64 << 20;

/// The state of decoding one frame.
struct Reader<'a> {
    frame: Cursor<'a>,
    base: &'a [u8],
    /// The position in the source.
    at: usize,
    text: &'a mut Vec<u8>,
    /// The beginning of the text in the buffer, and its end.
    start: usize,
    end: usize,
}

/// Appends the text of a frame. Returns `None` if the frame is invalid for this base and context.
pub(in crate::recording) fn read_frame(
    frame: &[u8],
    base: &[u8],
    base_version: u64,
    context: &FrameContext<'_>,
    text: &mut Vec<u8>,
) -> Option<()> {
    let mut frame = Cursor::new(frame);
    let length = usize::try_from(frame.take_number()?).ok().filter(|length| *length <= MAX_LEN)?;
    let start = text.len();
    let end = start.checked_add(length)?;
    // A damaged length must not reserve more memory than the text may need.
    let room = length.min(2 * base.len() + 16 * frame.len());
    if text.is_empty() && text.capacity() < room {
        // Unlike a longer reservation, this copies nothing.
        *text = Vec::with_capacity(room);
    }
    text.reserve(room);
    let mut last_time = context.seconds();
    let mut reader = Reader { frame, base, at: 0, text, start, end };
    while reader.text.len() < end {
        let operation = reader.frame.take_number()?;
        let count = usize::try_from(operation >> 2).ok()?;
        match (operation & 3, operation >> 2) {
            (COPY, _) => reader.copy(count)?,
            (INSERT, _) => reader.insert(count)?,
            (REPLACE, _) => {
                reader.insert(count)?;
                reader.skip(count)?;
            }
            (OTHER, SEEK) => {
                let by = isize::try_from(reader.frame.take_signed()?).ok()?;
                reader.at = reader.at.checked_add_signed(by)?;
            }
            (OTHER, symbol @ (VERSION | NEW_VERSION)) => {
                reader.text.extend_from_slice(context.version.to_string().as_bytes());
                if symbol == VERSION {
                    reader.skip(base_version.to_string().len())?;
                }
            }
            (OTHER, symbol @ (NAME | NEW_NAME)) => {
                reader.text.extend_from_slice(context.name.as_bytes());
                if symbol == NAME {
                    reader.skip(context.base_name_len)?;
                }
            }
            (OTHER, symbol @ (TIME | NEW_TIME)) => {
                let number = reader.frame.take_signed()?;
                let from = if number & 1 == 0 { context.seconds() } else { last_time };
                last_time = from.checked_add(number >> 1)?;
                reader.text.extend_from_slice(&time::write(last_time)?);
                if symbol == TIME {
                    reader.skip(time::LENGTH)?;
                }
            }
            (OTHER, NEW_UID) => {
                let packed = reader.frame.take_bytes(16)?.first_chunk()?;
                reader.text.extend_from_slice(&hex_digits::unpack_uid(packed));
            }
            (OTHER, NEW_DIGITS) => {
                let count = usize::try_from(reader.frame.take_number()?).ok()?;
                let packed = reader.frame.take_bytes(count.div_ceil(2))?;
                hex_digits::unpack(packed, count, reader.text);
            }
            _ => reader.substitute(count - usize::try_from(DIGITS).ok()?)?,
        }
    }
    let is_complete = reader.text.len() == end && reader.frame.is_empty();
    is_complete.then_some(())
}

impl Reader<'_> {
    fn skip(&mut self, count: usize) -> Option<()> {
        self.at = self.at.checked_add(count)?;
        Some(())
    }

    fn has_room(&self, count: usize) -> Option<()> {
        (count <= self.end - self.text.len()).then_some(())
    }

    /// Appends bytes of the source, which must lie entirely in the base or entirely in the text.
    fn copy(&mut self, count: usize) -> Option<()> {
        self.has_room(count)?;
        match self.at.checked_sub(self.base.len()) {
            None => self.text.extend_from_slice(self.base.get(self.at..self.at.checked_add(count)?)?),
            Some(at) => {
                let end = at.checked_add(count).filter(|end| *end <= self.text.len() - self.start)?;
                self.text.extend_from_within(self.start + at..self.start + end);
            }
        }
        self.skip(count)
    }

    fn insert(&mut self, count: usize) -> Option<()> {
        self.has_room(count)?;
        self.text.extend_from_slice(self.frame.take_bytes(count)?);
        Some(())
    }

    /// Appends bytes of the source with their hexadecimal digits replaced.
    fn substitute(&mut self, count: usize) -> Option<()> {
        self.copy(count)?;
        let from = self.text.len() - count;
        let new = &mut self.text[from..];
        let packed = self.frame.take_bytes(hex_digits::count(new).div_ceil(2))?;
        hex_digits::substitute(new, packed);
        Some(())
    }
}
