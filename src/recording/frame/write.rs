//! Writes frames.

use super::{COPY, FrameContext, INSERT, OTHER, REPLACE, SEEK, TIME, VERSION, time};
use crate::recording::bytes::{put_number, put_signed};

/// The number of equal bytes at which the base continues after a difference. Fewer cost as much as they save.
const MATCH: usize = 8;

/// The longest difference of equal length on both sides that is looked for.
const MAX_REPLACED: usize = 48;

/// The slots of the table of positions.
const SLOTS: usize = 1 << 13;

/// Writes frames. It is reused for its table.
#[derive(Debug, Default)]
pub(in crate::recording) struct FrameWriter {
    /// For the hash of [`MATCH`] bytes, their last position in the base plus 1.
    positions: Vec<u32>,
}

impl FrameWriter {
    /// Appends the frame of a text against a base, which may be empty.
    pub(in crate::recording) fn write(
        &mut self,
        text: &[u8],
        base: &[u8],
        base_version: u64,
        context: &FrameContext,
        frame: &mut Vec<u8>,
    ) {
        put_number(frame, text.len() as u64);
        let version = context.version.to_string();
        let skipped = base_version.to_string().len();
        let last_time = context.seconds();
        let mut run = Run { text, base, context, version, skipped, at: 0, cursor: 0, copied: 0, last_time };
        let mut is_indexed = false;
        while run.at < text.len() {
            let same = common(&text[run.at..], base.get(run.cursor..).unwrap_or_default());
            run.copy(same);
            if run.at == text.len() {
                break;
            }
            if run.write_symbol(frame) || run.replace(frame) {
                continue;
            }
            if !is_indexed {
                self.index(base);
                is_indexed = true;
            }
            let (count, cursor) = self.resume(&run);
            run.insert(count, cursor, frame);
        }
        run.flush_copy(frame);
    }

    /// Records the positions of the base.
    fn index(&mut self, base: &[u8]) {
        self.positions.clear();
        self.positions.resize(SLOTS, 0);
        for (at, word) in (1u32..).zip(base.windows(MATCH)) {
            self.positions[slot(word)] = at;
        }
    }

    /// Returns how many bytes of the text have no counterpart, and where the base continues after them.
    fn resume(&self, run: &Run<'_>) -> (usize, usize) {
        let rest = &run.text[run.at..];
        for (count, word) in rest.windows(MATCH).enumerate() {
            let near = run.base.get(run.cursor..).and_then(|base| base.get(..MATCH)) == Some(word);
            if near && count > 0 {
                return (count, run.cursor);
            }
            let position = self.positions[slot(word)] as usize;
            if position > 0 && run.base.get(position - 1..position - 1 + MATCH) == Some(word) {
                return (count, position - 1);
            }
        }
        (rest.len(), run.cursor)
    }
}

/// A frame that is being written.
struct Run<'a> {
    text: &'a [u8],
    base: &'a [u8],
    context: &'a FrameContext,
    /// The version as digits, and the number of those of the base.
    version: String,
    skipped: usize,
    /// The positions in the text and in the base.
    at: usize,
    cursor: usize,
    /// The bytes to copy that are not in the frame yet.
    copied: usize,
    last_time: i64,
}

impl Run<'_> {
    fn copy(&mut self, count: usize) {
        self.copied += count;
        self.at += count;
        self.cursor += count;
    }

    fn flush_copy(&mut self, frame: &mut Vec<u8>) {
        if self.copied > 0 {
            put_number(frame, (self.copied as u64) << 2 | COPY);
            self.copied = 0;
        }
    }

    /// Writes the version or the time that the difference lies in, also if its first bytes agree with the base.
    fn write_symbol(&mut self, frame: &mut Vec<u8>) -> bool {
        let back = self.copied.min(time::LENGTH);
        let Some(quote) = memchr::memrchr(b'"', &self.text[self.at - back..self.at]) else { return false };
        let agreed = back - quote - 1;
        let rest = &self.text[self.at - agreed..];
        let is_version =
            rest.starts_with(self.version.as_bytes()) && rest.get(self.version.len()) == Some(&b'"');
        let seconds = if is_version { None } else { time::parse(rest) };
        if !is_version && seconds.is_none() {
            return false;
        }
        self.copied -= agreed;
        self.flush_copy(frame);
        self.cursor -= agreed;
        self.at -= agreed;
        if let Some(seconds) = seconds {
            let (of_receipt, of_last) = (seconds - self.context.seconds(), seconds - self.last_time);
            let is_nearer = of_last.unsigned_abs() < of_receipt.unsigned_abs();
            let number = if is_nearer { of_last << 1 | 1 } else { of_receipt << 1 };
            put_number(frame, TIME << 2 | OTHER);
            put_signed(frame, number);
            self.last_time = seconds;
            self.at += time::LENGTH;
            self.cursor += time::LENGTH;
        } else {
            put_number(frame, VERSION << 2 | OTHER);
            self.at += self.version.len();
            self.cursor += self.skipped;
        }
        true
    }

    /// Writes bytes that replace as many of the base.
    fn replace(&mut self, frame: &mut Vec<u8>) -> bool {
        let rest = &self.text[self.at..];
        let base = self.base.get(self.cursor..).unwrap_or_default();
        let agrees = |count: &usize| {
            rest.get(*count..*count + MATCH)
                .is_some_and(|word| base.get(*count..*count + MATCH) == Some(word))
        };
        let Some(count) = (1..MAX_REPLACED).find(agrees) else { return false };
        self.flush_copy(frame);
        put_number(frame, (count as u64) << 2 | REPLACE);
        frame.extend_from_slice(&rest[..count]);
        self.at += count;
        self.cursor += count;
        true
    }

    /// Writes bytes without a counterpart, after which the base continues at `cursor`.
    fn insert(&mut self, count: usize, cursor: usize, frame: &mut Vec<u8>) {
        self.flush_copy(frame);
        if count > 0 {
            put_number(frame, (count as u64) << 2 | INSERT);
            frame.extend_from_slice(&self.text[self.at..self.at + count]);
            self.at += count;
        }
        if cursor != self.cursor && self.at < self.text.len() {
            put_number(frame, SEEK << 2 | OTHER);
            put_signed(frame, position(cursor) - position(self.cursor));
        }
        self.cursor = cursor;
    }
}

/// Returns a position in a text, which is far shorter than the type allows.
fn position(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

/// Returns the number of equal bytes at the front.
fn common(one: &[u8], other: &[u8]) -> usize {
    let (words, _) = one.as_chunks::<8>();
    let (others, _) = other.as_chunks::<8>();
    let same = 8 * words.iter().zip(others).take_while(|(one, other)| one == other).count();
    same + one[same..].iter().zip(&other[same..]).take_while(|(one, other)| one == other).count()
}

fn slot(word: &[u8]) -> usize {
    let word = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    usize::try_from(word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51).unwrap_or_default()
}
