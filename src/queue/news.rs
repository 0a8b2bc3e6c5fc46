//! Up to which version everything has been popped.

use std::collections::VecDeque;

use crate::object::ResourceVersion;

/// What was heard of versions, each waiting for the places that stood in line then: once those have been popped,
/// everything up to that version has been. A line that never becomes empty so has news all the same.
///
/// At most one version waits for each place in line.
#[derive(Debug, Default)]
pub(super) struct News {
    /// How many places have been popped, ever.
    popped: u64,
    /// How many must have been popped for each version, oldest first.
    waiting: VecDeque<(u64, ResourceVersion)>,
}

impl News {
    /// Everything up to this version has been queued, and so many places stand in line.
    pub(super) fn heard(&mut self, version: ResourceVersion, places: usize) {
        let due = self.popped + places as u64;
        match self.waiting.back_mut() {
            Some((at, last)) if *at == due => *last = version,
            _ => self.waiting.push_back((due, version)),
        }
    }

    /// So many places were popped, or have gone.
    pub(super) fn popped(&mut self, places: usize) {
        self.popped += places as u64;
    }

    /// Whether there is something to tell.
    pub(super) fn is_due(&self) -> bool {
        self.waiting.front().is_some_and(|(at, _)| *at <= self.popped)
    }

    /// The newest version that can be told.
    pub(super) fn take(&mut self) -> Option<ResourceVersion> {
        let mut newest = None;
        while self.is_due() {
            newest = self.waiting.pop_front().map(|(_, version)| version);
        }
        newest
    }

    /// What was taken is to be told again, after so many places, unless there is something newer to be told.
    pub(super) fn put_back(&mut self, version: Option<ResourceVersion>, places: usize) {
        if let Some(version) = version.filter(|_| self.waiting.is_empty()) {
            self.heard(version, places);
        }
    }
}
