//! Progress of the initial list through a queue.

/// Counts the items of the initial list that are still to be popped. Once synced, it stays synced.
#[derive(Debug, Default)]
pub(super) struct InitialSync {
    has_started: bool,
    remaining: usize,
}

impl InitialSync {
    /// Records a live event. If it precedes the first list, there is no initial list to wait for.
    pub(super) fn record_event(&mut self) {
        self.has_started = true;
    }

    /// Records a complete list with `queued` items to pop. Only the first list counts; a later one can only lower the
    /// rest, because a queue that drops older states may hold fewer items of it.
    pub(super) fn record_list(&mut self, queued: usize) {
        if self.has_started {
            self.remaining = self.remaining.min(queued);
        } else {
            self.has_started = true;
            self.remaining = queued;
        }
    }

    /// Records a popped item. Called before the item is processed, so that a process function that panics does not
    /// leave the queue unsynced. The lock, which the caller holds, hides the difference.
    pub(super) fn record_pop(&mut self) {
        if self.has_started {
            self.remaining = self.remaining.saturating_sub(1);
        }
    }

    pub(super) fn has_synced(&self) -> bool {
        self.has_started && self.remaining == 0
    }
}
