//! How far things have come: whether the informer has synced, and how many initial notifications a handler has remaining.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::watch;

/// Whether the initial state is in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SyncState {
    Waiting,
    Synced,
    /// It ended before.
    Ended,
}

/// Set once, by the informer; any number of tasks wait for it. A watch channel, because a value that is there before
/// somebody looks must be seen as well.
#[derive(Debug)]
pub(super) struct Synced(watch::Sender<SyncState>);

impl Synced {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(SyncState::Waiting))
    }

    pub(super) fn set(&self) {
        self.set_state(SyncState::Synced);
    }

    pub(super) fn end(&self) {
        self.set_state(SyncState::Ended);
    }

    fn set_state(&self, to: SyncState) {
        self.0.send_if_modified(|state| {
            let waiting = *state == SyncState::Waiting;
            if waiting {
                *state = to;
            }
            waiting
        });
    }

    pub(super) fn is_set(&self) -> bool {
        *self.0.borrow() == SyncState::Synced
    }

    /// Waits; `false` when the end came first.
    pub(super) async fn wait(&self) -> bool {
        let mut state = self.0.subscribe();
        let settled = state.wait_for(|state| *state != SyncState::Waiting).await;
        settled.is_ok_and(|state| *state == SyncState::Synced)
    }
}

#[derive(Debug, Default)]
struct Remaining {
    notifications: usize,
    ended: bool,
}

/// How many initial notifications one handler has remaining. It goes up under the queue's lock, when the handler is chosen
/// to be told, and down when the handler is done; so once the informer has synced it only goes down.
#[derive(Debug, Default)]
pub(super) struct Progress {
    remaining: watch::Sender<Remaining>,
    /// Notifications that were merged into others. A number to look at: nothing hangs on its order.
    coalesced: AtomicU64,
}

impl Progress {
    pub(super) fn add_coalesced(&self, notifications: u64) {
        self.coalesced.fetch_add(notifications, Ordering::Relaxed);
    }

    pub(super) fn coalesced(&self) -> u64 {
        self.coalesced.load(Ordering::Relaxed)
    }

    pub(super) fn expect(&self, notifications: usize) {
        self.remaining.send_modify(|remaining| remaining.notifications += notifications);
    }

    pub(super) fn handled_one(&self) {
        self.remaining
            .send_modify(|remaining| remaining.notifications = remaining.notifications.saturating_sub(1));
    }

    /// The handler is gone: whatever is remaining stays.
    pub(super) fn end(&self) {
        self.remaining.send_modify(|remaining| remaining.ended = true);
    }

    /// Waits until the handler is gone.
    pub(super) async fn wait_for_end(&self) {
        let mut remaining = self.remaining.subscribe();
        // The sender lives as long as `self`, so there is no error to handle.
        let _ended = remaining.wait_for(|remaining| remaining.ended).await;
    }

    pub(super) fn is_done(&self) -> bool {
        self.remaining.borrow().notifications == 0
    }

    /// Waits; `false` when the handler was gone first.
    pub(super) async fn wait(&self) -> bool {
        let mut remaining = self.remaining.subscribe();
        let settled = remaining.wait_for(|remaining| remaining.notifications == 0 || remaining.ended).await;
        settled.is_ok_and(|remaining| remaining.notifications == 0)
    }
}

/// Whether part of the initial state was popped that the only handler has not returned from. It is set under the queue's
/// lock; so once the queue has synced it is only cleared.
#[derive(Debug, Default)]
pub(super) struct InitialDelivery(AtomicBool);

impl InitialDelivery {
    /// Relaxed: whoever asks has taken the queue's lock before.
    pub(super) fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// What the handler did is seen by whoever sees this.
    pub(super) fn end(&self) {
        self.0.store(false, Ordering::Release);
    }

    pub(super) fn is_done(&self) -> bool {
        !self.0.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::informer::Registration;

    // I25
    #[tokio::test]
    async fn a_handler_has_synced_when_the_informer_has_and_nothing_initial_is_left() {
        for (upstream, started, finished, synced) in [
            (false, 1, 1, false),
            (false, 1, 0, false),
            (true, 1, 0, false),
            (true, 1, 1, true),
            (true, 0, 0, true),
            (true, 100, 99, false),
            (true, 100, 100, true),
        ] {
            let registration = Registration { progress: Arc::default(), synced: Arc::new(Synced::new()) };
            registration.progress.expect(started);
            if upstream {
                registration.synced.set();
            }
            (0..finished).for_each(|_| registration.progress.handled_one());
            assert_eq!(registration.has_synced(), synced, "{upstream} {started} {finished}");
            registration.progress.end();
            registration.synced.end();
            assert_eq!(registration.synced().await, synced, "whoever waits is told");
        }
    }
}
