//! `--stats`: the cost of a command, on stderr.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kdelta::store::{Indexer, Memory};

use crate::output::Messages;
use crate::session::{PartSource, ReceivedCount, Session};

/// Statistics collected until the end of the command; empty unless enabled.
pub(super) struct Stats {
    began: Option<Instant>,
    received: Vec<Arc<ReceivedCount>>,
    memory: Option<Memory>,
}

impl Stats {
    pub(super) fn new(enabled: bool) -> Self {
        Self { began: enabled.then(Instant::now), received: Vec::new(), memory: None }
    }

    /// Includes the objects of a source.
    pub(super) fn add_source(&mut self, source: &PartSource) {
        if self.began.is_some() {
            self.received.push(source.received_count());
        }
    }

    /// Includes the memory of an indexer.
    pub(super) fn add_memory(&mut self, indexer: &dyn Indexer) {
        if self.began.is_some() {
            *self.memory.get_or_insert_default() += indexer.memory();
        }
    }

    /// Prints the statistics.
    pub(super) fn report(&self, session: &Session, messages: &Messages) {
        let Some(began) = self.began else { return };
        let objects: u64 = self.received.iter().map(|received| received.count()).sum();
        let first = self.received.iter().filter_map(|received| received.first_at()).min();
        let first = first.map(|first| first.saturating_duration_since(began));
        messages.notice(&received_line(objects, first, began.elapsed(), session.received(), session.sent()));
        if let Some(memory) = &self.memory {
            messages.notice(&format!("in memory: {memory}"));
        }
        if let Some(peak) = peak() {
            messages.notice(&format!("peak memory: {peak}"));
        }
    }
}

fn received_line(objects: u64, first: Option<Duration>, all: Duration, bytes: u64, requests: u64) -> String {
    let mut line = format!("received: {objects} objects in {:.3}s", all.as_secs_f64());
    if let Some(first) = first {
        // Writing to a String can't fail.
        let _ = write!(line, ", the first after {:.3}s", first.as_secs_f64());
    }
    let plural = if requests == 1 { "" } else { "s" };
    let _ = write!(line, "; {bytes} bytes in {requests} request{plural}");
    line
}

/// Returns the peak resident memory of this process as Linux reports it (`31044 kB`).
fn peak() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_line_omits_first_without_objects() {
        let second = Duration::from_secs(1);
        assert_eq!(
            received_line(0, None, second, 312, 1),
            "received: 0 objects in 1.000s; 312 bytes in 1 request"
        );
        assert_eq!(
            received_line(20, Some(second / 8), second, 70_000, 3),
            "received: 20 objects in 1.000s, the first after 0.125s; 70000 bytes in 3 requests"
        );
    }
}
