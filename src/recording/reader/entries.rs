//! Entries in the order in which they were recorded.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use super::bases::tracked;
use super::catalog::Catalog;
use super::segment_entries::{SegmentEntries, States};
use super::segment_file::Segment;
use crate::recording::entry::{Entry, EntryFilter};
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;

/// The entries of a range of time, in recorded order.
///
/// It holds one segment and the current states of the objects that changed in the range. After a damaged part it returns
/// one error and continues at the next keyframe.
pub struct Entries {
    catalog: Arc<Catalog>,
    filter: EntryFilter,
    /// The number of the first entry to return, and of the entry after the last one.
    from: u64,
    to: u64,
    /// The number of the first entry that was not read.
    next: u64,
    states: States,
    current: Option<SegmentEntries>,
}

impl Entries {
    pub(super) fn new(catalog: Arc<Catalog>, filter: EntryFilter, from: u64, to: u64) -> Self {
        // The segment is read from its beginning: later entries refer to earlier ones.
        let before = catalog.segments.iter().rev().find(|segment| segment.first() <= from);
        let next = before.map_or(from, |segment| segment.first());
        Self { catalog, filter, from, to, next, states: States::new(), current: None }
    }

    /// Opens the next segment.
    fn open_next(&mut self) -> Result<SegmentEntries, FileError> {
        let file = self.catalog.segments.iter().find(|segment| segment.first() == self.next);
        let file = file.ok_or_else(|| self.missing())?;
        let segment = file.open()?;
        let (first, count) = (segment.header().first, segment.header().count);
        if first != self.next {
            return Err(self.missing());
        }
        let entries = SegmentEntries::open(segment, &self.catalog.context, &self.filter)?;
        self.load_bases(&entries)?;
        self.next = first + count;
        Ok(entries)
    }

    fn missing(&self) -> FileError {
        match self.catalog.open_segments(self.next, self.next + 1) {
            Err(error) => error,
            Ok(_) => FileError::Damaged(self.catalog.dir.clone(), 0, "a segment has another name".to_owned()),
        }
    }

    /// Reads the states before the segment of objects that it changes and that were not read yet.
    fn load_bases(&mut self, entries: &SegmentEntries) -> Result<(), FileError> {
        let segment: &Arc<Segment> = entries.segment();
        let mut cut = None;
        for (resource, keys) in entries.bases() {
            let states = self.states.entry(Arc::clone(resource)).or_default();
            let missing: HashSet<&str> = keys.filter(|key| !states.contains_key(*key)).collect();
            if missing.is_empty() {
                continue;
            }
            if cut.is_none() {
                cut = Some(self.catalog.files_before(segment.header().first, self.catalog.end_time())?);
            }
            if let Some(cut) = &cut {
                states.extend(tracked(cut, resource, |key| missing.contains(key))?);
            }
        }
        Ok(())
    }

    /// Continues at the next keyframe after a damaged segment, the one that begins with the entry `first`.
    fn skip_damage(&mut self, first: u64) {
        self.states.clear();
        self.current = None;
        self.next =
            self.catalog.keyframes.iter().find(|keyframe| **keyframe > first).copied().unwrap_or(u64::MAX);
    }
}

impl Iterator for Entries {
    type Item = Result<Entry, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(current) = &mut self.current {
                match current.next(&mut self.states) {
                    Some(Ok(entry)) if entry.number >= self.to => return None,
                    Some(Ok(entry)) if entry.number < self.from => continue,
                    Some(Ok(entry)) => return Some(Ok(entry)),
                    Some(Err(error)) => {
                        let first = current.segment().header().first;
                        self.skip_damage(first);
                        return Some(Err(self.catalog.error(error)));
                    }
                    None => self.current = None,
                }
            }
            let end = self.catalog.end().unwrap_or(u64::MAX);
            if self.next >= self.to.min(end) {
                return None;
            }
            match self.open_next() {
                Ok(entries) => self.current = Some(entries),
                Err(error) => {
                    self.skip_damage(self.next);
                    return Some(Err(self.catalog.error(error)));
                }
            }
        }
    }
}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("next", &self.next).finish_non_exhaustive()
    }
}
