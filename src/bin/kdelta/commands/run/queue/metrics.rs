//! The counters of a run.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Counters of calls and waiting lines. For display only, hence relaxed.
#[derive(Debug, Default)]
pub(crate) struct RunMetrics {
    /// Calls that succeeded.
    pub(crate) calls_succeeded: AtomicU64,
    /// Calls that failed, but for those in `calls_timed_out`.
    pub(crate) calls_failed: AtomicU64,
    /// Calls that were killed because their time was over.
    pub(crate) calls_timed_out: AtomicU64,
    /// Calls that are being run.
    pub(crate) calls_running: AtomicUsize,
    /// Lines of successful calls.
    pub(crate) lines_handled: AtomicU64,
    /// Lines whose calls all failed.
    pub(crate) lines_given_up: AtomicU64,
    /// Lines that were merged into later ones.
    pub(crate) lines_merged: AtomicU64,
    /// Lines that were queued for another call.
    pub(crate) retries: AtomicU64,
    /// Lines that wait or are being run, and their bytes.
    pub(crate) queued_lines: AtomicUsize,
    pub(crate) queued_bytes: AtomicUsize,
    /// The highest number of queued lines.
    pub(crate) most_queued_lines: AtomicUsize,
    /// The longest time that a line waited for its first call, in milliseconds.
    pub(crate) longest_wait: AtomicU64,
}

impl RunMetrics {
    pub(super) fn count_finished(&self, is_given_up: bool) {
        let counter = if is_given_up { &self.lines_given_up } else { &self.lines_handled };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_merged(&self) {
        self.lines_merged.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_retry(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn set_queued(&self, lines: usize, bytes: usize) {
        self.queued_lines.store(lines, Ordering::Relaxed);
        self.queued_bytes.store(bytes, Ordering::Relaxed);
        self.most_queued_lines.fetch_max(lines, Ordering::Relaxed);
    }

    pub(super) fn record_wait(&self, wait: Duration) {
        let milliseconds = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        self.longest_wait.fetch_max(milliseconds, Ordering::Relaxed);
    }

    /// Whether the calls of any line all failed.
    pub(in crate::commands::run) fn has_given_up(&self) -> bool {
        self.lines_given_up.load(Ordering::Relaxed) > 0
    }
}

/// Formats the summary on one line.
impl fmt::Display for RunMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        write!(
            f,
            "{} handled, {} retried, {} failed, {} merged, {} not run; longest wait {:.1}s, at most {} waiting",
            load(&self.lines_handled),
            load(&self.retries),
            load(&self.lines_given_up),
            load(&self.lines_merged),
            self.queued_lines.load(Ordering::Relaxed),
            Duration::from_millis(load(&self.longest_wait)).as_secs_f64(),
            self.most_queued_lines.load(Ordering::Relaxed),
        )
    }
}
