//! The payloads of the changes of a journal in the order of a segment.
//!
//! A journal has them in the order of time, in one compressed stream. It is decompressed once for each run of changes, so that
//! only the payloads of that run are in memory.

use std::io;
use std::ops::Range;

use crate::recording::journal::{CompressedTexts, RawChange, Span};

/// The length of the payloads at which a run ends.
const RUN: usize = 2 << 20;

/// The place of a payload: the number of its chunk, and the body and the row in it.
type Place = (u32, Span, Span);

/// Returns the payloads of changes in the order of a segment.
pub(super) struct Payloads<'a> {
    texts: &'a CompressedTexts,
    /// The places of all payloads.
    places: Vec<Place>,
    /// The numbers of the payloads that are loaded.
    loaded: Range<usize>,
    /// The payloads of the run, and for each the position of the body. The row follows the body.
    run: Vec<u8>,
    positions: Vec<usize>,
    next: usize,
}

impl<'a> Payloads<'a> {
    /// Creates a reader of the payloads of these changes, which are given with the numbers of their chunks.
    pub(super) fn new(texts: &'a CompressedTexts, changes: Vec<(u32, &RawChange)>) -> Self {
        let places = changes.into_iter().map(|(chunk, change)| (chunk, change.body, change.row)).collect();
        Self { texts, places, loaded: 0..0, run: Vec::new(), positions: Vec::new(), next: 0 }
    }

    /// Returns the body and the row of the next change.
    pub(super) fn next(&mut self) -> io::Result<(&[u8], &[u8])> {
        let number = self.next;
        if number >= self.loaded.end {
            self.load()?;
        }
        self.next += 1;
        let (_, body, row) = self.places[number];
        let position = self.positions[number - self.loaded.start];
        Ok(self.run[position..][..body.len as usize + row.len as usize].split_at(body.len as usize))
    }

    /// Loads the run that begins with the next change.
    fn load(&mut self) -> io::Result<()> {
        let start = self.next;
        self.positions.clear();
        let mut length = 0;
        for (_, body, row) in &self.places[start..] {
            if length >= RUN {
                break;
            }
            self.positions.push(length);
            length += body.len as usize + row.len as usize;
        }
        self.loaded = start..start + self.positions.len();
        // A new buffer, because one that grows may take twice the length.
        self.run = Vec::new();
        self.run = vec![0; length];
        let mut in_time: Vec<usize> = self.loaded.clone().collect();
        in_time.sort_unstable_by_key(|number| self.places[*number].0);
        let count = in_time.last().map_or(0, |last| self.places[*last].0 as usize + 1);
        let mut in_time = in_time.into_iter().peekable();
        let (places, positions, run) = (&self.places, &self.positions, &mut self.run);
        let mut is_whole = true;
        self.texts.read(count, |chunk, text| {
            while let Some(number) = in_time.next_if(|number| places[*number].0 as usize == chunk) {
                let (_, body, row) = places[number];
                let mut at = positions[number - start];
                for span in [body, row] {
                    let length = span.len as usize;
                    match text.get(span.at as usize..).and_then(|rest| rest.get(..length)) {
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
