//! The overflow of a listener's channel: notifications that did not fit, in order.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::informer::Notification;

/// An unbounded queue that is read after a full channel.
///
/// It is used in two cases: for a subscription whose initial state is not read yet, so that the informer syncs without the
/// reader, and by a stop, which waits for no reader. The first is bounded by the objects in the store and the changes during
/// the initial state, the second by the queue.
///
/// All notifications here are newer than those in the channel: the sender uses the channel only while the overflow is empty,
/// and the reader checks the channel again, under the lock, before it takes from the overflow.
#[derive(Default)]
pub(in crate::informer) struct Overflow {
    /// A std mutex: it is held for a push or a pop, never across an `.await`.
    state: Mutex<State>,
    /// Wakes the one sender that waits for [`Overflow::emptied`]: when the last notification was taken, or the reader ended.
    emptied: Notify,
}

#[derive(Default)]
struct State {
    items: VecDeque<Notification>,
    /// The waker of the reader, if it found both the channel and the overflow empty.
    reader: Option<Waker>,
    /// Set once the reader has ended.
    is_closed: bool,
}

impl Overflow {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a notification, unless the reader has ended.
    pub(in crate::informer) fn push(&self, notification: Notification) {
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

    /// Returns true if the overflow is empty.
    pub(in crate::informer) fn is_empty(&self) -> bool {
        self.lock().items.is_empty()
    }

    /// Returns the number of notifications and the bytes of their objects.
    pub(in crate::informer) fn size(&self) -> (usize, usize) {
        let state = self.lock();
        (state.items.len(), state.items.iter().map(Notification::weight).sum())
    }

    /// Waits until the overflow is empty, its reader has ended, or `removed` is cancelled.
    pub(in crate::informer) async fn emptied(&self, removed: &CancellationToken) {
        while !self.is_empty() {
            tokio::select! {
                biased;
                () = removed.cancelled() => return,
                () = self.emptied.notified() => {}
            }
        }
    }

    /// Polls for the next message of `channel`, then for the oldest notification here.
    ///
    /// `None` means that the channel has closed and nothing is left. When both are empty, `waker` is woken by the next
    /// push; the caller has registered it with the channel.
    pub(in crate::informer) fn next_after<T>(
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
            // An initial state is read once, so its memory is released.
            state.items = VecDeque::new();
            self.emptied.notify_one();
        }
        Poll::Ready(Some(from_overflow(notification)))
    }

    /// Drops all current and later notifications, because the reader has ended.
    pub(in crate::informer) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let items = std::mem::take(&mut state.items);
        drop(state);
        drop(items);
        self.emptied.notify_one();
    }
}
