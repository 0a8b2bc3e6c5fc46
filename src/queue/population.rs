//! When the initial state has been popped.

/// Counts down the initial state. Latches: once synced, always synced.
#[derive(Debug, Default)]
pub(super) struct Population {
    populated: bool,
    initial_left: usize,
}

impl Population {
    /// Something other than a list came first: there is no initial state to wait for.
    pub(super) fn event(&mut self) {
        self.populated = true;
    }

    /// A complete list came, after which `queued` pops are to be done. Only the first one counts, except that no more
    /// can be waited for than is queued: a queue that forgets may hold less of a later list.
    pub(super) fn list(&mut self, queued: usize) {
        if self.populated {
            self.initial_left = self.initial_left.min(queued);
        } else {
            self.populated = true;
            self.initial_left = queued;
        }
    }

    /// Something was popped. Told before it is processed, so that a process function that panics does not leave the
    /// queue unsynced for ever; the lock that is held hides the difference.
    pub(super) fn popped(&mut self) {
        if self.populated {
            self.initial_left = self.initial_left.saturating_sub(1);
        }
    }

    pub(super) fn has_synced(&self) -> bool {
        self.populated && self.initial_left == 0
    }
}
