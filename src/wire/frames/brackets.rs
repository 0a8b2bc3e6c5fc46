//! Finds the end of an array or object by its brackets, 64 bytes at a time.

use wide::u8x16;

use super::Fault;
use crate::object::blocks::{BLOCK, Strings, mask};

/// A line break within a string, which JSON forbids: a quote is missing, and everything after it would be misread.
pub(super) const LINE_BREAK_IN_STRING: Fault = Fault::Expected("a closing quote before the end of the line");
/// An opening bracket directly after a closing one: a bracket or a comma is missing. Other missing commas hide no end of
/// a value, so they are left to the parser of the value.
pub(super) const MISSING_COMMA: Fault = Fault::Expected("a comma");
/// A backslash outside of strings, which JSON forbids: skipping it could hide the quote after it.
pub(super) const BACKSLASH_OUTSIDE_STRING: Fault = Fault::Expected("a string around a backslash");

/// A scanner for the end of an array or object, started at its opening bracket.
///
/// A block is examined with operations on all of its bytes at once. Only if the value may end in the block, or
/// something in it may be wrong, are its brackets visited one by one. The first end or fault counts, so that bytes after
/// the end, which belong to another value, and the cuts between chunks make no difference.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Brackets {
    depth: u32,
    /// Whether the last block ended with a closing bracket, or with white space after one.
    closed: bool,
    strings: Strings,
}

/// The brackets and faults of a block: bit masks with one bit per byte.
struct Marks {
    opening: u64,
    closing: u64,
    /// Opening brackets that follow a closing one with only white space in between.
    missing_commas: u64,
    /// Line breaks in strings.
    line_breaks: u64,
    /// Backslashes outside of strings.
    stray_backslashes: u64,
}

/// The result of visiting the brackets of a block.
enum WalkResult {
    /// The value continues at this depth.
    Inside(u32),
    /// The value ends after this number of bytes.
    End(usize),
    /// The value is nested deeper than allowed.
    TooDeep,
    /// A fault comes first: the bit of its byte.
    Wrong(u64),
}

impl Brackets {
    /// Starts at the opening bracket of a value.
    pub(super) fn start(limit: u32) -> Result<Self, Fault> {
        if limit == 0 {
            return Err(Fault::TooDeep(limit));
        }
        Ok(Self { depth: 1, ..Self::default() })
    }

    /// Scans `input`, which continues the value. Returns the position after the closing bracket, or `None` if the value does
    /// not end in `input`.
    pub(super) fn end(&mut self, input: &[u8], limit: u32) -> Result<Option<usize>, Fault> {
        // A local copy stays in registers.
        let mut here = *self;
        let mut at = 0;
        let mut last;
        while at < input.len() {
            let block = if let Some(block) = input[at..].first_chunk() {
                at += BLOCK;
                block
            } else {
                last = here.strings.short_block(&input[at..]);
                at = input.len();
                &last
            };
            if let Some(end) = here.step(block, limit)? {
                return Ok(Some(at + end - BLOCK));
            }
        }
        *self = here;
        Ok(None)
    }

    /// Examines one block and returns the position in it where the value ends.
    #[inline(always)]
    fn step(&mut self, block: &[u8; BLOCK], limit: u32) -> Result<Option<usize>, Fault> {
        // `[` and `{` differ in the bit 0x20 only, as do `]` and `}`. No other byte becomes a brace when that bit is set.
        let quotes = mask(block, b'"', |bytes| bytes);
        let opening = mask(block, b'{', |bytes| bytes | u8x16::splat(0x20));
        let closing = mask(block, b'}', |bytes| bytes | u8x16::splat(0x20));
        let marks = if is_plain(block) {
            self.plain_marks(quotes, opening, closing)
        } else {
            self.general_marks(block, quotes, opening, closing)
        };
        let Marks { opening, closing, missing_commas, line_breaks, stray_backslashes } = marks;
        let wrong = missing_commas | line_breaks | stray_backslashes;
        let (opened, closed) = (opening.count_ones(), closing.count_ones());
        if wrong == 0 && self.depth > closed && self.depth + opened <= limit {
            self.depth = self.depth + opened - closed;
            return Ok(None);
        }
        match walk(self.depth, limit, opening, closing, wrong) {
            WalkResult::Inside(depth) => {
                self.depth = depth;
                Ok(None)
            }
            WalkResult::End(end) => Ok(Some(end)),
            WalkResult::TooDeep => Err(Fault::TooDeep(limit)),
            WalkResult::Wrong(first) if missing_commas & first != 0 => Err(MISSING_COMMA),
            WalkResult::Wrong(first) if line_breaks & first != 0 => Err(LINE_BREAK_IN_STRING),
            WalkResult::Wrong(_) => Err(BACKSLASH_OUTSIDE_STRING),
        }
    }

