//! The times and versions of the entries of a segment, in chunks that can be decoded independently.

use std::sync::Arc;

use jiff::Timestamp;

use super::footer::{BlockRef, TIMELINE, TIMELINES};
use super::number_sequence::{NumberSequence, put_numbers};
use super::sealed::Sealed;
use crate::recording::block::Block;
use crate::recording::bytes::{Cursor, put_number};
use crate::recording::files::FileError;
use crate::recording::type_log::{EntryTime, Timeline, Times};

/// The number of entries in a chunk. It is smaller than that of columns: a history needs the times of few entries, which are
/// spread over the whole segment.
pub(super) const TIMELINE_CHUNK: usize = 512;

/// The most entries in a chunk. A crafted file can state many equal ones in few bytes.
const MAX_CHUNK: usize = 4096;

/// The most bytes between two chunks that are read at once: reading them takes less time than another call.
const MAX_GAP: u64 = 4 << 10;

const INVALID: &str = "the times are invalid";

/// The most entries for which memory is reserved before they are read: the header of a crafted file may state any number.
const MAX_RESERVED: usize = 1 << 18;

/// Appends the times and versions of a range of entries.
pub(super) fn put_timeline(timeline: &Timeline, range: std::ops::Range<usize>, out: &mut Vec<u8>) {
    put_number(out, range.len() as u64);
    put_numbers(out, timeline.received[range.clone()].iter().map(|time| time.cast_unsigned()));
    put_numbers(out, timeline.versions[range].iter().copied());
}

/// The times and versions of a chunk.
struct Chunk<'a> {
    count: usize,
    received: NumberSequence<'a>,
    versions: NumberSequence<'a>,
}

