//! Finds the files of the state at a version.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::lists::{EntryRef, LateLists, Lists};
use super::{Limit, StateFiles};
use crate::lines::MarkKind;
use crate::recording::entry::Item;
use crate::recording::error::RecordingError;
use crate::recording::files::FileError;
use crate::recording::keyframe::Keyframe;
use crate::recording::reader::catalog::{Catalog, time_of};
use crate::recording::reader::parallel;
use crate::recording::reader::segment_file::Segment;
use crate::recording::type_log::Timeline;

impl Catalog {
    /// Opens the files of the state at a version, and reads the lists in them and after them, up to the next keyframe.
    pub(super) fn cut_at_version(&self, version: u64) -> Result<StateFiles, RecordingError> {
        let failed = |error| self.error(error);
        let keyframe = self.keyframe_up_to(version).map_err(failed)?;
        let from = match &keyframe {
            Some(keyframe) => keyframe.header().first,
            None if self.start() == 0 => 0,
            None => {
                let first = self.keyframes.first().and_then(|first| self.keyframe_header(*first).ok());
                return Err(self.before_beginning(first.map(|first| first.max_version)));
            }
        };
        let end = self.end_of_version(from, version).map_err(failed)?;
        let mut segments = self.open_known(from, end).map_err(failed)?;
        let mut lists = Lists::default();
        for segment in &segments {
            lists.read(segment, &self.context).map_err(failed)?;
        }
        if self.read_later_lists(end, &mut lists) {
            lists.end(|watch, number| self.has_watch_event_after(watch, number));
        }
        // Lists without objects may have been complete after the last change.
        if let Some(number) = lists.last_up_to(version).filter(|number| *number >= end) {
            segments = self.open_known(from, number + 1).map_err(failed)?;
        }
        if keyframe.is_none() && segments.is_empty() {
            return Err(self.before_first_list());
        }
        let late_lists = lists.later_than(version);
        let time =
            self.time_of_version(version, keyframe.as_ref(), &segments, &late_lists).map_err(failed)?;
        let (keyframe, limit) = (keyframe.map(Arc::new), Limit::Version(version));
        Ok(StateFiles { keyframe, segments, limit, late_lists, time, threads: parallel::threads() })
    }

    /// Opens the last keyframe without later versions.
    fn keyframe_up_to(&self, version: u64) -> Result<Option<Keyframe>, FileError> {
        for number in self.keyframes.iter().rev() {
            if self.keyframe_header(*number)?.max_version <= version {
                return self.open_keyframe(*number).map(Some);
            }
        }
        Ok(None)
    }

    /// Returns the number of the entry after the last segment with a change up to a version.
    fn end_of_version(&self, from: u64, version: u64) -> Result<u64, FileError> {
        // A version may arrive late, after a gap: all later segments are considered.
        let mut end = from;
        for segment in self.segments.iter().filter(|segment| segment.first() >= from) {
            let header = segment.header()?;
            if header.min_version <= version {
                end = segment.first() + header.count;
            }
        }
        Ok(end)
    }

    /// Opens the segments of the entries from `from` to before `to`, unless the state was lost between them.
    fn open_known(&self, from: u64, to: u64) -> Result<Vec<Arc<Segment>>, FileError> {
        match self.losses.iter().find(|loss| from <= **loss && **loss < to) {
            Some(loss) => Err(self.lost(*loss)),
            None => self.open_segments(from, to),
        }
    }

    /// Reads the lists that were complete in later segments than their first objects. Damaged segments are skipped: the
    /// state does not need them. Returns whether no keyframe follows.
    fn read_later_lists(&self, end: u64, lists: &mut Lists) -> bool {
        let keyframe = self.keyframes.iter().find(|keyframe| **keyframe >= end);
        for segment in self.segments.iter().filter(|segment| segment.first() >= end) {
            if keyframe.is_some_and(|keyframe| *keyframe <= segment.first()) {
                break;
            }
            if let Ok(segment) = segment.open() {
                let _skipped = lists.read(&segment, &self.context);
            }
        }
        keyframe.is_none()
    }

    /// Returns the error of a version before those of all lists, with the lowest of them. Damaged segments are skipped: a keyframe
    /// may precede the end of the list.
    pub(in crate::recording::reader) fn before_first_list(&self) -> RecordingError {
        let mut lists = Lists::default();
        for segment in self.segments.iter().filter_map(|segment| segment.open().ok()) {
            let _skipped = lists.read(&segment, &self.context);
        }
        self.before_beginning(lists.first_version())
    }

    /// Returns the error of a moment before the first complete state, which has this version.
    fn before_beginning(&self, version: Option<u64>) -> RecordingError {
        let beginning = self.beginning().unwrap_or(Timestamp::MIN);
        RecordingError::BeforeBeginning { beginning, version }
    }

    /// Returns the time of the last entry of the state at a version.
    fn time_of_version(
        &self,
        version: u64,
        keyframe: Option<&Keyframe>,
        segments: &[Arc<Segment>],
        late_lists: &LateLists,
    ) -> Result<Option<Timestamp>, FileError> {
        for segment in segments.iter().rev() {
            let timeline = segment.timeline()?;
            let mut others = HashSet::new();
            if !late_lists.is_empty() {
                others.extend(late_entries(segment, &timeline, late_lists)?);
                // They have the version of the entry before, which may be part of a late list.
                let without_version = |item: &Item| match item {
                    Item::Mark(mark) => matches!(mark.kind, MarkKind::Error(_)),
                    Item::Document { .. } | Item::Started => true,
                    Item::Bookmark { .. } | Item::Change { .. } => false,
                };
                let items = segment.items(&self.context, false)?.into_iter();
                others
                    .extend(items.filter(|(_, item)| without_version(item)).map(|(index, _)| index as usize));
            }
            let is_in = |(at, of): (usize, &u64)| *of != 0 && *of <= version && !others.contains(&at);
            if let Some(last) = timeline.versions.iter().enumerate().rposition(is_in) {
                return Ok(Some(time_of(timeline.received[last])));
            }
        }
        Ok(keyframe.map(|keyframe| time_of(keyframe.header().first_time)).or(self.beginning()))
    }
}

/// Returns the numbers of the entries of a segment that are part of late lists.
fn late_entries(
    segment: &Segment,
    timeline: &Timeline,
    late_lists: &LateLists,
) -> Result<Vec<usize>, FileError> {
    let first = segment.header().first;
    let mut late = Vec::new();
    for resource in late_lists.resources() {
        let Some(log) = segment.log(resource)? else { continue };
        for object in 0..log.names.len() {
            let (key, namespace_len) = log.names.get(object);
            late.extend(log.entries[log.range(object)].iter().filter_map(|entry| {
                let (number, origin) = (first + u64::from(entry.index), entry.flags.origin());
                let version = *timeline.versions.get(entry.index as usize)?;
                let entry_ref = EntryRef { resource, key, namespace_len, number, version, origin };
                late_lists.have(&entry_ref).then_some(entry.index as usize)
            }));
        }
    }
    Ok(late)
}
