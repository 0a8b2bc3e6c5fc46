//! Up to which version everything has been popped.

use std::collections::VecDeque;

use crate::object::ResourceVersion;

/// What was heard of versions, each waiting for the places that stood in line then: once those have been popped,
/// everything up to that version has been. A line that never becomes empty so has news all the same.
///
/// At most one version waits for each place in line.
#[derive(Debug, Default)]
pub(super) struct VersionTracker {
    /// How many places have been popped, ever.
    popped: u64,
    /// How many must have been popped for each version, oldest first.
    pending: VecDeque<(u64, ResourceVersion)>,
}

impl VersionTracker {
    /// Everything up to this version has been queued, and so many places stand in line.
    pub(super) fn record(&mut self, version: ResourceVersion, entries: usize) {
        let due = self.popped + entries as u64;
        match self.pending.back_mut() {
            Some((at, last)) if *at == due => *last = version,
            _ => self.pending.push_back((due, version)),
        }
    }

    /// So many places were popped, or have gone.
    pub(super) fn record_pops(&mut self, entries: usize) {
        self.popped += entries as u64;
    }

    /// Whether there is something to tell.
    pub(super) fn has_due(&self) -> bool {
        self.pending.front().is_some_and(|(at, _)| *at <= self.popped)
    }

    /// The newest version that can be told.
    pub(super) fn take_due(&mut self) -> Option<ResourceVersion> {
        let mut newest = None;
        while self.has_due() {
            newest = self.pending.pop_front().map(|(_, version)| version);
        }
        newest
    }

    /// What was taken is to be told again, after so many places, unless there is something newer to be told.
    pub(super) fn restore(&mut self, version: Option<ResourceVersion>, entries: usize) {
        if let Some(version) = version.filter(|_| self.pending.is_empty()) {
            self.record(version, entries);
        }
    }
}
