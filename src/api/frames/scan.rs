//! Where one JSON value ends, in chunks that are cut anywhere.
//!
//! What is inside is not validated, but for what would hide the end: a quote or a bracket that got lost must not make
//! one value of all that follows.

use super::{Fault, Limits};

/// A buffer that once held a giant is given back beyond this size.
pub(super) const KEPT_CAPACITY: usize = 1 << 20;

/// Follows one JSON value from its first byte to its last, as far as needed to know which that is.
#[derive(Debug, Default)]
struct Follower {
    inside: Inside,
    depth: u32,
    /// An array or object has just ended: another one can't begin before a comma.
    closed: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Before the first byte.
    #[default]
    Nothing,
    /// In an array or object, outside strings.
    Structure,
    /// In a string.
    Text,
    /// In a string, right after a backslash. (The digits of `\u` are ordinary text: none of them is a quote.)
    Escape,
    /// In a number or a word.
    Scalar,
}

impl Follower {
    /// How many bytes of `input` still belong to the value, if it ends there. `input` must begin where the last one
    /// ended, and not with white space at the first call.
    fn follow(&mut self, input: &[u8], limit: u32) -> Result<Option<usize>, Fault> {
        let mut at = 0;
        while at < input.len() {
            match self.inside {
                Inside::Nothing => match input[at] {
                    b'{' | b'[' | b'"' => self.inside = Inside::Structure,
                    _ => self.inside = Inside::Scalar,
                },
                Inside::Structure => {
                    let Some(step) = self.structure(&input[at..], limit)? else { return Ok(None) };
                    at += step;
                    if self.depth == 0 && self.inside == Inside::Structure {
                        return Ok(Some(at));
                    }
                }
                Inside::Text => {
                    let Some(step) = text_ends(&input[at..]) else { return Ok(None) };
                    at += step + 1;
                    self.inside = match input[at - 1] {
                        b'"' => Inside::Structure,
                        b'\\' => Inside::Escape,
                        // No text holds a line break as it is: a quote is wrong, and with it all that would follow.
                        _ => return Err(Fault::Expected("the end of a string before that of its line")),
                    };
                    if self.depth == 0 && self.inside == Inside::Structure {
                        return Ok(Some(at));
                    }
                }
                Inside::Escape => {
                    at += 1;
                    self.inside = Inside::Text;
                }
                Inside::Scalar => {
                    let end = input[at..].iter().position(|byte| ends_scalar(*byte));
                    return Ok(end.map(|end| at + end));
                }
            }
        }
        Ok(None)
    }

    /// Goes to just behind the next string's opening quote or the bracket that closes the value.
    fn structure(&mut self, input: &[u8], limit: u32) -> Result<Option<usize>, Fault> {
        for (at, byte) in input.iter().enumerate() {
            match byte {
                b'"' => {
                    self.inside = Inside::Text;
                    return Ok(Some(at + 1));
                }
                b'{' | b'[' if self.closed => return Err(Fault::Expected("a comma")),
                b'{' | b'[' if self.depth == limit => return Err(Fault::TooDeep(limit)),
                b'{' | b'[' => self.depth += 1,
                // The value began with a bracket or a quote, so the depth is at least 1 here.
                b'}' | b']' if self.depth == 1 => {
                    self.depth = 0;
                    return Ok(Some(at + 1));
                }
                b'}' | b']' => {
                    self.depth -= 1;
                    self.closed = true;
                }
                b',' => self.closed = false,
                _ => {}
            }
        }
        Ok(None)
    }
}

/// Where a string ends, or is not what it seems: at a quote, a backslash or a line break.
///
/// Most strings are names and short values, for which a search that prepares itself costs more than it saves: their
/// words are looked at as numbers, eight bytes at a time.
fn text_ends(input: &[u8]) -> Option<usize> {
    const SHORT: usize = 4;
    let (words, _) = input.as_chunks::<8>();
    for (at, word) in words.iter().take(SHORT).enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = holds(word, b'"') | holds(word, b'\\') | holds(word, b'\n');
        if found != 0 {
            return Some(8 * at + found.trailing_zeros() as usize / 8);
        }
    }
    let seen = 8 * words.len().min(SHORT);
    memchr::memchr3(b'"', b'\\', b'\n', &input[seen..]).map(|at| seen + at)
}

/// The high bit of each byte of the word that is this one; bits above the lowest of them may be wrong.
fn holds(word: u64, byte: u8) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let differs = word ^ (ONES * u64::from(byte));
    differs.wrapping_sub(ONES) & !differs & (ONES << 7)
}

/// Whether a byte can't be part of a number or a word.
fn ends_scalar(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b',' | b':' | b'"' | b'{' | b'}' | b'[' | b']')
}

/// Gathers one value after the other: borrowed where a value lies in one chunk, copied where a cut went through it.
#[derive(Debug)]
pub(super) struct Gatherer {
    follower: Follower,
    limits: Limits,
    partial: Vec<u8>,
    /// Bytes of the value in progress that came with earlier chunks.
    behind: usize,
    /// `partial` holds a value that has been handed out.
    spent: bool,
}

impl Gatherer {
    pub(super) fn new(limits: Limits) -> Self {
        Self { follower: Follower::default(), limits, partial: Vec::new(), behind: 0, spent: false }
    }

    /// Whether a value has begun and not ended.
    pub(super) fn is_inside(&self) -> bool {
        self.follower.inside != Inside::Nothing
    }

    /// Takes the rest of the value, or all there is of it, from the front of `input`; answers with the value once it
    /// is whole. Each value starts at its first byte, not at the white space before.
    pub(super) fn take<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Result<Option<&'s [u8]>, Fault> {
        self.forget_spent();
        let Some(part) = self.advance(input)? else {
            self.partial.extend_from_slice(input);
            *input = &[];
            return Ok(None);
        };
        if self.partial.is_empty() {
            return Ok(Some(part));
        }
        self.partial.extend_from_slice(part);
        self.spent = true;
        Ok(Some(&self.partial))
    }

    /// The same for a value that nobody wants: nothing is kept of it, and it may be of any length. Answers whether it
    /// has ended.
    pub(super) fn skip(&mut self, input: &mut &[u8]) -> Result<bool, Fault> {
        self.forget_spent();
        self.behind = 0;
        let ended = self.advance(input)?.is_some();
        if !ended {
            *input = &[];
        }
        Ok(ended)
    }

    /// Cuts the end of the value off `input`, or counts all of `input` as its middle.
    fn advance<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<&'a [u8]>, Fault> {
        let end = self.follower.follow(input, self.limits.depth)?;
        self.behind += end.unwrap_or(input.len());
        if self.behind > self.limits.frame {
            return Err(Fault::TooLong(self.limits.frame));
        }
        let Some(end) = end else { return Ok(None) };
        let (part, rest) = input.split_at(end);
        *input = rest;
        self.follower = Follower::default();
        self.behind = 0;
        Ok(Some(part))
    }

    fn forget_spent(&mut self) {
        if self.spent {
            self.partial.clear();
            self.partial.shrink_to(KEPT_CAPACITY);
            self.spent = false;
        }
    }
}
