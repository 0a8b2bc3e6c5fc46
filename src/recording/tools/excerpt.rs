//! Excerpts: the entries of a range, from which a complete recording can be written.

use std::collections::VecDeque;
use std::fmt;

use jiff::Timestamp;

pub(super) use super::beginning::positions;
use super::beginning::{Beginning, restricted};
use super::observed::ObservedTime;
use crate::recording::entry::{EntryFilter, Item};
use crate::recording::error::RecordingError;
use crate::recording::reader::{Entries, Recording};

/// The entries of a range, complete without earlier ones: if entries precede the range, it begins with the state at
/// its beginning, as documents, added objects and SYNCED marks with the time of the beginning. Gaps in which it begins go on:
/// the ERROR marks of watches that had ended follow their SYNCED marks; if other watches did not run, the start of a recorder
/// follows the state, and the SYNCED marks of those that ran.
///
/// A mark of all namespaces becomes one of each selected namespace. After a damaged part the iterator returns one error
/// and continues at the next keyframe.
pub struct Excerpt {
    filter: EntryFilter,
    beginning: Option<Beginning>,
    entries: Entries,
    /// The items of the last entry, or of one type of the beginning.
    ready: VecDeque<(Timestamp, Item)>,
    observed: ObservedTime,
    /// The time of the start that is part of the beginning.
    restarted: Option<Timestamp>,
}

impl Recording {
    /// Returns the entries received after `since` and up to `until`, with the state at `since` before them. Without
    /// `since`, they begin with the recording.
    ///
    /// # Errors
    /// [`RecordingError`] when the recording is empty, when the range begins before it, or when files can't be read.
    pub fn excerpt(
        &self,
        since: Option<Timestamp>,
        until: Option<Timestamp>,
        filter: EntryFilter,
    ) -> Result<Excerpt, RecordingError> {
        let observed = ObservedTime::read(self, until)?;
        let beginning = self.beginning();
        let time = match since.or(beginning.filter(|_| self.begins_with_state())) {
            Some(time) if self.begins_with_state() || beginning.is_some_and(|beginning| beginning < time) => {
                time
            }
            Some(time) if beginning.is_some_and(|beginning| time < beginning) => {
                let beginning = beginning.unwrap_or(time);
                return Err(RecordingError::BeforeBeginning { beginning, version: None });
            }
            _ => {
                let entries = self.entries(None, until, filter.clone())?;
                let (beginning, ready) = (None, VecDeque::new());
                return Ok(Excerpt { filter, beginning, entries, ready, observed, restarted: None });
            }
        };
        let after = Timestamp::from_millisecond(time.as_millisecond() + 1).unwrap_or(time);
        let entries = self.entries(Some(after), until, filter.clone())?;
        let beginning = Beginning::read(self, time)?;
        let restarted = beginning.has_left_out(&filter).then_some(beginning.time());
        let (beginning, ready) = (Some(beginning), VecDeque::new());
        Ok(Excerpt { filter, beginning, entries, ready, observed, restarted })
    }
}

impl Excerpt {
    /// Returns the time of the last entry before a recorder started at this time, whether or not the excerpt has that entry;
    /// `None` for the first recorder.
    #[must_use]
    pub fn observed_before(&self, started: Timestamp) -> Option<Timestamp> {
        self.restarted
            .filter(|restarted| *restarted == started)
            .or_else(|| self.observed.before_start(started))
    }

    /// Returns the last time of the range at which a recorder was running. The last entry of the excerpt may be older.
    pub(super) fn observed_until(&self) -> Option<Timestamp> {
        self.observed.end()
    }
}

impl Iterator for Excerpt {
    type Item = Result<(Timestamp, Item), RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Some(Ok(item));
            }
            if let Some(beginning) = &mut self.beginning {
                match beginning.next(&self.filter, &mut self.ready) {
                    Ok(true) => {}
                    Ok(false) => self.beginning = None,
                    Err(error) => {
                        self.beginning = None;
                        return Some(Err(error));
                    }
                }
                continue;
            }
            match self.entries.next()? {
                Ok(entry) => {
                    let items = restricted(entry.item, &self.filter);
                    self.ready.extend(items.map(|item| (entry.received, item)));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Excerpt").field("entries", &self.entries).finish_non_exhaustive()
    }
}
