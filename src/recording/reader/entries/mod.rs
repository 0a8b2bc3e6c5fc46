//! Entries in the order in which they were recorded.

mod fold;
mod log;
mod segment;

use std::fmt;
use std::io;
use std::sync::Arc;

pub use fold::Folded;

use self::log::{Keys, States};
use self::segment::SegmentEntries;
use super::bases::last_states;
use super::catalog::Catalog;
use super::segment_file::Segment;
use crate::recording::entry::{Entry, EntryFilter};
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;

/// The number of segments after the current one whose states are read together with its own.
const READ_AHEAD: usize = 7;

/// The entries of a range of time, in recorded order.
///
/// It holds one segment and the current states of the objects that changed in the range. After a damaged part it returns
/// one error and continues at the next keyframe. If a writer drops the part meanwhile, it returns
/// [`RecordingError::BeforeBeginning`] and continues at the new beginning.
pub struct Entries {
    catalog: Arc<Catalog>,
    filter: EntryFilter,
    /// Whether objects get their rows.
    renders_rows: bool,
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
        // The segment is read from its beginning, because later entries refer to earlier ones.
        let before = catalog.segments.iter().rev().find(|segment| segment.first() <= from);
        let next = before.map_or(from, |segment| segment.first());
        let states = States::new();
        Self { catalog, filter, renders_rows: true, from, to, next, states, current: None }
    }

    /// Leaves out the rows of objects, which take time to render.
    #[must_use]
    pub fn without_rows(self) -> Self {
        Self { renders_rows: false, ..self }
    }

    /// Opens the next segment.
    fn open_next(&mut self) -> Result<SegmentEntries, FileError> {
        let segment = self.open_segment(self.next)?;
        let (first, count) = (segment.header().first, segment.header().count);
        let entries = SegmentEntries::open(segment, &self.catalog.context, &self.filter)?;
        if self.catalog.losses.contains(&first) {
            self.states.clear();
        }
        self.load_bases(&entries)?;
        self.next = first + count;
        Ok(entries.with_rows(self.renders_rows))
    }

    /// Opens the segment that begins with this entry.
    fn open_segment(&self, first: u64) -> Result<Arc<Segment>, FileError> {
        let file = self.catalog.segments.iter().find(|segment| segment.first() == first);
        let segment = file.ok_or_else(|| self.missing())?.open()?;
        if segment.header().first == first { Ok(segment) } else { Err(self.missing()) }
    }

    fn missing(&self) -> FileError {
        match self.catalog.open_segments(self.next, self.next + 1) {
            Err(error) => error,
            Ok(_) => FileError::Damaged(self.catalog.dir.clone(), 0, "a segment has another name".to_owned()),
        }
    }

    /// Reads the states, before a segment, of the objects that it changes, if they were not read yet. The states
    /// that the next segments need are read with them, because each read decodes much other data too.
    fn load_bases(&mut self, entries: &SegmentEntries) -> Result<(), FileError> {
        let first = entries.segment().header().first;
        let mut missing = Keys::new();
        entries.collect_bases(&self.states, &mut Keys::new(), &mut missing);
        if missing.is_empty() {
            return Ok(());
        }
        missing.clear();
        let mut seen = Keys::new();
        entries.collect_bases(&self.states, &mut seen, &mut missing);
        let later = self.catalog.segments.iter().filter(|segment| segment.first() > first);
        for file in later.take_while(|segment| segment.first() < self.to).take(READ_AHEAD) {
            // The error is returned when the iterator reaches that segment.
            let Ok(segment) = file.open() else { break };
            let Ok(next) = SegmentEntries::open(segment, &self.catalog.context, &self.filter) else { break };
            next.collect_bases(&self.states, &mut seen, &mut missing);
        }
        self.load_states(first, missing)
    }

    /// Reads the states of objects before an entry.
    fn load_states(&mut self, before: u64, missing: Keys) -> Result<(), FileError> {
        if missing.is_empty() {
            return Ok(());
        }
        let files = self.catalog.files_before(before, self.catalog.end_time())?;
        for (resource, keys) in missing {
            let loaded = last_states(&files, &resource, |key| keys.contains(key), self.renders_rows)?;
            self.states.entry(resource).or_default().extend(loaded);
        }
        Ok(())
    }

    /// Continues after an error: at the beginning that retention left, or at the next keyframe.
    fn failed(&mut self, error: FileError) -> RecordingError {
        if let FileError::Io(_, error) = &error
            && error.kind() == io::ErrorKind::NotFound
            && let Ok(listed) = self.catalog.list_again()
            && let Some(beginning) = listed.beginning()
            && self.next < listed.start()
        {
            self.states.clear();
            self.next = listed.start();
            self.catalog = Arc::new(listed);
            return RecordingError::BeforeBeginning { beginning, version: None };
        }
        self.skip_damage(self.next, error)
    }

    /// Continues at the next keyframe after the damage of the segment that begins with the entry `first`, or of its state.
    fn skip_damage(&mut self, first: u64, error: FileError) -> RecordingError {
        let error = self.catalog.error(error);
        let damaged = match &error {
            RecordingError::Damaged(damage) => Some(&*damage.file),
            _ => None,
        };
        self.states.clear();
        self.current = None;
        self.next = self.catalog.next_base(first, damaged).unwrap_or(u64::MAX);
        error
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
                        return Some(Err(self.skip_damage(first, error)));
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
                Err(error) => return Some(Err(self.failed(error))),
            }
        }
    }
}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("next", &self.next).finish_non_exhaustive()
    }
}
