//! The state of encoding one frame, and its operations.

use super::{
    COPY, DIGITS, FrameContext, INSERT, NAME, NEW_DIGITS, NEW_NAME, NEW_TIME, NEW_UID, NEW_VERSION, OTHER,
    REPLACE, SEEK, TIME, VERSION, hex_digits, time,
};
use crate::recording::bytes::{put_number, put_signed};

/// The longest difference of equal length on both sides that is searched for: a SHA-256 hash and some bytes around
/// it.
const MAX_REPLACED: usize = 96;

/// The number of equal bytes that must follow such a difference.
const AGREED: usize = 8;

/// The number of bytes before a difference in which the beginning of a name is searched for.
const MAX_SYMBOL: usize = 128;

/// The shortest run of digits that is packed, and the shortest difference that is written as digits.
const MIN_DIGITS: usize = 16;
const MIN_SUBSTITUTED: usize = 4;

/// The state of encoding one frame.
pub(super) struct Encoder<'a> {
    pub(super) text: &'a [u8],
    pub(super) base: &'a [u8],
    /// The positions in the text and in the source.
    pub(super) at: usize,
    pub(super) cursor: usize,
    context: &'a FrameContext<'a>,
    /// The versions in decimal digits.
    version: String,
    base_version: String,
    /// The number of bytes to copy that are not in the frame yet.
    copied: usize,
    last_time: i64,
}

impl<'a> Encoder<'a> {
    pub(super) fn new(
        text: &'a [u8],
        base: &'a [u8],
        base_version: u64,
        context: &'a FrameContext<'a>,
    ) -> Self {
        Self {
            text,
            base,
            at: 0,
            cursor: 0,
            context,
            version: context.version.to_string(),
            base_version: base_version.to_string(),
            copied: 0,
            last_time: context.seconds(),
        }
    }

