//! The options of a writer.

use std::time::Duration;

/// Options of a [`Writer`](super::Writer).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriterOptions {
    /// The time for which entries are kept. Whole segments are dropped, so that the recording covers at least this time.
    /// `None` keeps all.
    pub keep: Option<Duration>,
    /// The size of all files in bytes above which the oldest segments are dropped. `None` for no limit.
    pub max_size: Option<u64>,
    /// The age at which a segment is sealed.
    pub seal_after: Duration,
    /// The number of entries at which a segment is sealed.
    pub seal_entries: usize,
    /// The size of a journal's entries in bytes, before compression, at which its segment is sealed. Reading and
    /// sealing a journal need this much memory.
    pub seal_bytes: usize,
    /// Whether a flush waits until the written data is on disk. Without it, a power failure may lose more than the
    /// last second.
    pub sync: bool,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self {
            keep: None,
            max_size: None,
            seal_after: Duration::from_mins(30),
            seal_entries: 200_000,
            seal_bytes: 16 << 20,
            sync: true,
        }
    }
}

setters!(WriterOptions {
    keep: Option<Duration>,
    max_size: Option<u64>,
    seal_after: Duration,
    seal_entries: usize,
    seal_bytes: usize,
    sync: bool,
});
