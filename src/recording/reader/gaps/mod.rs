//! The gaps of a recording.

mod initial_lists;
mod observation;
mod observed_type;

use std::sync::Arc;

use jiff::Timestamp;

pub(in crate::recording) use self::observation::LostWatch;
use self::observation::{FoundGap, Observation, ObservedTimes};
use super::catalog::Catalog;
use super::segment_file::SegmentFile;
use crate::recording::entry::{Gap, Item, Unobserved};
use crate::recording::files::FileError;

impl Catalog {
    /// Returns all marks and bookmarks, in order.
    pub(super) fn marks(&self) -> Result<Vec<Item>, FileError> {
        let mut marks = Vec::new();
        for file in &self.segments {
            let items = file.open()?.items(&self.context, false)?.into_iter().map(|(_, item)| item);
            marks.extend(items.filter(|item| matches!(item, Item::Mark(_) | Item::Bookmark { .. })));
        }
        Ok(marks)
    }

    /// Returns the gaps in the order of their ends.
    pub(super) fn gaps(&self) -> Result<Vec<Gap>, FileError> {
        Ok(self.observed_times()?.into_gaps())
    }

    /// Returns the gaps that the parts without damage show, in the order of their ends.
    pub(super) fn readable_gaps(&self) -> Result<Vec<Gap>, FileError> {
        Ok(self.end_observation(self.readable_observation(u64::MAX)?).into_gaps())
    }

    /// Returns the watches that had run once and did not run before an entry, as far as the parts without damage show.
    pub(super) fn lost_watches(&self, number: u64) -> Result<Vec<LostWatch>, FileError> {
        Ok(self.readable_observation(number)?.into_lost())
    }

    /// Returns the gaps that a time lies in, as [`gaps_at`] does.
    pub(super) fn gaps_at(&self, time: Timestamp) -> Result<Vec<Gap>, FileError> {
        Ok(gaps_at(self.observed_times()?.gaps, time))
    }

    /// Returns the reasons why the state at a time may not be that of the server.
    pub(super) fn unobserved_at(&self, time: Timestamp) -> Result<Unobserved, FileError> {
        let observed = self.observed_times()?;
        Ok(Unobserved {
            limits: observed.limits(),
            incomplete_lists: self.incomplete_lists(&observed, time.as_millisecond())?,
            gaps: gaps_at(observed.gaps, time),
        })
    }

    /// Returns the reasons why the state at a version may not be that of the server. It has no part of a list that was not
    /// complete.
    pub(super) fn unobserved_at_version(&self, version: u64) -> Result<Unobserved, FileError> {
        let observed = self.observed_times()?;
        let limits = observed.limits();
        let mut gaps = Vec::new();
        for found in observed.gaps {
            let misses = match found.versions {
                Some((from, to)) => (from..to).contains(&version),
                None => found.is_ended_watch() && self.version_at(found.gap.from)? < Some(version),
            };
            if misses {
                gaps.push(found.gap);
            }
        }
        Ok(Unobserved { limits, incomplete_lists: Vec::new(), gaps })
    }

    /// Returns the highest version of the entries up to a time, as far as the last segment with some of them shows. Damaged
    /// segments are skipped.
    fn version_at(&self, time: Timestamp) -> Result<Option<u64>, FileError> {
        for file in self.segments.iter().rev() {
            match version_in(file, time.as_millisecond()) {
                Ok(None) | Err(FileError::Damaged(..)) => {}
                found => return found,
            }
        }
        Ok(None)
    }

    /// Reads the marks of all files. Few entries are marks: neither objects nor the times of other entries are read.
    pub(super) fn observed_times(&self) -> Result<ObservedTimes, FileError> {
        let mut observation = Observation::default();
        self.begin_observation(&mut observation)?;
        let mut last = i64::MIN;
        for file in &self.segments {
            match self.observe(file, u64::MAX, &mut observation) {
                // Commands that need the damaged part report the damage.
                Err(FileError::Damaged(..))
                    if file.header().is_ok_and(|header| header.first_gap == i64::MAX) =>
                {
                    observation.skip(last);
                }
                observed => last = observed?,
            }
        }
        Ok(self.end_observation(observation))
    }