    /// Returns the marks of a plain block. Most blocks of compact JSON are plain.
    #[inline(always)]
    fn plain_marks(&mut self, quotes: u64, opening: u64, closing: u64) -> Marks {
        let inside = self.strings.inside(quotes, 0);
        let (opening, closing) = (opening & !inside, closing & !inside);
        let missing_commas = opening & (closing << 1 | u64::from(self.closed));
        self.closed = closing >> (BLOCK - 1) != 0;
        Marks { opening, closing, missing_commas, line_breaks: 0, stray_backslashes: 0 }
    }

    /// Returns the marks of any block. Compact JSON seldom needs this, so it is kept out of the loop over plain blocks.
    #[cold]
    fn general_marks(&mut self, block: &[u8; BLOCK], quotes: u64, opening: u64, closing: u64) -> Marks {
        let backslashes = mask(block, b'\\', |bytes| bytes);
        let line_breaks = mask(block, b'\n', |bytes| bytes);
        let low = mask(block, 0, above_space);
        let inside = self.strings.inside(quotes, backslashes);
        let (opening, closing, space) = (opening & !inside, closing & !inside, low & !inside);
        // A bracket may not open after a closing one. The carry of the addition runs from there through white space to the
        // next byte.
        let start = closing << 1 | u64::from(self.closed);
        let (sum, carried) = space.overflowing_add(start & space);
        self.closed = carried || closing >> (BLOCK - 1) != 0;
        Marks {
            opening,
            closing,
            missing_commas: opening & (start | (sum ^ space)),
            line_breaks: line_breaks & inside,
            stray_backslashes: backslashes & !inside,
        }
    }
}

/// Visits the brackets of a block, starting at this depth, up to the first fault.
#[cold]
fn walk(mut depth: u32, limit: u32, opening: u64, closing: u64, wrong: u64) -> WalkResult {
    let before = wrong.wrapping_sub(1) & !wrong;
    let mut brackets = (opening | closing) & before;
    while brackets != 0 {
        let at = brackets.trailing_zeros();
        if closing >> at & 1 == 1 {
            depth -= 1;
            if depth == 0 {
                return WalkResult::End(at as usize + 1);
            }
        } else if depth == limit {
            return WalkResult::TooDeep;
        } else {
            depth += 1;
        }
        brackets &= brackets - 1;
    }
    match wrong & wrong.wrapping_neg() {
        0 => WalkResult::Inside(depth),
        first => WalkResult::Wrong(first),
    }
}

/// Returns whether a block has no backslash, no white space and no control character.
#[inline(always)]
fn is_plain(block: &[u8; BLOCK]) -> bool {
    let [one, two, three, four] = block.as_chunks().0 else { return false };
    let (one, two) = (u8x16::new(*one), u8x16::new(*two));
    let (three, four) = (u8x16::new(*three), u8x16::new(*four));
    let backslash = u8x16::splat(b'\\');
    let backslashes =
        one.simd_eq(backslash) | two.simd_eq(backslash) | three.simd_eq(backslash) | four.simd_eq(backslash);
    let lowest = one.min(two).min(three.min(four));
    (backslashes | above_space(lowest).simd_eq(u8x16::ZERO)).to_bitmask() == 0
}

/// Returns how far each byte is above the space: zero for white space and control characters.
#[inline]
fn above_space(bytes: u8x16) -> u8x16 {
    bytes.saturating_sub(u8x16::splat(b' '))
}
