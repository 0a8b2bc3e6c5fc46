//! The gaps of a recording.

mod initial_lists;
mod observation;

use std::sync::Arc;

use jiff::Timestamp;

use self::observation::{FoundGap, Observation, ObservedTimes};
use super::catalog::Catalog;
use super::segment_file::SegmentFile;
use crate::lines::Mark;
use crate::recording::entry::{Gap, Item, Unobserved};
use crate::recording::files::FileError;

impl Catalog {
    /// Returns all marks, in order.
    pub(super) fn marks(&self) -> Result<Vec<Mark>, FileError> {
        let mut marks = Vec::new();
        for file in &self.segments {
            for (_, item) in file.open()?.items(&self.context, false)? {
                if let Item::Mark(mark) = item {
                    marks.push(mark);
                }
            }
        }
        Ok(marks)
    }

    /// Returns the gaps in the order of their ends.
    pub(super) fn gaps(&self) -> Result<Vec<Gap>, FileError> {
        Ok(self.observed_times()?.gaps.into_iter().map(|found| found.gap).collect())
    }

    /// Returns the gaps of the segments that can be read, in the order of their ends.
    pub(super) fn readable_gaps(&self) -> Vec<Gap> {
        let mut observation = Observation::default();
        // Without the positions of a damaged keyframe, the gaps of watches are found from their first marks on.
        let _begun = self.begin_observation(&mut observation);
        for file in &self.segments {
            if self.observe(file, &mut observation).is_err() {
                observation.skip();
            }
        }
        self.end_observation(observation).gaps.into_iter().map(|found| found.gap).collect()
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
            incomplete_lists: self.incomplete_lists(&observed.synced, time.as_millisecond())?,
            gaps: gaps_at(observed.gaps, time),
        })
    }

    /// Reads the marks of all files. Few entries are marks: neither objects nor the times of other entries are read.
    pub(super) fn observed_times(&self) -> Result<ObservedTimes, FileError> {
        let mut observation = Observation::default();
        self.begin_observation(&mut observation)?;
        for file in &self.segments {
            match self.observe(file, &mut observation) {
                // Commands that need the damaged part report the damage.
                Err(FileError::Damaged(..))
                    if file.header().is_ok_and(|header| header.first_gap == i64::MAX) =>
                {
                    observation.skip();
                }
                observed => observed?,
            }
        }
        Ok(self.end_observation(observation))
    }

    /// Adds the watches that ran at the beginning of a recording whose older entries were dropped.
    fn begin_observation(&self, observation: &mut Observation) -> Result<(), FileError> {
        if self.start() > 0
            && let Some(first) = self.keyframes.first()
        {
            let keyframe = self.open_keyframe(*first)?;
            let time = keyframe.header().first_time;
            for position in keyframe.items(false)?.0 {
                observation.begin(position, time);
            }
        }
        Ok(())
    }

    fn end_observation(&self, observation: Observation) -> ObservedTimes {
        observation.end(self.end_time().map_or(i64::MIN, Timestamp::as_millisecond))
    }

    fn observe(&self, file: &Arc<SegmentFile>, observation: &mut Observation) -> Result<(), FileError> {
        let segment = file.open()?;
        let header = segment.header();
        let items = segment.marks(&self.context)?;
        let is_timed = |item: &Item| !matches!(item, Item::Bookmark { .. });
        let with_time = items.iter().filter(|(_, item)| is_timed(item));
        let times = segment.times_of(with_time.flat_map(|(index, _)| [index.saturating_sub(1), *index]))?;
        let time = |index: u32| times.of(index).map(|(received, _)| received).unwrap_or_default();
        for (index, item) in items {
            let previous = match index.checked_sub(1) {
                Some(before) if is_timed(&item) => Some(time(before)),
                _ => (header.first > 0).then_some(header.time_before),
            };
            let received = if is_timed(&item) { time(index) } else { header.last_time };
            observation.add(&item, received, previous);
        }
        Ok(())
    }
}

/// Selects the gaps that a time lies in. Those in which no recorder was running precede those of single resources.
fn gaps_at(all: Vec<FoundGap>, time: Timestamp) -> Vec<Gap> {
    let lies_in = |found: &FoundGap| found.gap.from <= time && (time < found.gap.to || found.is_open);
    let mut gaps: Vec<_> = all.into_iter().filter(lies_in).map(|found| found.gap).collect();
    gaps.sort_by_key(|gap| gap.resource.is_some());
    gaps
}