impl<'a> Chunk<'a> {
    /// Returns the chunk in a block, `None` if it is invalid.
    fn of(block: &'a Block) -> Option<Self> {
        let mut cursor = Cursor::new(&block.payload);
        let count = usize::try_from(cursor.take_number()?).ok()?;
        let (is_valid, take) = if block.tag == TIMELINE {
            ((1..=MAX_CHUNK).contains(&count), NumberSequence::take as fn(&mut Cursor<'a>, usize) -> _)
        } else {
            // Each number has at least one byte.
            (count <= cursor.len() / 2, NumberSequence::take_differences as _)
        };
        if !is_valid {
            return None;
        }
        Some(Self { count, received: take(&mut cursor, count)?, versions: take(&mut cursor, count)? })
    }

    /// Appends all times and versions.
    fn append_to(&self, timeline: &mut Timeline) -> Option<()> {
        self.received.all(self.count, |time| timeline.received.push(time.cast_signed()))?;
        self.versions.all(self.count, |version| timeline.versions.push(version))
    }

    /// Appends the times and versions of some entries of a chunk that begins with the entry `first`. Their numbers ascend.
    fn append_some(&self, first: u32, entries: &[u32], times: &mut Vec<EntryTime>) -> Option<()> {
        let positions = || entries.iter().map(|entry| (entry - first) as usize);
        if positions().next_back().is_some_and(|last| last >= self.count) {
            return None;
        }
        let start = times.len();
        times.extend(entries.iter().map(|entry| EntryTime { entry: *entry, received: 0, version: 0 }));
        let mut next = times[start..].iter_mut();
        self.received.at(positions(), |time| {
            if let Some(next) = next.next() {
                next.received = time.cast_signed();
            }
        })?;
        let mut next = times[start..].iter_mut();
        self.versions.at(positions(), |version| {
            if let Some(next) = next.next() {
                next.version = version;
            }
        })
    }
}

impl Sealed {
    /// Returns the times and versions of all entries.
    pub(in crate::recording) fn timeline(&self) -> Result<Arc<Timeline>, FileError> {
        if let Some(timeline) = self.timeline.get() {
            return Ok(Arc::clone(timeline));
        }
        let mut timeline = Timeline::default();
        timeline.reserve(usize::try_from(self.header().count).unwrap_or(usize::MAX).min(MAX_RESERVED));
        for block in &self.footer().timeline {
            self.append_chunk(block, &mut timeline)?;
        }
        let count = timeline.received.len() as u64;
        let mut ends = timeline.received.first().into_iter().chain(timeline.received.last());
        let in_range = ends.all(|time| Timestamp::from_millisecond(*time).is_ok());
        if count != self.header().count || !timeline.received.is_sorted() || !in_range {
            return Err(self.invalid(0, INVALID));
        }
        Ok(Arc::clone(self.timeline.get_or_init(|| Arc::new(timeline))))
    }

    /// Returns the times and versions of some entries, given by their numbers in any order.
    pub(in crate::recording) fn times_of(
        &self,
        entries: impl Iterator<Item = u32>,
    ) -> Result<Times, FileError> {
        if let Some(timeline) = self.timeline.get() {
            return Ok(Times::All(Arc::clone(timeline)));
        }
        let mut entries: Vec<u32> = entries.collect();
        entries.sort_unstable();
        entries.dedup();
        let mut chunks: Vec<(&BlockRef, &[u32])> = Vec::new();
        let mut rest = &entries[..];
        let blocks = &self.footer().timeline;
        while let Some(entry) = rest.first() {
            let next = blocks.partition_point(|block| block.first <= *entry);
            let Some(block) = next.checked_sub(1).map(|at| &blocks[at]) else { break };
            let end =
                blocks.get(next).map_or(rest.len(), |next| rest.partition_point(|entry| *entry < next.first));
            let (in_chunk, after) = rest.split_at(end);
            chunks.push((block, in_chunk));
            rest = after;
        }
        let mut times = Vec::with_capacity(entries.len());
        for near in chunks.chunk_by(|(one, _), (next, _)| next.offset - one.end() <= MAX_GAP) {
            self.take_times_of(near, &mut times)?;
        }
        Ok(Times::Some(times))
    }

    /// Takes the times and versions of some entries of chunks that are near each other. They are read at once.
    fn take_times_of(
        &self,
        chunks: &[(&BlockRef, &[u32])],
        times: &mut Vec<EntryTime>,
    ) -> Result<(), FileError> {
        let (Some((first, _)), Some((last, _))) = (chunks.first(), chunks.last()) else { return Ok(()) };
        let start = first.offset;
        let bytes = self.access.read(start, last.end() - start)?;
        for (block, entries) in chunks {
            let from = usize::try_from(block.offset - start).unwrap_or(usize::MAX);
            let length = usize::try_from(block.length).unwrap_or(usize::MAX);
            let part = bytes.get(from..).and_then(|rest| rest.get(..length)).unwrap_or_default();
            let read = self.access.block_in(part, &TIMELINES, block.offset)?;
            let appended = Chunk::of(&read).and_then(|chunk| chunk.append_some(block.first, entries, times));
            appended.ok_or_else(|| self.invalid(block.offset, INVALID))?;
        }
        Ok(())
    }

    /// Returns the number of entries that were received up to a time, in Unix milliseconds.
    pub(in crate::recording) fn entries_until(&self, time: i64) -> Result<u64, FileError> {
        let blocks = &self.footer().timeline;
        let (mut low, mut high) = (0, blocks.len());
        let mut count = 0;
        // The last chunk that begins at the time or before it.
        while low < high {
            let middle = low + (high - low) / 2;
            let mut timeline = Timeline::default();
            self.append_chunk(&blocks[middle], &mut timeline)?;
            if timeline.received.first().is_some_and(|first| *first <= time) {
                let in_chunk = timeline.received.partition_point(|received| *received <= time);
                count = u64::from(blocks[middle].first) + in_chunk as u64;
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(count)
    }

    /// Appends the times and versions of a chunk.
    fn append_chunk(&self, block: &BlockRef, timeline: &mut Timeline) -> Result<(), FileError> {
        let read = self.access.block_of_any(&TIMELINES, block.offset, block.length)?;
        let appended = Chunk::of(&read).and_then(|chunk| chunk.append_to(timeline));
        appended.ok_or_else(|| self.invalid(block.offset, INVALID))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::footer::COMPRESSED_TIMELINE;
    use super::*;
    use crate::recording::bytes::put_signed;

    /// Returns the block that older versions wrote.
    fn compressed_block(timeline: &Timeline) -> Block {
        let mut payload = Vec::new();
        put_number(&mut payload, timeline.received.len() as u64);
        let mut previous = 0;
        for time in &timeline.received {
            put_signed(&mut payload, time - previous);
            previous = *time;
        }
        let mut previous = 0;
        for version in &timeline.versions {
            put_signed(&mut payload, version.wrapping_sub(previous).cast_signed());
            previous = *version;
        }
        Block { tag: COMPRESSED_TIMELINE, payload }
    }

    fn block(timeline: &Timeline) -> Block {
        let mut payload = Vec::new();
        put_timeline(timeline, 0..timeline.received.len(), &mut payload);
        Block { tag: TIMELINE, payload }
    }

    proptest! {
        #[test]
        fn times_of_some_entries_are_those_of_the_chunk(
            entries in prop::collection::vec((0..1u64 << 40, any::<u64>(), any::<bool>()), 1..80),
            is_sorted in any::<bool>(),
            first in 0..1000u32,
        ) {
            let mut timeline = Timeline::default();
            for (time, version, _) in &entries {
                timeline.received.push(time.cast_signed());
                timeline.versions.push(*version);
            }
            if is_sorted {
                timeline.received.sort_unstable();
                timeline.versions.sort_unstable();
            }
            for mut block in [compressed_block(&timeline), block(&timeline)] {
                // A minor version may append fields.
                block.payload.extend_from_slice(b"more");
                let chunk = Chunk::of(&block).expect("a chunk");
                let mut all = Timeline::default();
                prop_assert_eq!(chunk.append_to(&mut all), Some(()));
                prop_assert_eq!((&all.received, &all.versions), (&timeline.received, &timeline.versions));
                let wanted: Vec<u32> =
                    (first..).zip(&entries).filter(|(_, (.., is_wanted))| *is_wanted).map(|(at, _)| at).collect();
                let mut times = Vec::new();
                prop_assert_eq!(chunk.append_some(first, &wanted, &mut times), Some(()));
                prop_assert_eq!(times.len(), wanted.len());
                for time in times {
                    let at = (time.entry - first) as usize;
                    prop_assert_eq!((time.received, time.version), (all.received[at], all.versions[at]));
                }
                let beyond = [first + u32::try_from(entries.len()).expect("few")];
                prop_assert_eq!(chunk.append_some(first, &beyond, &mut Vec::new()), None);
            }
        }

        #[test]
        fn chunks_of_any_bytes_are_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..60),
            tag in prop::sample::select(&TIMELINES[..]),
        ) {
            let block = Block { tag, payload: bytes };
            if let Some(chunk) = Chunk::of(&block) {
                let _ = chunk.append_to(&mut Timeline::default());
                let _ = chunk.append_some(3, &[3, 4, 9], &mut Vec::new());
            }
        }
    }

    #[test]
    fn chunks_of_many_equal_entries_are_refused() {
        for (count, is_valid) in [(MAX_CHUNK, true), (MAX_CHUNK + 1, false)] {
            let timeline = Timeline { received: vec![7; count], versions: vec![7; count] };
            assert_eq!(Chunk::of(&block(&timeline)).is_some(), is_valid, "{count}");
            assert!(Chunk::of(&compressed_block(&timeline)).is_some());
        }
        assert!(Chunk::of(&Block { tag: TIMELINE, payload: vec![0; 20] }).is_none());
    }
}
