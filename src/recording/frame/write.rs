//! Writes frames.

use super::FrameContext;
use super::index::{Index, WORD};
use super::run::{Run, common};
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
        let mut run = Run::new(text, base, base_version, context);
        let mut is_indexed = false;
        loop {
            run.copy();
            if run.at == text.len() {
                break;
            }
            if run.write_symbol(frame) {
                continue;
            }
            let replaced = run.replaced();
            if let Some((count, same)) = replaced
                && (same >= LONG || run.at + count + same == text.len())
            {
                run.replace(count, frame);
                continue;
            }
            if !is_indexed {
                self.index.reset(base, text.len());
                self.indexed = 0;
                is_indexed = true;
            }
            self.index_text(&run);
            match (replaced, self.find(&run)) {
                (Some((count, same)), found) if is_better(&run, count, same, found) => {
                    run.replace(count, frame);
                }
                (_, Some(found)) => run.insert(found.count, found.cursor, frame),
                (_, None) => run.insert(text.len() - run.at, run.cursor, frame),
            }
        }
        run.flush_copy(frame);
    }

    /// Adds the words of the text before the current position.
    fn index_text(&mut self, run: &Run<'_>) {
        let done = &run.text[..run.at];
        for at in self.indexed..(done.len() + 1).saturating_sub(WORD) {
            self.index.add(run.base.len() + at, &done[at..at + WORD]);
            self.indexed = at + 1;
        }
    }

    /// Returns the best of the first matches.
    fn find(&self, run: &Run<'_>) -> Option<Continuation> {
        let rest = &run.text[run.at..];
        let mut best: Option<Continuation> = None;
        for (count, word) in rest.windows(WORD).enumerate() {
            if best.is_some_and(|best| count > best.count + LOOK_AHEAD || best.same >= LONG) {
                break;
            }
            self.index.positions(word, run.base.len(), run.cursor, |cursor| {
                let found = continuation(run, count, cursor);
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
fn is_better(run: &Run<'_>, count: usize, same: usize, found: Option<Continuation>) -> bool {
    // A replaced digit takes half a byte.
    let gain = if run.is_substitution(count) { same + count / 2 } else { same };
    found.is_none_or(|found| found.count >= count + same || gain >= found.gain)
}

/// Returns the match between the text, from `count` bytes after the current position on, and the source at
/// `cursor`, extended backwards.
fn continuation(run: &Run<'_>, count: usize, cursor: usize) -> Option<Continuation> {
    let rest = &run.text[run.at..];
    let same = common(&rest[count..], run.source(cursor));
    if same < WORD {
        return None;
    }
    // The beginning of the base, or of the text in the source.
    let start = if cursor >= run.base.len() { run.base.len() } else { 0 };
    let before = run.source(start).get(..cursor - start).unwrap_or_default();
    let back =
        rest[..count].iter().rev().zip(before.iter().rev()).take_while(|(new, old)| new == old).count();
    let (count, cursor, same) = (count - back, cursor - back, same + back);
    let cost = match cursor.checked_sub(run.cursor) {
        Some(0) => 0,
        Some(forward) if forward <= NEAR && cursor < run.base.len() => NEAR_COST,
        _ => FAR_COST,
    };
    let gain = same.saturating_sub(cost);
    (gain >= MIN_GAIN).then_some(Continuation { count, cursor, same, gain })
}
