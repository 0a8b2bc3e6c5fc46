//! What a question cost, on stderr: `--stats`.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kdelta::store::{Indexer, Memory};

use crate::output::Messages;
use crate::session::{PartSource, ReceivedCount, Session};

/// What is counted until the end; nothing unless it was asked for.
pub(super) struct Stats {
    began: Option<Instant>,
    arrived: Vec<Arc<ReceivedCount>>,
    held: Option<Memory>,
}

impl Stats {
    pub(super) fn new(asked: bool) -> Self {
        Self { began: asked.then(Instant::now), arrived: Vec::new(), held: None }
    }

    /// This source's objects count.
    pub(super) fn listen(&mut self, source: &PartSource) {
        if self.began.is_some() {
            self.arrived.push(source.received_count());
        }
    }

    /// What this indexer takes counts.
    pub(super) fn hold(&mut self, indexer: &dyn Indexer) {
        if self.began.is_some() {
            *self.held.get_or_insert_default() += indexer.memory();
        }
    }

    /// Says what it cost.
    pub(super) fn tell(&self, session: &Session, messages: &Messages) {
        let Some(began) = self.began else { return };
        let objects: u64 = self.arrived.iter().map(|arrived| arrived.count()).sum();
        let first = self.arrived.iter().filter_map(|arrived| arrived.first_at()).min();
        let first = first.map(|first| first.saturating_duration_since(began));
        messages.notice(&came(objects, first, began.elapsed(), session.received()));
        if let Some(held) = &self.held {
            messages.notice(&format!("held: {held}"));
        }
        if let Some(peak) = peak() {
            messages.notice(&format!("peak memory: {peak}"));
        }
    }
}

fn came(objects: u64, first: Option<Duration>, all: Duration, received: u64) -> String {
    let mut line = format!("came: {objects} objects in {:.3}s", all.as_secs_f64());
    if let Some(first) = first {
        // Writing to a String does not fail.
        let _ = write!(line, ", the first after {:.3}s", first.as_secs_f64());
    }
    let _ = write!(line, "; {received} bytes");
    line
}

/// The most memory that this process has ever had resident, as Linux tells it (`31044 kB`).
fn peak() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_came_has_no_first() {
        let second = Duration::from_secs(1);
        assert_eq!(came(0, None, second, 312), "came: 0 objects in 1.000s; 312 bytes");
        assert_eq!(
            came(20, Some(second / 8), second, 70_000),
            "came: 20 objects in 1.000s, the first after 0.125s; 70000 bytes"
        );
    }
}
