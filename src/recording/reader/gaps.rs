//! The gaps of a recording.

use std::sync::Arc;

use jiff::Timestamp;

use super::catalog::{Catalog, time_of};
use super::segment_file::Segment;
use crate::lines::Mark;
use crate::recording::entry::{Gap, Item};
use crate::recording::files::FileError;
use crate::recording::journal::gap_start;

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

    /// Returns the gaps in the order of their ends. Only segments that have some are read.
    pub(super) fn gaps(&self) -> Result<Vec<Gap>, FileError> {
        let mut gaps = Vec::new();
        for file in &self.segments {
            if file.header()?.first_gap != i64::MAX {
                gaps.extend(self.gaps_of(&*file.open()?)?);
            }
        }
        Ok(gaps)
    }

    /// Returns the gap that a time lies in. A gap in which no recorder was running precedes one of a single resource.
    pub(super) fn gap_at(&self, time: Timestamp) -> Result<Option<Gap>, FileError> {
        let mut of_resource = None;
        for file in &self.segments {
            let header = file.header()?;
            // The end of a gap is recorded after the time.
            if header.last_time < time.as_millisecond() || header.first_gap > time.as_millisecond() {
                continue;
            }
            for gap in self.gaps_of(&*file.open()?)? {
                if gap.from <= time && time < gap.to {
                    if gap.resource.is_none() {
                        return Ok(Some(gap));
                    }
                    of_resource.get_or_insert(gap);
                }
            }
        }
        Ok(of_resource)
    }

    fn gaps_of(&self, segment: &Segment) -> Result<Vec<Gap>, FileError> {
        let header = segment.header();
        let timeline = segment.timeline()?;
        let mut gaps = Vec::new();
        for (index, item) in segment.items(&self.context, false)? {
            let index = index as usize;
            let received = timeline.received[index];
            let previous = match index.checked_sub(1) {
                Some(before) => Some(timeline.received[before]),
                None => (header.first > 0).then_some(header.time_before),
            };
            let Some(from) = gap_start(&item, received, previous) else { continue };
            let (resource, namespace) = match item {
                Item::Mark(mark) => (Some(mark.resource), mark.namespace),
                _ => (None, Arc::from("")),
            };
            gaps.push(Gap { from: time_of(from), to: time_of(received), resource, namespace });
        }
        Ok(gaps)
    }
}
