//! The state that the thread of a recording and the watch share: the load of the queue, and the figures.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use super::progress::Figures;

/// The limits of waiting messages: above either, the watch is not read. It reads up to 256 events or 8 MiB at a time.
const MAX_MESSAGES: usize = 2048;
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The shared state.
#[derive(Default)]
pub(crate) struct SharedState {
    /// The waiting messages and their bytes. Relaxed: the queue orders the messages, and the limits are approximate.
    messages: AtomicUsize,
    bytes: AtomicUsize,
    /// Notified when a message was handled.
    room: Notify,
    /// A std mutex: held for a copy.
    figures: Mutex<Figures>,
}

impl SharedState {
    /// Records that a message of this weight is queued.
    pub(super) fn queued(&self, weight: usize) {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(weight, Ordering::Relaxed);
    }

    /// Records that a message of this weight was handled.
    pub(super) fn handled(&self, weight: usize) {
        self.messages.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(weight, Ordering::Relaxed);
        self.room.notify_one();
    }

    /// Returns whether messages wait.
    pub(super) fn has_waiting(&self) -> bool {
        self.messages.load(Ordering::Relaxed) > 0
    }

    /// Waits until there is room for more messages. Cancel safe.
    pub(super) async fn ready(&self) {
        while self.messages.load(Ordering::Relaxed) >= MAX_MESSAGES
            || self.bytes.load(Ordering::Relaxed) >= MAX_BYTES
        {
            self.room.notified().await;
        }
    }

    /// Returns the figures of the last flush.
    pub(super) fn figures(&self) -> Figures {
        *self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the figures.
    pub(super) fn set_figures(&self, figures: Figures) {
        *self.figures.lock().unwrap_or_else(PoisonError::into_inner) = figures;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn watch_waits_while_the_queue_is_full() {
        let state = SharedState::default();
        state.queued(MAX_BYTES);
        assert!(state.ready().now_or_never().is_none() && state.has_waiting());
        state.handled(MAX_BYTES);
        assert!(state.ready().now_or_never().is_some() && !state.has_waiting());
        (0..MAX_MESSAGES).for_each(|_| state.queued(1));
        assert!(state.ready().now_or_never().is_none());
        state.handled(1);
        assert!(state.ready().now_or_never().is_some());
    }
}
