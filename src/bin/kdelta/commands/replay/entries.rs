//! The entries of several recordings in one order of time.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kdelta::recording::{Entries, Entry, EntryFilter, RecordingError};

use super::replayed_part::ReplayedPart;
use crate::commands::recorded::RecordedRange;

/// The entries of the selected types and namespaces of all recordings.
pub(super) struct MergedEntries {
    /// The entries of each recording, with the next one.
    recordings: Vec<(Option<Result<Entry, RecordingError>>, Entries)>,
}

impl MergedEntries {
    /// Opens the entries of the parts.
    ///
    /// # Errors
    /// A recording can't be read.
    pub(super) fn open(ranges: &[RecordedRange], parts: &[ReplayedPart]) -> anyhow::Result<Self> {
        let mut recordings = Vec::new();
        for (cluster, range) in ranges.iter().enumerate() {
            let own: Vec<&ReplayedPart> =
                parts.iter().filter(|replayed| replayed.part.cluster == cluster).collect();
            let mut resources = Vec::new();
            for replayed in &own {
                for resource in &replayed.resources {
                    if !resources.contains(&**resource) {
                        resources.push((**resource).clone());
                    }
                }
            }
            let namespaces: BTreeSet<&str> = own.iter().map(|replayed| &*replayed.part.namespace).collect();
            // The part of a cluster-scoped type, or of all namespaces, has none.
            let namespaces =
                (!namespaces.contains("")).then(|| namespaces.into_iter().map(str::to_owned).collect());
            let filter = EntryFilter { resources: Some(resources), namespaces };
            let mut entries = range.recording.entries(range.since, range.until, filter)?;
            recordings.push((entries.next(), entries));
        }
        Ok(Self { recordings })
    }

    /// Returns the time of the next entry, or that of the entry after an error; `None` at the end.
    pub(super) fn next_time(&self) -> Option<Timestamp> {
        self.next_recording().map(|(time, _)| time)
    }

    /// Returns the next entry with the number of its recording.
    pub(super) fn pop(&mut self) -> Option<(usize, Result<Entry, RecordingError>)> {
        let (_, cluster) = self.next_recording()?;
        let (next, entries) = self.recordings.get_mut(cluster)?;
        Some((cluster, std::mem::replace(next, entries.next())?))
    }

    /// Errors come first: they have no time.
    fn next_recording(&self) -> Option<(Timestamp, usize)> {
        let times = self.recordings.iter().enumerate().filter_map(|(cluster, (next, _))| match next {
            Some(Ok(entry)) => Some((entry.received, cluster)),
            Some(Err(_)) => Some((Timestamp::MIN, cluster)),
            None => None,
        });
        times.min()
    }
}
