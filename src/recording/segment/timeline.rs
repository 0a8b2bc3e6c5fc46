//! The times and versions of the entries of a segment, in chunks that can be decoded independently.

use std::sync::Arc;

use jiff::Timestamp;

use super::footer::{BlockRef, TIMELINE};
use super::sealed::Sealed;
use crate::recording::bytes::{Cursor, put_number, put_signed, signed};
use crate::recording::files::FileError;
use crate::recording::type_log::{EntryTime, Timeline, Times};

/// The number of entries in a chunk. It is smaller than that of columns: a history needs the times of few entries, which are
/// spread over the whole segment.
pub(super) const TIMELINE_CHUNK: usize = 512;

/// The most bytes between two chunks that are read at once: reading them takes less time than another call.
const MAX_GAP: u64 = 4 << 10;

const INVALID: &str = "the times are invalid";

/// The most entries for which memory is reserved before they are read: the header of a crafted file may state any number.
const MAX_RESERVED: usize = 1 << 18;

/// Appends the times and versions of a range of entries.
pub(super) fn put_timeline(timeline: &Timeline, range: std::ops::Range<usize>, out: &mut Vec<u8>) {
    put_number(out, range.len() as u64);
    let mut previous = 0;
    for time in &timeline.received[range.clone()] {
        put_signed(out, time - previous);
        previous = *time;
    }
    let mut previous = 0;
    for version in &timeline.versions[range] {
        put_signed(out, version.wrapping_sub(previous).cast_signed());
        previous = *version;
    }
}

/// Takes the times and versions of a chunk.
fn take_timeline(cursor: &mut Cursor<'_>, timeline: &mut Timeline) -> Option<()> {
    let mut numbers = vec![0; take_count(cursor)?];
    cursor.take_numbers(&mut numbers)?;
    let mut time = Some(0i64);
    timeline.received.extend(numbers.iter().map(|number| {
        time = time.and_then(|time| time.checked_add(signed(*number)));
        time.unwrap_or_default()
    }));
    time?;
    cursor.take_numbers(&mut numbers)?;
    let mut version = 0u64;
    timeline.versions.extend(numbers.iter().map(|number| {
        version = version.wrapping_add_signed(signed(*number));
        version
    }));
    Some(())
}

/// Takes the number of entries of a chunk.
fn take_count(cursor: &mut Cursor<'_>) -> Option<usize> {
    let count = cursor.take_number()?;
    // Each number has at least one byte.
    usize::try_from(count).ok().filter(|count| *count <= cursor.len() / 2)
}

/// Takes the times and versions of some entries of a chunk that begins with the entry `first`. Their numbers ascend.
fn take_times(
    cursor: &mut Cursor<'_>,
    first: u32,
    entries: &[u32],
    times: &mut Vec<EntryTime>,
) -> Option<()> {
    let count = take_count(cursor)?;
    let positions = || entries.iter().map(|entry| (entry - first) as usize);
    if positions().next_back().is_some_and(|last| last >= count) {
        return None;
    }
    let start = times.len();
    let (mut next, mut sum) = (0, 0);
    for (position, entry) in positions().zip(entries) {
        sum += cursor.take_sum(position + 1 - next)?;
        next = position + 1;
        times.push(EntryTime { entry: *entry, received: i64::try_from(sum).ok()?, version: 0 });
    }
    cursor.skip_numbers(count - next)?;
    (next, sum) = (0, 0);
    for (position, time) in positions().zip(&mut times[start..]) {
        sum += cursor.take_sum(position + 1 - next)?;
        next = position + 1;
        // The differences of versions wrap around when they are written.
        time.version = u64::try_from(sum.rem_euclid(1 << u64::BITS)).ok()?;
    }
    Some(())
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
            self.take_chunk(block, |cursor| take_timeline(cursor, &mut timeline))?;
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
            let payload = self.access.block_of(TIMELINE, block.offset, part)?;
            let taken = take_times(&mut Cursor::new(&payload), block.first, entries, times);
            taken.ok_or_else(|| self.invalid(block.offset, INVALID))?;
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
            self.take_chunk(&blocks[middle], |cursor| take_timeline(cursor, &mut timeline))?;
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

    /// Passes a chunk to `take`, which returns `None` if it is invalid.
    fn take_chunk(
        &self,
        block: &BlockRef,
        take: impl FnOnce(&mut Cursor<'_>) -> Option<()>,
    ) -> Result<(), FileError> {
        let payload = self.block(TIMELINE, block)?;
        take(&mut Cursor::new(&payload)).ok_or_else(|| self.invalid(block.offset, INVALID))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn times_of_some_entries_are_those_of_the_chunk(
            entries in prop::collection::vec((0..1u64 << 40, any::<u64>(), any::<bool>()), 1..80),
            first in 0..1000u32,
        ) {
            let mut timeline = Timeline::default();
            for (time, version, _) in &entries {
                timeline.received.push(time.cast_signed());
                timeline.versions.push(*version);
            }
            let mut chunk = Vec::new();
            put_timeline(&timeline, 0..entries.len(), &mut chunk);
            let mut all = Timeline::default();
            prop_assert_eq!(take_timeline(&mut Cursor::new(&chunk), &mut all), Some(()));
            prop_assert_eq!((&all.received, &all.versions), (&timeline.received, &timeline.versions));
            let wanted: Vec<u32> = (first..).zip(&entries).filter(|(_, (.., is_wanted))| *is_wanted).map(|(at, _)| at).collect();
            let mut times = Vec::new();
            prop_assert_eq!(take_times(&mut Cursor::new(&chunk), first, &wanted, &mut times), Some(()));
            prop_assert_eq!(times.len(), wanted.len());
            for time in times {
                let (received, version, _) = entries[(time.entry - first) as usize];
                prop_assert_eq!((time.received, time.version), (received.cast_signed(), version));
            }
            let beyond = [first + u32::try_from(entries.len()).expect("few")];
            prop_assert_eq!(take_times(&mut Cursor::new(&chunk), first, &beyond, &mut Vec::new()), None);
        }
    }
}
