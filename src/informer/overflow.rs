//! Notifications that did not fit into the channel of a listener, in order behind it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::Notification;

/// The notifications behind a full channel.
///
/// Two things put notifications here: a subscription whose initial state is not read yet, so that the store can fill
/// without its reader, and a stop, which waits for no reader. The first is bounded by what the store holds and by the
/// changes during the initial state, the second by the queue.
///
/// Everything here is newer than everything in the channel: the sender uses the channel only while this is empty, and the
/// reader looks into the channel once more, under the lock, before it takes from here.
#[derive(Default)]
pub(super) struct Overflow {
    /// A std mutex: it is held for a push or a pop, never across an `.await`.
    state: Mutex<State>,
    /// Wakes the sender that waits until this is empty, once per emptying; closed by [`Overflow::close`].
    emptied: Notify,
}

#[derive(Default)]
struct State {
    items: VecDeque<Notification>,
    /// The reader that found nothing, neither here nor in the channel.
    reader: Option<Waker>,
    /// The reader is gone.
    is_closed: bool,
}

impl Overflow {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a notification, unless the reader is gone.
    pub(super) fn push(&self, notification: Notification) {
        let mut state = self.lock();
        if state.is_closed {
            return;
        }
        state.items.push_back(notification);
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// Returns true if there is nothing here to be read.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().items.is_empty()
    }

    /// Waits until this is empty or its reader is gone, or until `removed` is cancelled.
    pub(super) async fn emptied(&self, removed: &CancellationToken) {
        while !self.is_empty() {
            tokio::select! {
                biased;
                () = removed.cancelled() => return,
                () = self.emptied.notified() => {}
            }
        }
    }

    /// Returns the next message of `channel`, else the oldest notification here.
    ///
    /// `None` means that the channel has closed and nothing is left. When both are empty, `waker` is woken by the next
    /// push; the caller has registered it with the channel.
    pub(super) fn next_after<T>(
        &self,
        waker: Option<&Waker>,
        channel: impl FnOnce() -> Poll<Option<T>>,
        from_overflow: impl FnOnce(Notification) -> T,
    ) -> Poll<Option<T>> {
        let mut state = self.lock();
        let is_closed = match channel() {
            Poll::Ready(Some(message)) => return Poll::Ready(Some(message)),
            Poll::Ready(None) => true,
            Poll::Pending => false,
        };
        let Some(notification) = state.items.pop_front() else {
            state.reader = waker.cloned();
            return if is_closed { Poll::Ready(None) } else { Poll::Pending };
        };
        if state.items.is_empty() {
            // An initial state is read once: its room is given back.
            state.items = VecDeque::new();
            self.emptied.notify_one();
        }
        Poll::Ready(Some(from_overflow(notification)))
    }

    /// Drops everything: the reader is gone.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let items = std::mem::take(&mut state.items);
        drop(state);
        drop(items);
        self.emptied.notify_one();
    }
}
