//! The log of recent changes, bounded by number, size and age. Older changes are compacted.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use crate::server::source::{Change, Compacted};

/// The maximum length of the log, which bounds the memory of a busy server.
pub(super) const MAX_LOG_LENGTH: usize = 8192;

/// The maximum size of the objects in the log, before and after each change.
pub(super) const MAX_LOG_SIZE: usize = 64 << 20;

/// The maximum age of changes in the log, as on a real server.
const MAX_LOG_AGE: Duration = Duration::from_mins(5);

/// The changes after the compacted version, in order.
#[derive(Default)]
pub(super) struct ChangeLog {
    entries: VecDeque<LogEntry>,
    /// The size of the objects in `entries`.
    size: usize,
    /// The version up to which changes are compacted.
    compacted: u64,
}

/// A change in the log.
struct LogEntry {
    change: Change,
    /// The time of the change by tokio's clock, which tests can pause.
    at: Instant,
}

impl LogEntry {
    fn size(&self) -> usize {
        self.change.new.json.len() + self.change.old.as_ref().map_or(0, |old| old.json.len())
    }
}

impl ChangeLog {
    /// Adds a change, and compacts those beyond the limits.
    pub(super) fn push(&mut self, change: Change, now: Instant) {
        let entry = LogEntry { change, at: now };
        self.size += entry.size();
        self.entries.push_back(entry);
        let is_old = |entry: &LogEntry| now.duration_since(entry.at) > MAX_LOG_AGE;
        while self.entries.len() > MAX_LOG_LENGTH
            || self.size > MAX_LOG_SIZE
            || self.entries.front().is_some_and(is_old)
        {
            let Some(dropped) = self.entries.pop_front() else { break };
            self.size -= dropped.size();
            self.compacted = dropped.change.version;
        }
    }

    /// Compacts all changes up to the latest version.
    pub(super) fn compact(&mut self, latest: u64) {
        self.compacted = latest;
        self.entries.clear();
        self.size = 0;
    }

    /// Returns the changes after a version, the latest first.
    pub(super) fn since(&self, version: u64) -> Result<impl Iterator<Item = &Change>, Compacted> {
        self.check(version)?;
        let changes = self.entries.iter().map(|entry| &entry.change).rev();
        Ok(changes.take_while(move |change| change.version > version))
    }

    /// Returns at most `limit` changes after a version, the earliest first, and the version up to which they are
    /// complete: `latest` if none is left out.
    pub(super) fn after(
        &self,
        version: u64,
        limit: usize,
        latest: u64,
    ) -> Result<(impl Iterator<Item = &Change>, u64), Compacted> {
        self.check(version)?;
        let from = self.entries.partition_point(|entry| entry.change.version <= version);
        let to = self.entries.len().min(from + limit);
        let last = if to == self.entries.len() { latest } else { self.entries[to].change.version - 1 };
        Ok((self.entries.range(from..to).map(|entry| &entry.change), last.max(version)))
    }

    /// Checks that the changes after a version are still in the log.
    fn check(&self, version: u64) -> Result<(), Compacted> {
        if version < self.compacted { Err(Compacted { oldest: self.compacted }) } else { Ok(()) }
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.size
    }

    #[cfg(test)]
    pub(super) fn compacted(&self) -> u64 {
        self.compacted
    }
}
