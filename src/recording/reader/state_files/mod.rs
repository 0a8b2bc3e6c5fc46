//! Finds the files from which the state at a moment is read.

mod at_version;
mod lists;

use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;

use super::catalog::{Catalog, time_of};
use super::parallel;
use super::segment_file::{Segment, SegmentFile};
use crate::recording::entry::Moment;
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;
use crate::recording::keyframe::Keyframe;

pub(super) use lists::{EntryRef, LateLists};

/// The entries that belong to a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// The entries with a number below this one.
    Entries(u64),
    /// For each object, the entries up to its last one whose version is at most this one.
    Version(u64),
}

/// The parts that a state is made of: a keyframe and the segments after it, up to a limit.
#[derive(Debug)]
pub(super) struct StateFiles {
    /// `None` for the beginning of the recording, before the first object.
    pub(super) keyframe: Option<Arc<Keyframe>>,
    pub(super) segments: Vec<Arc<Segment>>,
    pub(super) limit: Limit,
    /// The lists of which the state shows nothing, because they were complete after its version.
    pub(super) late_lists: LateLists,
    /// The time at which ages are rendered.
    pub(super) time: Option<Timestamp>,
    /// The number of threads that read them.
    pub(super) threads: usize,
}

impl StateFiles {
    /// Returns whether the state contains an entry.
    pub(super) fn includes(&self, entry: &EntryRef<'_>) -> bool {
        match self.limit {
            Limit::Entries(limit) => entry.number < limit,
            Limit::Version(version) => entry.version <= version && !self.late_lists.have(entry),
        }
    }
}

impl Catalog {
    /// Returns the files of the state at a moment.
    pub(super) fn files_at(&self, moment: Moment) -> Result<StateFiles, RecordingError> {
        match moment {
            Moment::End => {
                let end = self.end().map_err(|error| self.error(error))?;
                self.cut_before(end, self.end_time())
            }
            Moment::Time(time) => {
                let number = self.number_after(time)?;
                // The time of the end is that of the last entry, which may not be decoded yet.
                let is_end = self.end().map_or(true, |end| number >= end);
                let time = if is_end { self.end_time().map(|end| end.min(time)) } else { Some(time) };
                self.cut_before(number, time)
            }
            Moment::Version(version) => self.cut_at_version(version),
        }
    }

    /// Returns the files of the state before an entry, if that is known.
    fn cut_before(&self, number: u64, time: Option<Timestamp>) -> Result<StateFiles, RecordingError> {
        let files = match self.base(number) {
            (None, loss) if self.losses.contains(&loss) => Err(self.lost(loss)),
            _ => self.files_before(number, time),
        };
        files.map_err(|error| self.error(error))
    }

    /// Opens the files with the states before an entry, to which later entries refer.
    pub(super) fn files_before(&self, number: u64, time: Option<Timestamp>) -> Result<StateFiles, FileError> {
        let (keyframe, from) = self.base(number);
        let keyframe = keyframe.map(|number| self.open_keyframe(number).map(Arc::new)).transpose()?;
        let segments = self.open_segments(from, number)?;
        let (limit, late_lists) = (Limit::Entries(number), LateLists::default());
        Ok(StateFiles { keyframe, segments, limit, late_lists, time, threads: parallel::threads() })
    }

    /// Returns the numbers of the entries received in a range of time, both ends included.
    pub(super) fn entries_between(
        &self,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
    ) -> Result<Range<u64>, RecordingError> {
        let start = self.start();
        // The first entry at a time or after it is the first one after the millisecond before it.
        let from = match since.filter(|since| self.beginning().is_some_and(|beginning| beginning < *since)) {
            Some(since) => {
                let rounded = since.as_millisecond() + i64::from(since.subsec_nanosecond() % 1_000_000 != 0);
                let before = Timestamp::from_millisecond(rounded - 1).unwrap_or(since);
                self.number_after(before)?
            }
            None => start,
        };
        let to = match until {
            Some(until) if self.beginning().is_none_or(|beginning| until < beginning) => start,
            Some(until) => self.number_after(until)?,
            None => u64::MAX,
        };
        Ok(from..to)
    }

    /// Returns the number of the first entry that was received after a time.
    pub(super) fn number_after(&self, time: Timestamp) -> Result<u64, RecordingError> {
        let milliseconds = time.as_millisecond();
        match self.beginning() {
            Some(beginning) if beginning.as_millisecond() > milliseconds => {
                return Err(RecordingError::BeforeBeginning { beginning, version: None });
            }
            _ => {}
        }
        let find = || {
            let after = self.first_after(milliseconds)?;
            let Some(segment) = after.checked_sub(1).and_then(|at| self.segments.get(at)) else {
                return Ok(self.start());
            };
            let header = segment.header()?;
            if header.last_time <= milliseconds {
                return Ok(segment.first() + header.count);
            }
            Ok(segment.first() + segment.open()?.entries_until(milliseconds)?)
        };
        let found: Result<_, FileError> = find();
        found.map_err(|error| self.error(error))
    }

    /// Returns the number of segments that begin at a time or before it. A binary search, which reads few headers.
    fn first_after(&self, milliseconds: i64) -> Result<usize, FileError> {
        let (mut low, mut high) = (0, self.segments.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.first_time(middle)? <= milliseconds {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Returns the time of the first entry of a segment; with a damaged header, that of the last entry before it.
    fn first_time(&self, at: usize) -> Result<i64, FileError> {
        match self.segments[at].first_time() {
            Ok(first_time) => Ok(first_time),
            Err(FileError::Damaged(..)) if at == 0 => Ok(i64::MIN),
            Err(FileError::Damaged(..)) => match self.segments[at - 1].header() {
                Ok(header) => Ok(header.last_time),
                Err(FileError::Damaged(..)) => self.first_time(at - 1),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// Returns the time of the first complete state.
    pub(super) fn beginning(&self) -> Option<Timestamp> {
        if self.start() == 0 {
            let first = self.segments.first()?;
            // A journal without entries has no beginning.
            return first
                .header()
                .ok()
                .filter(|header| header.count > 0)
                .map(|header| time_of(header.first_time));
        }
        let keyframe = self.keyframes.first()?;
        self.keyframe_header(*keyframe).ok().map(|header| time_of(header.first_time))
    }

    /// Returns whether a time is neither before the first complete state nor after the last entry.
    pub(super) fn includes(&self, time: Timestamp) -> bool {
        let begins_later = |segment: &SegmentFile| {
            // The time at which a journal begins is that of the entry before it.
            segment.first_time().is_ok_and(|first| time_of(first) >= time)
        };
        let is_before_end = || {
            self.segments.last().is_some_and(|last| begins_later(last))
                || self.end_time().is_some_and(|end| time <= end)
        };
        self.beginning().is_some_and(|beginning| beginning <= time) && is_before_end()
    }

    /// Returns the time of the last entry.
    pub(super) fn end_time(&self) -> Option<Timestamp> {
        self.end_time_of(|segment| {
            let header = segment.header().ok().filter(|header| header.count > 0)?;
            Some(time_of(header.last_time))
        })
    }

    /// Returns the time of the last entry, given the function that returns that of a segment, if it has an entry.
    pub(super) fn end_time_of(
        &self,
        last_time: impl FnMut(&Arc<SegmentFile>) -> Option<Timestamp>,
    ) -> Option<Timestamp> {
        let of_segments = self.segments.iter().rev().find_map(last_time);
        let of_keyframe = || Some(time_of(self.keyframe_header(*self.keyframes.last()?).ok()?.first_time));
        of_segments.or_else(of_keyframe)
    }
}
