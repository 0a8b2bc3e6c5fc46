//! Writes frames.

use super::FrameContext;
use super::encoder::{Encoder, common};
use super::index::{Index, WORD};
use crate::recording::bytes::put_number;

/// If this many equal bytes follow a difference, the search for a longer match ends.
const LONG: usize = 192;

/// The cost of moving the cursor, in equal bytes. Moves over inserted or removed bytes have the same lengths in
/// many frames, and compress well. Other moves differ from object to object, and often cost more than the text that
/// they save.
const NEAR_COST: usize = 6;
const FAR_COST: usize = 40;

/// The longest move that is near, in bytes.
const NEAR: usize = 600;

/// The number of bytes that a match must save.
const MIN_GAIN: usize = 6;

/// The number of positions after the first match at which a longer one is searched for.
const LOOK_AHEAD: usize = 16;

/// Writes frames. One writer is used for many frames, so that its tables are allocated once.
#[derive(Debug, Default)]
pub(in crate::recording) struct FrameWriter {
    index: Index,
    /// The number of words of the text in the index.
    indexed: usize,
}

/// A match in the source after a difference.
#[derive(Debug, Clone, Copy)]
struct Continuation {
    /// The number of bytes of the text before the match.
    count: usize,
    /// The position in the source.
    cursor: usize,
    /// The length of the match.
    same: usize,
    /// The length of the match less the cost of the move.
    gain: usize,
}

impl FrameWriter {
    /// Appends the frame of a text against a base, which may be empty.
    pub(in crate::recording) fn write(
        &mut self,
        text: &[u8],
        base: &[u8],
        base_version: u64,
        context: &FrameContext<'_>,
        frame: &mut Vec<u8>,
    ) {
        put_number(frame, text.len() as u64);
        let mut encoder = Encoder::new(text, base, base_version, context);
        let mut is_indexed = false;
        loop {
            encoder.copy();
            if encoder.at == text.len() {
                break;
            }
            if encoder.write_symbol(frame) {
                continue;
            }
            let replaced = encoder.replaced();
            if let Some((count, same)) = replaced
                && (same >= LONG || encoder.at + count + same == text.len())
            {
                encoder.replace(count, frame);
                continue;
            }
            if !is_indexed {
                self.index.reset(base, text.len());
                self.indexed = 0;
                is_indexed = true;
            }
            self.index_text(&encoder);
            match (replaced, self.find(&encoder)) {
                (Some((count, same)), found) if is_better(&encoder, count, same, found) => {
                    encoder.replace(count, frame);
                }
                (_, Some(found)) => encoder.insert(found.count, found.cursor, frame),
                (_, None) => encoder.insert(text.len() - encoder.at, encoder.cursor, frame),
            }
        }
        encoder.flush_copy(frame);
    }

    /// Adds the words of the text before the current position.
    fn index_text(&mut self, encoder: &Encoder<'_>) {
        let done = &encoder.text[..encoder.at];
        for at in self.indexed..(done.len() + 1).saturating_sub(WORD) {
            self.index.add(encoder.base.len() + at, &done[at..at + WORD]);
            self.indexed = at + 1;
        }
    }

    /// Returns the best of the first matches.
    fn find(&self, encoder: &Encoder<'_>) -> Option<Continuation> {
        let rest = &encoder.text[encoder.at..];
        let mut best: Option<Continuation> = None;
        for (count, word) in rest.windows(WORD).enumerate() {
            if best.is_some_and(|best| count > best.count + LOOK_AHEAD || best.same >= LONG) {
                break;
            }
            self.index.positions(word, encoder.base.len(), encoder.cursor, |cursor| {
                let found = continuation(encoder, count, cursor);
                best = match (best, found) {
                    (Some(best), Some(found)) if found.gain + best.count <= best.gain + found.count => {
                        Some(best)
                    }
                    (best, found) => found.or(best),
                };
            });
        }
        best
    }
}

/// Returns whether a difference of equal length is better than a match elsewhere in the source.
fn is_better(encoder: &Encoder<'_>, count: usize, same: usize, found: Option<Continuation>) -> bool {
    // A replaced digit takes half a byte.
    let gain = if encoder.is_substitution(count) { same + count / 2 } else { same };
    found.is_none_or(|found| found.count >= count + same || gain >= found.gain)
}

/// Returns the match between the text, from `count` bytes after the current position on, and the source at
/// `cursor`, extended backwards.
fn continuation(encoder: &Encoder<'_>, count: usize, cursor: usize) -> Option<Continuation> {
    let rest = &encoder.text[encoder.at..];
    let same = common(&rest[count..], encoder.source(cursor));
    if same < WORD {
        return None;
    }
    // The beginning of the base, or of the text in the source.
    let start = if cursor >= encoder.base.len() { encoder.base.len() } else { 0 };
    let before = encoder.source(start).get(..cursor - start).unwrap_or_default();
    let back =
        rest[..count].iter().rev().zip(before.iter().rev()).take_while(|(new, old)| new == old).count();
    let (count, cursor, same) = (count - back, cursor - back, same + back);
    let cost = match cursor.checked_sub(encoder.cursor) {
        Some(0) => 0,
        Some(forward) if forward <= NEAR && cursor < encoder.base.len() => NEAR_COST,
        _ => FAR_COST,
    };
    let gain = same.saturating_sub(cost);
    (gain >= MIN_GAIN).then_some(Continuation { count, cursor, same, gain })
}
