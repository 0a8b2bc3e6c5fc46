//! Frames: texts, each stored as its difference from a base.
//!
//! A frame is the length of the text, then operations until the text is complete. They append bytes and move a
//! cursor through the source: the base, followed by the text as far as it is complete. Each operation begins with a
//! number: a length times 4, plus the kind of the operation.
//! - `COPY` appends bytes of the source at the cursor, and moves the cursor past them.
//! - `INSERT` appends bytes of the frame.
//! - `REPLACE` appends bytes of the frame, and moves the cursor by the same number of bytes.
//! - `OTHER` has the number of one of the following operations in place of the length; from `DIGITS` on, a length
//!   plus that number:
//!   - `SEEK` moves the cursor by a signed number.
//!   - `VERSION` appends the version in decimal digits, and moves the cursor past that of the base. `NAME` does the
//!     same with the name.
//!   - `TIME` appends `2026-11-24T03:12:00`, and moves the cursor by as many bytes. A time is a difference in
//!     seconds, from the time of receipt or from the last time of the frame: most times of a change are near one of
//!     them.
//!   - `NEW_VERSION`, `NEW_NAME` and `NEW_TIME` append the same values without moving the cursor.
//!   - `NEW_UID` appends a uid, `8c2f1a04-…`, decoded from 16 bytes of the frame.
//!   - `NEW_DIGITS` appends hexadecimal digits. Their number follows, then the digits, two in each byte.
//!   - `DIGITS` appends bytes of the source with each hexadecimal digit replaced, and moves the cursor past them.

mod encoder;
mod hex_digits;
mod index;
mod read;
mod time;
mod write;

pub(in crate::recording) use read::{MAX_LEN, read_frame};
pub(in crate::recording) use write::FrameWriter;

const COPY: u64 = 0;
const INSERT: u64 = 1;
const REPLACE: u64 = 2;
const OTHER: u64 = 3;

const SEEK: u64 = 0;
const VERSION: u64 = 1;
const TIME: u64 = 2;
const NEW_VERSION: u64 = 3;
const NEW_TIME: u64 = 4;
const NEW_DIGITS: u64 = 5;
const NAME: u64 = 6;
const NEW_NAME: u64 = 7;
const NEW_UID: u64 = 8;
const DIGITS: u64 = 9;

/// The values that a frame may refer to, apart from its base.
#[derive(Debug, Clone, Copy)]
pub(in crate::recording) struct FrameContext<'a> {
    /// The version of the text.
    pub(in crate::recording) version: u64,
    /// The time at which it was received, in Unix milliseconds.
    pub(in crate::recording) received: i64,
    /// The name of the object, if the base is the text of another one.
    name: &'a str,
    /// The length of the other object's name.
    base_name_len: usize,
}

impl<'a> FrameContext<'a> {
    pub(in crate::recording) fn new(version: u64, received: i64) -> Self {
        Self { version, received, name: "", base_name_len: 0 }
    }

    /// Adds the name of the object, and the length of that of the base.
    pub(in crate::recording) fn with_name(self, name: &'a str, base_name_len: usize) -> Self {
        Self { name, base_name_len, ..self }
    }

    /// Returns the time of receipt in Unix seconds.
    fn seconds(&self) -> i64 {
        self.received.div_euclid(1000)
    }
}

#[cfg(test)]
mod tests;