    /// Returns the source from a position on: the rest of the base, or of the text before the current position.
    pub(super) fn source(&self, from: usize) -> &'a [u8] {
        match from.checked_sub(self.base.len()) {
            None => &self.base[from..],
            Some(at) => self.text.get(at..self.at).unwrap_or_default(),
        }
    }

    /// Copies the bytes that match.
    pub(super) fn copy(&mut self) {
        let same = common(&self.text[self.at..], self.source(self.cursor));
        self.copied += same;
        self.at += same;
        self.cursor += same;
    }

    pub(super) fn flush_copy(&mut self, frame: &mut Vec<u8>) {
        if self.copied > 0 {
            put_number(frame, (self.copied as u64) << 2 | COPY);
            self.copied = 0;
        }
    }

    /// Writes the version, name or time that contains the difference, even if its first bytes match the base.
    pub(super) fn write_symbol(&mut self, frame: &mut Vec<u8>) -> bool {
        let back = self.copied.min(MAX_SYMBOL);
        let Some(quote) = memchr::memrchr(b'"', &self.text[self.at - back..self.at]) else { return false };
        let agreed = back - quote - 1;
        let start = self.at - agreed;
        let Some(symbol) = self.symbol(start) else { return false };
        // A time that matches to its end does not contain the difference.
        if matches!(symbol, Symbol::Time(_)) && agreed >= time::LENGTH {
            return false;
        }
        self.copied -= agreed;
        self.flush_copy(frame);
        self.cursor -= agreed;
        self.at = start;
        let old = self.source(self.cursor);
        match symbol {
            Symbol::Version if old.starts_with(self.base_version.as_bytes()) => {
                put_number(frame, VERSION << 2 | OTHER);
                self.cursor += self.base_version.len();
                self.at += self.version.len();
            }
            Symbol::Name if old.get(self.context.base_name_len) == Some(&b'"') => {
                put_number(frame, NAME << 2 | OTHER);
                self.cursor += self.context.base_name_len;
                self.at += self.context.name.len();
            }
            Symbol::Time(seconds) if old.len() >= time::LENGTH && old[10] == b'T' => {
                self.put_time(TIME, seconds, frame);
                self.cursor += time::LENGTH;
                self.at += time::LENGTH;
            }
            symbol => self.insert_symbol(symbol, frame),
        }
        true
    }

    /// Returns the version, name or time that begins at a position after a quote.
    fn symbol(&self, at: usize) -> Option<Symbol> {
        let rest = &self.text[at..];
        let is = |text: &str| rest.starts_with(text.as_bytes()) && rest.get(text.len()) == Some(&b'"');
        if is(&self.version) {
            Some(Symbol::Version)
        } else if !self.context.name.is_empty() && is(self.context.name) {
            Some(Symbol::Name)
        } else {
            time::parse(rest).map(Symbol::Time)
        }
    }

    fn length_of(&self, symbol: Symbol) -> usize {
        match symbol {
            Symbol::Version => self.version.len(),
            Symbol::Name => self.context.name.len(),
            Symbol::Time(_) => time::LENGTH,
        }
    }

    fn insert_symbol(&mut self, symbol: Symbol, frame: &mut Vec<u8>) {
        match symbol {
            Symbol::Version => put_number(frame, NEW_VERSION << 2 | OTHER),
            Symbol::Name => put_number(frame, NEW_NAME << 2 | OTHER),
            Symbol::Time(seconds) => self.put_time(NEW_TIME, seconds, frame),
        }
        self.at += self.length_of(symbol);
    }

    fn put_time(&mut self, operation: u64, seconds: i64, frame: &mut Vec<u8>) {
        let (of_receipt, of_last) = (seconds - self.context.seconds(), seconds - self.last_time);
        let is_nearer = of_last.unsigned_abs() < of_receipt.unsigned_abs();
        put_number(frame, operation << 2 | OTHER);
        put_signed(frame, if is_nearer { of_last << 1 | 1 } else { of_receipt << 1 });
        self.last_time = seconds;
    }

    /// Returns the length of the difference if it replaces the same number of bytes of the source, and the number
    /// of equal bytes after it.
    pub(super) fn replaced(&self) -> Option<(usize, usize)> {
        let rest = &self.text[self.at..];
        let old = self.source(self.cursor);
        let agrees =
            |count: &usize| match (rest.get(*count..*count + AGREED), old.get(*count..*count + AGREED)) {
                (Some(new), Some(old)) => new == old,
                // The end of the text.
                _ => {
                    rest.len() > *count
                        && rest.len() - *count < AGREED
                        && old.get(*count..) == rest.get(*count..)
                }
            };
        let count = (1..MAX_REPLACED).find(agrees)?;
        Some((count, common(&rest[count..], &old[count..])))
    }

    /// Returns whether the next bytes differ from those of the source in hexadecimal digits only.
    pub(super) fn is_substitution(&self, count: usize) -> bool {
        let old = self.source(self.cursor).get(..count).unwrap_or_default();
        count >= MIN_SUBSTITUTED && hex_digits::is_substitution(&self.text[self.at..self.at + count], old)
    }

    /// Writes bytes that replace the same number of bytes of the source.
    pub(super) fn replace(&mut self, count: usize, frame: &mut Vec<u8>) {
        self.flush_copy(frame);
        let new = &self.text[self.at..self.at + count];
        if self.is_substitution(count) {
            put_number(frame, (DIGITS + count as u64) << 2 | OTHER);
            hex_digits::pack(new, frame);
        } else {
            put_number(frame, (count as u64) << 2 | REPLACE);
            frame.extend_from_slice(new);
        }
        self.at += count;
        self.cursor += count;
    }

    /// Writes bytes that the source lacks, after which it continues at `cursor`.
    pub(super) fn insert(&mut self, count: usize, cursor: usize, frame: &mut Vec<u8>) {
        self.flush_copy(frame);
        self.insert_bytes(self.at + count, frame);
        if cursor != self.cursor && self.at < self.text.len() {
            put_number(frame, SEEK << 2 | OTHER);
            put_signed(frame, position(cursor) - position(self.cursor));
        }
        self.cursor = cursor;
    }

    /// Writes the bytes before `end`. Versions, times and long runs of digits have their own operations.
    fn insert_bytes(&mut self, end: usize, frame: &mut Vec<u8>) {
        let mut at = self.at;
        while at < end {
            let before = at.checked_sub(1).map_or(0, |before| self.text[before]);
            let symbol = if before == b'"' { self.symbol(at) } else { None };
            let length = match symbol {
                Some(symbol) => self.length_of(symbol),
                None if before == b'"' && hex_digits::is_uid(&self.text[at..end]) => hex_digits::UID_LEN,
                None if hex_digits::is_digit(before) => 0,
                None => match hex_digits::run(&self.text[at..end]) {
                    digits if digits >= MIN_DIGITS => digits,
                    _ => 0,
                },
            };
            if length == 0 || at + length > end {
                at += 1;
                continue;
            }
            self.insert_plain(at, frame);
            if let Some(symbol) = symbol {
                self.insert_symbol(symbol, frame);
            } else {
                self.insert_digits(length, frame);
            }
            at = self.at;
        }
        self.insert_plain(end, frame);
    }

    /// Writes a uid or a run of digits.
    fn insert_digits(&mut self, length: usize, frame: &mut Vec<u8>) {
        let digits = &self.text[self.at..self.at + length];
        if hex_digits::is_uid(digits) {
            put_number(frame, NEW_UID << 2 | OTHER);
        } else {
            put_number(frame, NEW_DIGITS << 2 | OTHER);
            put_number(frame, length as u64);
        }
        hex_digits::pack(digits, frame);
        self.at += length;
    }

    fn insert_plain(&mut self, end: usize, frame: &mut Vec<u8>) {
        if end > self.at {
            put_number(frame, ((end - self.at) as u64) << 2 | INSERT);
            frame.extend_from_slice(&self.text[self.at..end]);
            self.at = end;
        }
    }
}

/// A part of a text that an operation takes from the context.
#[derive(Clone, Copy)]
enum Symbol {
    Version,
    Name,
    /// In Unix seconds.
    Time(i64),
}

/// Returns a position in a text, which is far shorter than the type allows.
fn position(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

/// Returns the number of equal bytes at the front.
pub(super) fn common(one: &[u8], other: &[u8]) -> usize {
    let (words, _) = one.as_chunks::<8>();
    let (others, _) = other.as_chunks::<8>();
    let same = 8 * words.iter().zip(others).take_while(|(one, other)| one == other).count();
    same + one[same..].iter().zip(&other[same..]).take_while(|(one, other)| one == other).count()
}
