//! The payloads of the changes of a journal in the order of a segment.
//!
//! A journal has them in the order of time, in one compressed stream. It is decompressed once for each run of changes, so that
//! only the payloads of that run are in memory.

use std::io;
use std::ops::Range;

use super::content::{Change, Content};
use crate::recording::block::free_compressor;
use crate::recording::journal::JournalTexts;

/// The length of the payloads at which a run ends.
const RUN: usize = 2 << 20;

/// The usual length of the last payload of a run.
const SLACK: usize = 64 << 10;

/// Returns the payloads of changes in the order of a segment.
pub(super) struct Payloads<'a> {
    content: &'a Content,
    texts: JournalTexts,
    /// The numbers of the changes whose payloads are loaded.
    loaded: Range<usize>,
    /// The payloads of the run, and for each the position of the body. The row follows the body.
    run: Vec<u8>,
    positions: Vec<usize>,
    next: usize,
}

impl<'a> Payloads<'a> {
    /// Creates a reader of the payloads of the changes of a journal.
    pub(super) fn new(content: &'a Content, texts: JournalTexts) -> Self {
        let length = content.changes.iter().map(payload_len).sum::<usize>().min(RUN + SLACK);
        let run = Vec::with_capacity(length);
        Self { content, texts, loaded: 0..0, run, positions: Vec::new(), next: 0 }
    }

    /// Returns the next change with its body and its row.
    pub(super) fn next(&mut self) -> io::Result<(&Change, &[u8], &[u8])> {
        let number = self.next;
        if number >= self.loaded.end {
            self.load()?;
        }
        self.next += 1;
        let change = &self.content.changes[number];
        let payload = &self.run[self.positions[number - self.loaded.start]..][..payload_len(change)];
        let (body, row) = payload.split_at(change.body.1 as usize);
        Ok((change, body, row))
    }

    /// Loads the run that begins with the next change.
    fn load(&mut self) -> io::Result<()> {
        let (start, changes) = (self.next, &self.content.changes);
        self.positions.clear();
        let mut length = 0;
        for change in &changes[start..] {
            if length >= RUN {
                break;
            }
            self.positions.push(length);
            length += payload_len(change);
        }
        self.loaded = start..start + self.positions.len();
        self.run.clear();
        if length > self.run.capacity() {
            // A buffer that grows would be in memory twice.
            self.run = Vec::new();
            self.run = Vec::with_capacity(length);
        }
        self.run.resize(length, 0);
        let mut in_time: Vec<usize> = self.loaded.clone().collect();
        in_time.sort_unstable_by_key(|number| changes[*number].index);
        let count = in_time.last().map_or(0, |last| self.content.chunk(&changes[*last]) + 1);
        let mut in_time = in_time.into_iter().peekable();
        let (content, positions, run) = (self.content, &self.positions, &mut self.run);
        // Decompression takes as much memory as compression.
        free_compressor();
        let mut is_whole = true;
        self.texts.read(count, |chunk, text| {
            let end = content.chunk_ends[chunk];
            while let Some(number) = in_time.next_if(|number| changes[*number].index < end) {
                let mut at = positions[number - start];
                for (from, length) in [changes[number].body, changes[number].row] {
                    let length = length as usize;
                    match text.get(from as usize..).and_then(|rest| rest.get(..length)) {
                        Some(payload) => run[at..at + length].copy_from_slice(payload),
                        None => is_whole = false,
                    }
                    at += length;
                }
            }
        })?;
        if is_whole {
            Ok(())
        } else {
            Err(io::Error::other("a chunk is shorter than when it was read before"))
        }
    }
}

fn payload_len(change: &Change) -> usize {
    change.body.1 as usize + change.row.1 as usize
}
