//! The observed time of an excerpt: its entries alone do not show until when a recorder was running.

use jiff::Timestamp;

use crate::recording::entry::Gap;
use crate::recording::error::RecordingError;
use crate::recording::reader::Recording;

/// The times in a range at which recorders stopped.
#[derive(Debug)]
pub(super) struct ObservedTime {
    /// The times without a recorder, in order.
    unobserved: Vec<Gap>,
    end: Option<Timestamp>,
}

impl ObservedTime {
    /// Reads the observed time up to `until`, or to the end. Damaged parts are left out: they hide entries, too.
    pub(super) fn read(recording: &Recording, until: Option<Timestamp>) -> Result<Self, RecordingError> {
        let mut unobserved = recording.readable_gaps()?;
        unobserved.retain(|gap| gap.resource.is_none());
        let end = recording.end().map(|end| until.map_or(end, |until| until.min(end)));
        let end = end.map(|end| {
            let gap = unobserved.iter().find(|gap| gap.from < end && end < gap.to);
            gap.map_or(end, |gap| gap.from)
        });
        Ok(Self { unobserved, end })
    }

    /// Returns the time of the last observation before a recorder started; `None` for the first one.
    pub(super) fn before_start(&self, started: Timestamp) -> Option<Timestamp> {
        self.unobserved.iter().find(|gap| gap.to == started).map(|gap| gap.from)
    }

    /// Returns the last observed time.
    pub(super) fn end(&self) -> Option<Timestamp> {
        self.end
    }
}