    /// Reads the marks of the parts without damage, before an entry.
    fn readable_observation(&self, until: u64) -> Result<Observation, FileError> {
        let mut observation = Observation::default();
        match self.begin_observation(&mut observation) {
            // Without the positions of a damaged keyframe, the gaps of watches are found from their first marks on.
            Ok(()) | Err(FileError::Damaged(..)) => {}
            Err(error) => return Err(error),
        }
        let mut last = i64::MIN;
        for file in self.segments.iter().take_while(|file| file.first() < until) {
            match self.observe(file, until, &mut observation) {
                Err(FileError::Damaged(..)) => observation.skip(last),
                observed => last = observed?,
            }
        }
        Ok(observation)
    }

    /// Adds the watches that ran at the beginning of a recording whose older entries were dropped, and those of other types with
    /// objects, which had ended.
    fn begin_observation(&self, observation: &mut Observation) -> Result<(), FileError> {
        if self.start() > 0
            && let Some(first) = self.keyframes.first()
        {
            let keyframe = self.open_keyframe(*first)?;
            let time = keyframe.header().first_time;
            for position in keyframe.items(false)?.0 {
                observation.begin(&position, time);
            }
            for resource in keyframe.types_with_objects() {
                observation.begin_type(resource, time);
            }
        }
        Ok(())
    }

    fn end_observation(&self, mut observation: Observation) -> ObservedTimes {
        observation.unfinished().retain(|watch, number| !self.has_watch_event_after(watch, number));
        observation.end(self.end_time().map_or(i64::MIN, Timestamp::as_millisecond))
    }

    /// Adds the marks of a file before an entry, and returns the time of the last entry of the file.
    fn observe(
        &self,
        file: &Arc<SegmentFile>,
        until: u64,
        observation: &mut Observation,
    ) -> Result<i64, FileError> {
        let segment = file.open()?;
        let header = segment.header();
        let items = segment.marks(&self.context)?;
        let is_timed = |item: &Item| !matches!(item, Item::Bookmark { .. });
        let with_time = items.iter().filter(|(_, item)| is_timed(item));
        let times = segment.times_of(with_time.flat_map(|(index, _)| [index.saturating_sub(1), *index]))?;
        let time = |index: u32| times.of(index).map(|(received, _)| received).unwrap_or_default();
        for (index, item) in items {
            if header.first + u64::from(index) >= until {
                break;
            }
            let previous = match index.checked_sub(1) {
                Some(before) if is_timed(&item) => Some(time(before)),
                _ => (header.first > 0).then_some(header.time_before),
            };
            let received = if is_timed(&item) { time(index) } else { header.last_time };
            observation.add(header.first + u64::from(index), &item, received, previous);
        }
        Ok(header.last_time)
    }
}

/// Returns the highest version of the entries of a segment up to a time; `None` if there is none.
fn version_in(file: &SegmentFile, time: i64) -> Result<Option<u64>, FileError> {
    if file.first_time()? > time {
        return Ok(None);
    }
    let timeline = file.open()?.timeline()?;
    let count = timeline.received.partition_point(|received| *received <= time);
    Ok(timeline.versions[..count].iter().copied().max().filter(|version| *version > 0))
}

/// Selects the gaps that a time lies in. Those in which no recorder was running precede those of single resources.
fn gaps_at(all: Vec<FoundGap>, time: Timestamp) -> Vec<Gap> {
    let lies_in = |found: &FoundGap| found.gap.from <= time && (time < found.gap.to || found.is_open);
    let mut gaps: Vec<_> = all.into_iter().filter(lies_in).map(|found| found.gap).collect();
    gaps.sort_by_key(|gap| gap.resource.is_some());
    gaps
}
