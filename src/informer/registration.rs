//! The two things that registering answers: a handle on a handler, or a stream of notifications.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::Notification;
use super::listener::Inbox;
use super::processor::SharedProcessor;
use super::progress::{Progress, Synced};

/// A registered handler (client-go: `ResourceEventHandlerRegistration`). Dropping it changes nothing.
#[derive(Clone)]
pub struct Registration {
    pub(super) progress: Arc<Progress>,
    pub(super) synced: Arc<Synced>,
}

impl Registration {
    /// Whether the informer has synced and this handler has returned from every notification of the initial state,
    /// or of what was there when it came late.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.synced.is_set() && self.progress.is_done()
    }

    /// How many notifications this handler was not told because they were merged into others: what came and went is
    /// two. Always 0 unless it was added with [`OnSlow::Coalesce`](super::OnSlow::Coalesce).
    #[must_use]
    pub fn coalesced(&self) -> u64 {
        self.progress.coalesced()
    }

    /// Waits until [`Registration::has_synced`]; `false` when the informer or the handler came to its end before.
    pub async fn synced(&self) -> bool {
        self.synced.wait().await && self.progress.wait().await
    }

    /// Waits until the handler has returned from its last call: it was removed, or the informer has stopped. Of a
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

/// Notifications to be read one by one: a handler for those who have a task of their own. Dropping it ends it.
///
/// The initial state waits for the reader without a bound of its own, as references to what the store holds, so the
/// informer syncs even if this is read later. After it, a reader that does not keep up holds up every other handler once its
/// buffer is full, and at last the source; unless it was made with [`OnSlow::Coalesce`](super::OnSlow::Coalesce).
///
/// It is a [`Stream`] as well, for whoever has adapters for those; it ends as [`Subscription::recv`] does.
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
/// let mut told = informer.subscribe(16, None)?;
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(informer.run(stop.clone()));
/// assert_eq!(told.recv().await.map(|told| told.to_string()).as_deref(), Some("+shop/web@2! list"));
/// stop.cancel();
/// running.await??;
/// assert!(told.recv().await.is_none(), "the informer has stopped, and everything was read");
/// # Ok(())
/// # }
/// ```
pub struct Subscription {
    pub(super) inbox: Inbox,
    pub(super) registration: Registration,
    pub(super) processor: Arc<SharedProcessor>,
}

impl Subscription {
    /// The next notification; `None` once the informer has stopped and everything it had taken in was read. Dropping
    /// the future loses nothing.
    pub async fn recv(&mut self) -> Option<Notification> {
        let next = self.inbox.next().await;
        self.count(next)
    }

    /// The next notification if it is there already.
    pub fn try_recv(&mut self) -> Option<Notification> {
        let next = self.inbox.try_next();
        self.count(next)
    }

    /// Whether the informer has synced and every notification of the initial state, or of what was there when this
    /// came late, has been handed out.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.registration.has_synced()
    }

    /// What can be asked of it while somebody else reads it.
    #[must_use]
    pub fn registration(&self) -> Registration {
        self.registration.clone()
    }

    /// As [`Registration::coalesced`].
    #[must_use]
    pub fn coalesced(&self) -> u64 {
        self.registration.coalesced()
    }

    fn count(&self, next: Option<Notification>) -> Option<Notification> {
        if next.as_ref().is_some_and(Notification::is_initial) {
            self.registration.progress.handled_one();
        }
        next
    }
}

impl Stream for Subscription {
    type Item = Notification;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Notification>> {
        let this = self.get_mut();
        this.inbox.poll_next(context).map(|next| this.count(next))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.processor.remove(&self.registration.progress);
        self.registration.progress.end();
    }
}
