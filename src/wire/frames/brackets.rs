//! Where the array or object ends that chunks go on with, by its brackets: 64 bytes at a time.

use wide::u8x16;

use super::Fault;
use crate::object::blocks::{BLOCK, Strings, masks};

/// No string holds a line break, escaped or not: a quote is wrong, and with it all that would follow.
pub(super) const LINE_BREAK: Fault = Fault::Expected("the end of a string before that of its line");
/// What a lost bracket leads to where the next value follows. Where a comma is missing before anything else, no end is
/// hidden by that: whoever reads the value will see it.
pub(super) const NO_COMMA: Fault = Fault::Expected("a comma");
/// Outside of strings a backslash is nothing. Passed over, it could hide the quote behind it.
pub(super) const NO_STRING: Fault = Fault::Expected("a string around a backslash");

/// Follows an array or object from behind its opening bracket.
///
/// What is asked of a block is asked of all of its bytes at once. Only where it may be that the value ends in this
/// block, or that something in it is wrong, the brackets are gone through one by one. What comes first counts then, so
/// that what stands behind the end, which is not of this value, makes no difference, nor does where a chunk was cut.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Brackets {
    depth: u32,
    /// The last block ended with a closing bracket, or with white space after one.
    closed: bool,
    strings: Strings,
}

/// What there is in a block, a bit for each byte.
struct Marks {
    opening: u64,
    closing: u64,
    /// Opening brackets with nothing but white space between them and a closing one.
    no_comma: u64,
    /// Line breaks in strings.
    line_breaks: u64,
    /// Backslashes outside of strings.
    no_string: u64,
}

/// What came of going through a block bracket by bracket.
enum Walked {
    /// The value goes on at this depth.
    On(u32),
    /// So many bytes of the block are of the value.
    End(usize),
    /// It goes on deeper than it may.
    TooDeep,
    /// The bit of the first byte that is wrong.
    Wrong(u64),
}

impl Brackets {
    /// At the opening bracket of a value.
    pub(super) fn begin(limit: u32) -> Result<Self, Fault> {
        if limit == 0 {
            return Err(Fault::TooDeep(limit));
        }
        Ok(Self { depth: 1, ..Self::default() })
    }

    /// Where in `input`, with which the value goes on, its bracket is closed.
    pub(super) fn end(&mut self, input: &[u8], limit: u32) -> Result<Option<usize>, Fault> {
        // A copy of its own stays in registers.
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

    /// Goes on by one block, and says where in it the value ends.
    #[inline]
    fn step(&mut self, block: &[u8; BLOCK], limit: u32) -> Result<Option<usize>, Fault> {
        // The two opening brackets differ in one bit, and the two closing ones do; no other byte becomes one of them.
        let [quotes, opening, closing] =
            masks(block, |bytes| [(bytes, b'"'), (bytes | 0x20, b'{'), (bytes | 0x20, b'}')]);
        let marks = if is_plain(block) {
            self.plain(quotes, opening, closing)
        } else {
            self.any(block, quotes, opening, closing)
        };
        let Marks { opening, closing, no_comma, line_breaks, no_string } = marks;
        let wrong = no_comma | line_breaks | no_string;
        let (opened, closed) = (opening.count_ones(), closing.count_ones());
        if wrong == 0 && self.depth > closed && self.depth + opened <= limit {
            self.depth = self.depth + opened - closed;
            return Ok(None);
        }
        match walk(self.depth, limit, opening, closing, wrong) {
            Walked::On(depth) => {
                self.depth = depth;
                Ok(None)
            }
            Walked::End(end) => Ok(Some(end)),
            Walked::TooDeep => Err(Fault::TooDeep(limit)),
            Walked::Wrong(first) if no_comma & first != 0 => Err(NO_COMMA),
            Walked::Wrong(first) if line_breaks & first != 0 => Err(LINE_BREAK),
            Walked::Wrong(_) => Err(NO_STRING),
        }
    }

    /// The marks of most blocks of compact JSON: those that are plain.
    #[inline]
    fn plain(&mut self, quotes: u64, opening: u64, closing: u64) -> Marks {
        let inside = self.strings.inside(quotes, 0);
        let (opening, closing) = (opening & !inside, closing & !inside);
        let no_comma = opening & (closing << 1 | u64::from(self.closed));
        self.closed = closing >> (BLOCK - 1) != 0;
        Marks { opening, closing, no_comma, line_breaks: 0, no_string: 0 }
    }

    /// The marks of any block. Few of compact JSON need it: it stays out of the loop around the plain ones.
    #[cold]
    fn any(&mut self, block: &[u8; BLOCK], quotes: u64, opening: u64, closing: u64) -> Marks {
        let [backslashes, line_breaks, low] =
            masks(block, |bytes| [(bytes, b'\\'), (bytes, b'\n'), (above_space(bytes), 0)]);
        let inside = self.strings.inside(quotes, backslashes);
        let (opening, closing, space) = (opening & !inside, closing & !inside, low & !inside);
        // Where nothing may open: behind a closing bracket, and from there a sum carries on through white space, to
        // what stands behind it.
        let behind = closing << 1 | u64::from(self.closed);
        let (sum, carried) = space.overflowing_add(behind & space);
        self.closed = carried || closing >> (BLOCK - 1) != 0;
        Marks {
            opening,
            closing,
            no_comma: opening & (behind | (sum ^ space)),
            line_breaks: line_breaks & inside,
            no_string: backslashes & !inside,
        }
    }
}

/// Goes through the brackets of a block from this depth up to the first byte that is wrong.
#[cold]
fn walk(mut depth: u32, limit: u32, opening: u64, closing: u64, wrong: u64) -> Walked {
    let before = wrong.wrapping_sub(1) & !wrong;
    let mut brackets = (opening | closing) & before;
    while brackets != 0 {
        let at = brackets.trailing_zeros();
        if closing >> at & 1 == 1 {
            depth -= 1;
            if depth == 0 {
                return Walked::End(at as usize + 1);
            }
        } else if depth == limit {
            return Walked::TooDeep;
        } else {
            depth += 1;
        }
        brackets &= brackets - 1;
    }
    match wrong & wrong.wrapping_neg() {
        0 => Walked::On(depth),
        first => Walked::Wrong(first),
    }
}

/// Whether a block has no backslash, no white space and no control character.
#[inline]
fn is_plain(block: &[u8; BLOCK]) -> bool {
    let mut lowest = u8x16::MAX;
    let mut backslashes = u8x16::ZERO;
    for bytes in block.as_chunks().0 {
        let bytes = u8x16::new(*bytes);
        lowest = lowest.min(bytes);
        backslashes |= bytes.simd_eq(u8x16::splat(b'\\'));
    }
    (backslashes | above_space(lowest).simd_eq(u8x16::ZERO)).to_bitmask() == 0
}

/// How far each byte is above the space: not at all if it is white space or a control character.
#[inline]
fn above_space(bytes: u8x16) -> u8x16 {
    bytes.saturating_sub(u8x16::splat(b' '))
}
