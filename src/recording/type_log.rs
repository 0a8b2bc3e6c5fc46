//! The changes of one type within one segment, grouped by object.

use std::sync::Arc;

use super::flags::Flags;
use super::names::Names;

/// A range within a block of payloads.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::recording) struct Place {
    pub(in crate::recording) block: u32,
    pub(in crate::recording) at: u32,
    pub(in crate::recording) len: u32,
}

impl Place {
    /// Returns the bytes of the range, or `None` if its block is too short.
    pub(in crate::recording) fn of(self, block: &[u8]) -> Option<&[u8]> {
        let (at, len) = (self.at as usize, self.len as usize);
        block.get(at..at.checked_add(len)?)
    }
}

/// A change in a [`TypeLog`].
#[derive(Debug, Clone, Copy)]
pub(in crate::recording) struct LogEntry {
    /// The number of the entry within the segment.
    pub(in crate::recording) index: u32,
    pub(in crate::recording) flags: Flags,
    /// 0, or the number of the author in the tables plus 1.
    pub(in crate::recording) author: u32,
    pub(in crate::recording) body: Place,
    pub(in crate::recording) row: Place,
}

/// The changes of one type within one segment, in the order of the objects, those of one object in the order of time.
#[derive(Debug, Default)]
pub(in crate::recording) struct TypeLog {
    pub(in crate::recording) names: Names,
    /// The end of the entries of each object.
    pub(in crate::recording) ends: Vec<u32>,
    pub(in crate::recording) entries: Vec<LogEntry>,
}

impl TypeLog {
    /// Returns the range of the entries of an object.
    pub(in crate::recording) fn range(&self, object: usize) -> std::ops::Range<usize> {
        let start = if object == 0 { 0 } else { self.ends[object - 1] };
        start as usize..self.ends[object] as usize
    }

    /// Returns the entries of an object with their numbers in the log.
    pub(in crate::recording) fn numbered(&self, object: usize) -> impl Iterator<Item = (u32, &LogEntry)> {
        self.numbered_in(self.range(object))
    }

    /// Returns a range of the entries with their numbers.
    pub(in crate::recording) fn numbered_in(
        &self,
        range: std::ops::Range<usize>,
    ) -> impl Iterator<Item = (u32, &LogEntry)> {
        (u32::try_from(range.start).unwrap_or(u32::MAX)..).zip(&self.entries[range])
    }

    /// Keeps the names of the first objects.
    pub(in crate::recording) fn truncate(&mut self, objects: usize) {
        self.names.truncate(objects);
        self.ends.truncate(objects);
    }

    /// Returns the number of an object.
    pub(in crate::recording) fn find(&self, key: &str) -> Option<usize> {
        (0..self.names.len()).find(|at| self.names.get(*at).0 == key)
    }
}

/// The times and versions of the entries of a segment, in the order of time.
#[derive(Debug, Clone, Default)]
pub(in crate::recording) struct Timeline {
    /// In Unix milliseconds.
    pub(in crate::recording) received: Vec<i64>,
    pub(in crate::recording) versions: Vec<u64>,
}

impl Timeline {
    /// Reserves the memory of that many entries.
    pub(in crate::recording) fn reserve(&mut self, entries: usize) {
        self.received.reserve_exact(entries);
        self.versions.reserve_exact(entries);
    }
}

/// The time and the version of one entry.
#[derive(Debug, Clone, Copy)]
pub(in crate::recording) struct EntryTime {
    /// The number of the entry within the segment.
    pub(in crate::recording) entry: u32,
    /// In Unix milliseconds.
    pub(in crate::recording) received: i64,
    pub(in crate::recording) version: u64,
}

/// The times and versions of entries.
#[derive(Debug, Clone)]
pub(in crate::recording) enum Times {
    /// Those of all entries of a segment.
    All(Arc<Timeline>),
    /// Those of some entries, in order.
    Some(Vec<EntryTime>),
}

impl Times {
    /// Returns the time of an entry in Unix milliseconds, and its version. `None` if they were not read.
    #[inline(always)]
    pub(in crate::recording) fn of(&self, index: u32) -> Option<(i64, u64)> {
        match self {
            Self::All(timeline) => {
                let at = index as usize;
                Some((*timeline.received.get(at)?, *timeline.versions.get(at)?))
            }
            Self::Some(times) => {
                let at = times.binary_search_by_key(&index, |time| time.entry).ok()?;
                Some((times[at].received, times[at].version))
            }
        }
    }
}

/// The two kinds of payloads, each stored in its own blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recording) enum Payload {
    Bodies,
    Rows,
}
