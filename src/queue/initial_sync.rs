//! When the initial state has been popped.

/// Counts down the initial state. Latches: once synced, always synced.
#[derive(Debug, Default)]
pub(super) struct InitialSync {
    has_started: bool,
    remaining: usize,
}

impl InitialSync {
    /// Something other than a list came first: there is no initial state to wait for.
    pub(super) fn record_event(&mut self) {
        self.has_started = true;
    }

    /// A complete list came, after which `queued` pops are to be done. Only the first one counts, except that no more
    /// can be waited for than is queued: a queue that forgets may hold less of a later list.
    pub(super) fn record_list(&mut self, queued: usize) {
        if self.has_started {
            self.remaining = self.remaining.min(queued);
        } else {
            self.has_started = true;
            self.remaining = queued;
        }
    }

    /// Something was popped. Told before it is processed, so that a process function that panics does not leave the
    /// queue unsynced for ever; the lock that is held hides the difference.
    pub(super) fn record_pop(&mut self) {
        if self.has_started {
            self.remaining = self.remaining.saturating_sub(1);
        }
    }

    pub(super) fn has_synced(&self) -> bool {
        self.has_started && self.remaining == 0
    }
}
