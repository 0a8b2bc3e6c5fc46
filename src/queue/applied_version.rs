//! The newest version up to which all deltas have been popped.

use std::collections::VecDeque;

use crate::object::ResourceVersion;

/// Versions of the source, each due once all entries that were queued before it have been popped. A queue that never
/// becomes empty therefore reports versions too.
///
/// Bounded by the number of queued entries plus one.
#[derive(Debug, Default)]
pub(super) struct VersionTracker {
    /// The number of entries popped since the start.
    popped: u64,
    /// The pop count at which each version is due, oldest first.
    pending: VecDeque<(u64, ResourceVersion)>,
}

impl VersionTracker {
    /// Records that everything up to this version has been queued, with `entries` entries in the queue.
    pub(super) fn record(&mut self, version: ResourceVersion, entries: usize) {
        let due = self.popped + entries as u64;
        match self.pending.back_mut() {
            Some((at, last)) if *at == due => *last = version,
            _ => self.pending.push_back((due, version)),
        }
    }

    /// Records entries that were popped or dropped.
    pub(super) fn record_pops(&mut self, entries: usize) {
        self.popped += entries as u64;
    }

    /// Returns true if a version is due.
    pub(super) fn has_due(&self) -> bool {
        self.pending.front().is_some_and(|(at, _)| *at <= self.popped)
    }

    /// Removes and returns the newest version that is due.
    pub(super) fn take_due(&mut self) -> Option<ResourceVersion> {
        let mut newest = None;
        while self.has_due() {
            newest = self.pending.pop_front().map(|(_, version)| version);
        }
        newest
    }

    /// Makes a taken version due again after `entries` more entries, unless a newer one is pending.
    pub(super) fn restore(&mut self, version: Option<ResourceVersion>, entries: usize) {
        if let Some(version) = version.filter(|_| self.pending.is_empty()) {
            self.record(version, entries);
        }
    }
}
