//! The results of registering: a handle to a handler, or a stream of notifications.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::SystemTime;

use futures_core::Stream;

use super::Notification;
use super::delivery::listener::{Backlog, Inbox};
use super::delivery::processor::SharedProcessor;
use super::delivery::progress::{Progress, Synced};
use crate::queue::QueueSize;

/// A handle to a registered handler (client-go: `ResourceEventHandlerRegistration`). Dropping it does not remove the handler.
#[derive(Clone)]
pub struct Registration {
    pub(super) progress: Arc<Progress>,
    pub(super) synced: Arc<Synced>,
    pub(super) backlog: Backlog,
}

impl Registration {
    /// Returns true if the informer has synced and this handler has returned from every notification of the initial
    /// state: for a handler registered later, the objects in the store at that time.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.synced.is_set() && self.progress.is_done()
    }

    /// Returns the number of notifications that this handler did not receive because they were merged into others. An
    /// object that was added and deleted before the handler read either counts as two. Always 0 without
    /// [`OnSlow::Coalesce`](super::OnSlow::Coalesce).
    #[must_use]
    pub fn coalesced(&self) -> u64 {
        self.progress.coalesced()
    }

    /// Returns the notifications that this handler has not received yet, and the bytes of their objects. With
    /// [`OnSlow::Coalesce`](super::OnSlow::Coalesce), the bytes are an upper bound: those that were buffered since the handler
    /// last had nothing to receive.
    #[must_use]
    pub fn backlog(&self) -> QueueSize {
        let (deltas, bytes) = self.backlog.size();
        QueueSize { deltas, bytes }
    }

    /// Waits until [`Registration::has_synced`]. Returns `false` if the informer or the handler ended before.
    pub async fn synced(&self) -> bool {
        self.synced.wait().await && self.progress.wait().await
    }

    /// Waits until the handler has returned from its last call, after its removal or the stop of the informer. For a
    /// [`Subscription`], waits until it is dropped.
    pub async fn ended(&self) {
        self.progress.wait_for_end().await;
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("has_synced", &self.has_synced()).finish_non_exhaustive()
    }
}

/// A stream of notifications, for readers that have their own task instead of a handler. Dropping it unsubscribes.
///
/// The initial state is buffered without a separate bound, as references to the objects in the store, so that the informer
/// syncs even if the reader starts later. After the initial state, a reader that does not keep up blocks every other handler
/// once its buffer is full, and finally the source. With [`OnSlow::Coalesce`](super::OnSlow::Coalesce) it blocks nothing.
///
/// It also implements [`Stream`], which ends when [`Subscription::recv`] returns `None`.
///
/// ```
/// # use kdelta::informer::SharedIndexInformer;
/// # use kdelta::testing::{FakeSource, pod};
/// # use tokio_util::sync::CancellationToken;
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// let informer = SharedIndexInformer::builder(source).build();
/// let mut subscription = informer.subscribe(16, None)?;
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(informer.run(stop.clone()));
/// let added = subscription.recv().await.ok_or("the informer ended")?;
/// assert_eq!(added.to_string(), "+shop/web@2! list");
/// stop.cancel();
/// running.await??;
/// assert!(subscription.recv().await.is_none(), "the informer has stopped, and everything was read");
/// # Ok(())
/// # }
/// ```
pub struct Subscription {
    pub(super) inbox: Inbox,
    pub(super) registration: Registration,
    pub(super) processor: Arc<SharedProcessor>,
}

impl Subscription {
    /// Returns the next notification, or `None` once the informer has stopped and every queued notification was read.
    ///
    /// Cancel safe: dropping the future loses no notification.
    pub async fn recv(&mut self) -> Option<Notification> {
        poll_fn(|context| self.poll_recv_with_time(context)).await.map(|(notification, _)| notification)
    }

    /// Returns the next notification if one is available.
    pub fn try_recv(&mut self) -> Option<Notification> {
        self.inbox.try_next().inspect(|next| self.count(next))
    }

    /// Polls for the next notification, with the time at which it was buffered for this subscription: a reader that
    /// does not keep up can report when it arrived. For the initial state and for merged notifications it may be the time of
    /// the call. Returns `None` as [`Subscription::recv`] does.
    pub fn poll_recv_with_time(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<(Notification, SystemTime)>> {
        let next = ready!(self.inbox.poll_next(context));
        if let Some((notification, _)) = &next {
            self.count(notification);
        }
        Poll::Ready(next)
    }

    /// Returns true if the informer has synced and every notification of the initial state has been returned. For a
    /// later subscription, that state is the objects in the store at that time.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.registration.has_synced()
    }

    /// Returns a handle to this subscription that can be used while another task reads it.
    #[must_use]
    pub fn registration(&self) -> Registration {
        self.registration.clone()
    }

    /// Returns the number of merged notifications; see [`Registration::coalesced`].
    #[must_use]
    pub fn coalesced(&self) -> u64 {
        self.registration.coalesced()
    }

    fn count(&self, next: &Notification) {
        if next.is_initial() {
            self.registration.progress.handled_one();
        }
    }
}

impl Stream for Subscription {
    type Item = Notification;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Notification>> {
        let next = ready!(self.get_mut().poll_recv_with_time(context));
        Poll::Ready(next.map(|(notification, _)| notification))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.processor.remove(&self.registration.progress);
        self.registration.progress.end();
    }
}
