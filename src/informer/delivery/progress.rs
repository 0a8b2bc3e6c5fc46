//! Sync progress: whether the informer has synced, and how many initial notifications a handler still has to handle.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::watch;

/// The sync state of an informer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SyncState {
    Waiting,
    /// The initial state is in the store.
    Synced,
    /// The informer ended before it synced.
    Ended,
}

/// A flag that the informer sets once and any number of tasks wait for. A watch channel, so that a task that starts to wait
/// after the change returns at once.
#[derive(Debug)]
pub(in crate::informer) struct Synced(watch::Sender<SyncState>);

impl Synced {
    pub(in crate::informer) fn new() -> Self {
        Self(watch::Sender::new(SyncState::Waiting))
    }

    pub(in crate::informer) fn set(&self) {
        self.set_state(SyncState::Synced);
    }

    pub(in crate::informer) fn end(&self) {
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

    pub(in crate::informer) fn is_set(&self) -> bool {
        *self.0.borrow() == SyncState::Synced
    }

    /// Waits until the informer has synced. Returns `false` if it ended before.
    pub(in crate::informer) async fn wait(&self) -> bool {
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

/// The number of initial notifications that one handler still has to handle. It is incremented under the queue's lock, when
/// the handler is selected as a recipient, and decremented when the handler returns. Therefore it only decreases once the
/// informer has synced.
#[derive(Debug, Default)]
pub(in crate::informer) struct Progress {
    remaining: watch::Sender<Remaining>,
    /// Notifications that were merged into others. Relaxed: a statistic that orders nothing.
    coalesced: AtomicU64,
}

impl Progress {
    pub(in crate::informer) fn add_coalesced(&self, notifications: u64) {
        self.coalesced.fetch_add(notifications, Ordering::Relaxed);
    }

    pub(in crate::informer) fn coalesced(&self) -> u64 {
        self.coalesced.load(Ordering::Relaxed)
    }

    pub(in crate::informer) fn expect(&self, notifications: usize) {
        self.remaining.send_modify(|remaining| remaining.notifications += notifications);
    }

    pub(in crate::informer) fn handled_one(&self) {
        self.remaining
            .send_modify(|remaining| remaining.notifications = remaining.notifications.saturating_sub(1));
    }

    /// Records that the handler has ended. The remaining notifications stay unhandled.
    pub(in crate::informer) fn end(&self) {
        self.remaining.send_modify(|remaining| remaining.ended = true);
    }

    /// Waits until the handler has ended.
    pub(in crate::informer) async fn wait_for_end(&self) {
        let mut remaining = self.remaining.subscribe();
        // The sender lives as long as `self`, so there is no error to handle.
        let _ended = remaining.wait_for(|remaining| remaining.ended).await;
    }

    pub(in crate::informer) fn is_done(&self) -> bool {
        self.remaining.borrow().notifications == 0
    }

    /// Waits until every initial notification was handled. Returns `false` if the handler ended before.
    pub(in crate::informer) async fn wait(&self) -> bool {
        let mut remaining = self.remaining.subscribe();
        let settled = remaining.wait_for(|remaining| remaining.notifications == 0 || remaining.ended).await;
        settled.is_ok_and(|remaining| remaining.notifications == 0)
    }
}

/// A flag that is set while the single handler of an informer processes initial notifications. It is set under the queue's
/// lock, and therefore only cleared once the queue has synced.
#[derive(Debug, Default)]
pub(in crate::informer) struct InitialDelivery(AtomicBool);

impl InitialDelivery {
    /// Marks the delivery as in progress. Relaxed: readers take the queue's lock before they read the flag.
    pub(in crate::informer) fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Marks the delivery as done. Release: readers of the flag also see the effects of the handler.
    pub(in crate::informer) fn end(&self) {
        self.0.store(false, Ordering::Release);
    }

    pub(in crate::informer) fn is_done(&self) -> bool {
        !self.0.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::informer::Registration;
    use crate::informer::delivery::listener::channel;

    // I25
    #[tokio::test]
    async fn a_handler_has_synced_when_the_informer_has_and_nothing_initial_remains() {
        for (upstream, started, finished, synced) in [
            (false, 1, 1, false),
            (false, 1, 0, false),
            (true, 1, 0, false),
            (true, 1, 1, true),
            (true, 0, 0, true),
            (true, 100, 99, false),
            (true, 100, 100, true),
        ] {
            let backlog = channel(1, 1).0.backlog();
            let (progress, synced_informer) = (Arc::default(), Arc::new(Synced::new()));
            let registration = Registration { progress, synced: synced_informer, backlog };
            registration.progress.expect(started);
            if upstream {
                registration.synced.set();
            }
            (0..finished).for_each(|_| registration.progress.handled_one());
            assert_eq!(registration.has_synced(), synced, "{upstream} {started} {finished}");
            registration.progress.end();
            registration.synced.end();
            assert_eq!(registration.synced().await, synced, "the end wakes the waiting task");
        }
    }
}
