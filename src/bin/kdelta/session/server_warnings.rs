//! The number of warnings that the servers of a session have sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A count of warnings, shared by clones. Each text of a server counts once, as in kubectl.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerWarnings {
    /// Relaxed: read after the requests whose warnings it counts.
    count: Arc<AtomicUsize>,
}

impl ServerWarnings {
    /// Counts a warning.
    pub(super) fn add(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of warnings so far.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}
