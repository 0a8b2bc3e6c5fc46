//! The buffer of a coalescing handler: unread notifications are merged per object.

#[cfg(test)]
mod tests;
mod unread_notifications;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::progress::Progress;
use crate::informer::Notification;
use crate::object::{Compressor, DeletedObject, Object};
use crate::queue::Mark;
use unread_notifications::UnreadNotifications;

/// The store's objects at the registration of the handler; see [`Pending::replay`].
pub(in crate::informer) type Snapshot = (Vec<Arc<Object>>, Option<Mark>);

/// The unread notifications of one handler: at most two for each object, a delete and the notification after it, and one
/// mark of each kind. The buffer is therefore bounded by the number of objects, and a sender never waits.
///
/// The merged notifications keep the promises of the module: replayed from an empty state they yield the same state, and
/// each object is added once, updated from the previously delivered state, and deleted. An object keeps its position.
#[derive(Default)]
pub(in crate::informer) struct Pending {
    /// A std mutex: it is never held across an `.await`.
    state: Mutex<State>,
    /// The bytes that were put in since the buffer was last empty. Relaxed: a rough measure of how far behind the reader is.
    bytes_since_empty: AtomicUsize,
    /// Compresses objects for a reader that is far behind: there may be as many as in the store, and they must not take more
    /// space than there.
    compressor: Option<Arc<Compressor>>,
}

/// The bytes that are buffered uncompressed.
const UNCOMPRESSED_BYTES: usize = 8 * 1024 * 1024;

#[derive(Default)]
struct State {
    snapshot: Option<Snapshot>,
    unread: UnreadNotifications,
    /// The waker of the reader, if it found nothing. Registered under the same lock as the check, so that no wake-up is
    /// lost.
    reader: Option<Waker>,
    /// Set once the sender was dropped.
    closed: bool,
    /// Set once the reader was dropped.
    abandoned: bool,
}

/// The next item for the reader.
pub(in crate::informer) enum Next {
    Snapshot(Snapshot),
    One(Notification),
    /// Nothing to read now.
    Empty,
    /// The sender was dropped and everything was read.
    End,
}

impl Pending {
    pub(in crate::informer) fn new(compressor: Option<Arc<Compressor>>) -> Self {
        Self { compressor, ..Self::default() }
    }

    /// Returns the number of unread notifications or snapshots, and the bytes that were put in since the buffer was last
    /// empty, those of merged notifications included.
    pub(in crate::informer) fn size(&self) -> (usize, usize) {
        let state = self.lock();
        let items = state.unread.len() + usize::from(state.snapshot.is_some());
        (items, if items == 0 { 0 } else { self.bytes_since_empty.load(Ordering::Relaxed) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the store's objects before everything else, as one item that is not merged with later notifications.
    pub(in crate::informer) fn replay(&self, snapshot: Snapshot) {
        self.change(|state| state.snapshot = Some(snapshot));
    }

    /// Changes the state, then releases the lock and wakes the reader.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let (result, reader) = {
            let mut state = self.lock();
            (change(&mut state), state.reader.take())
        };
        if let Some(reader) = reader {
            reader.wake();
        }
        result
    }

    /// Merges a notification into the buffer and counts the notifications that will not be delivered.
    pub(in crate::informer) fn put(&self, notification: Notification, progress: &Progress) {
        let waited = self.bytes_since_empty.fetch_add(notification.weight(), Ordering::Relaxed);
        let notification = match &self.compressor {
            Some(compressor) if waited > UNCOMPRESSED_BYTES => compressed(compressor, notification),
            _ => notification,
        };
        let merged = self.change(|state| (!state.abandoned).then(|| state.unread.put(notification)));
        let Some(merged) = merged else { return };
        progress.add_coalesced(merged.coalesced);
        if merged.removed_initial {
            progress.handled_one();
        }
    }

    pub(in crate::informer) fn close(&self) {
        self.change(|state| state.closed = true);
    }

    /// Drops the contents and all later notifications, because the reader was dropped.
    pub(in crate::informer) fn abandon(&self) {
        let contents = std::mem::replace(&mut *self.lock(), State { abandoned: true, ..State::default() });
        // Dropped after the lock is released: it may contain the last references to objects.
        drop(contents);
    }

    /// Takes the next item.
    pub(in crate::informer) fn take(&self) -> Next {
        self.next(&mut self.lock())
    }

    fn next(&self, state: &mut State) -> Next {
        let next = state.next();
        if state.unread.is_empty() {
            self.bytes_since_empty.store(0, Ordering::Relaxed);
        }
        next
    }

    /// Polls for the next item; never returns [`Next::Empty`].
    pub(in crate::informer) fn poll_take(&self, context: &mut Context<'_>) -> Poll<Next> {
        let mut state = self.lock();
        match self.next(&mut state) {
            Next::Empty => {
                state.reader = Some(context.waker().clone());
                Poll::Pending
            }
            next => Poll::Ready(next),
        }
    }
}

/// Returns the notification with compressed bodies.
fn compressed(compressor: &Compressor, notification: Notification) -> Notification {
    match notification {
        Notification::Added { object, is_in_initial_list, origin } => {
            Notification::Added { object: compressor.compress(object), is_in_initial_list, origin }
        }
        Notification::Updated { old, new, origin } => {
            Notification::Updated { old: compressor.compress(old), new: compressor.compress(new), origin }
        }
        Notification::Deleted { object: DeletedObject::Known(object), origin } => {
            Notification::Deleted { object: DeletedObject::Known(compressor.compress(object)), origin }
        }
        // The object of a tombstone comes from the store, which compressed it.
        other @ (Notification::Deleted { .. } | Notification::Mark(_)) => other,
    }
}

impl State {
    fn next(&mut self) -> Next {
        if let Some(snapshot) = self.snapshot.take() {
            return Next::Snapshot(snapshot);
        }
        match self.unread.take() {
            Some(notification) => Next::One(notification),
            None if self.closed => Next::End,
            None => Next::Empty,
        }
    }
}
