//! Frames: a text as its difference from a base.
//!
//! A frame is the length of the text, then operations until the text is complete. They append bytes and move a cursor
//! through the base. Each begins with a number: a length times 4, plus the kind of the operation.
//! - `COPY`: appends bytes of the base at the cursor, which moves behind them.
//! - `INSERT`: appends bytes of the frame.
//! - `REPLACE`: appends bytes of the frame, and the cursor moves over as many of the base.
//! - `OTHER`: the length is the number of one of these: `SEEK` moves the cursor by a signed number; `VERSION` appends the
//!   version as digits, and the cursor moves over that of the base; `TIME` appends `2026-11-24T03:12:00`, and the cursor
//!   moves over as many bytes. A time is a difference in seconds, from the time of receipt or from the last time of the
//!   frame: most times of a change are the present, or repeat.

mod read;
mod time;
mod write;

pub(in crate::recording) use read::read_frame;
pub(in crate::recording) use write::FrameWriter;

const COPY: u64 = 0;
const INSERT: u64 = 1;
const REPLACE: u64 = 2;
const OTHER: u64 = 3;

const SEEK: u64 = 0;
const VERSION: u64 = 1;
const TIME: u64 = 2;

/// What a frame may refer to besides its base.
#[derive(Debug, Clone, Copy)]
pub(in crate::recording) struct FrameContext {
    /// The version of the text.
    pub(in crate::recording) version: u64,
    /// The time at which it was received, in Unix milliseconds.
    pub(in crate::recording) received: i64,
}

impl FrameContext {
    /// Returns the time of receipt in Unix seconds.
    fn seconds(&self) -> i64 {
        self.received.div_euclid(1000)
    }
}

#[cfg(test)]
mod tests;
