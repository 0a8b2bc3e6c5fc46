//! The handler trait, a handler from a function, and a filtering handler.

use std::sync::Arc;
use std::time::Duration;

use super::Notification;
use crate::object::{DeletedObject, Object};
use crate::queue::{DEFAULT_BYTES, DEFAULT_CAPACITY};

/// Receives add, update and delete notifications (client-go: `ResourceEventHandler`).
///
/// Each handler is called from its own task, in order, one call at a time; the handler of an [`Informer`](super::Informer) is
/// called by the task that pops the queue. The methods are synchronous: a handler that needs to wait spawns a task or sends
/// to a channel. Once the buffer of a slow handler is full, it blocks every other handler and finally the source; nothing is
/// dropped. [`OnSlow::Coalesce`] merges notifications instead.
///
/// A call that panics is reported and counts as handled; the handler is called again with the next notification.
///
/// ```
/// # use std::sync::{Arc, Mutex};
/// # use kdelta::informer::{ResourceEventHandler, SharedIndexInformer};
/// # use kdelta::object::{DeletedObject, Object};
/// # use kdelta::testing::{FakeSource, pod};
/// # use tokio_util::sync::CancellationToken;
/// /// Records the keys of deleted objects.
/// #[derive(Default)]
/// struct Deletions(Mutex<Vec<String>>);
///
/// impl ResourceEventHandler for Deletions {
///     fn on_delete(&self, object: &DeletedObject) {
///         self.0.lock().expect("no panic").push(object.key().to_string());
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// let informer = SharedIndexInformer::builder(source.clone()).build();
/// let deletions = Arc::new(Deletions::default());
/// let registration = informer.add_event_handler(Arc::clone(&deletions))?;
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(informer.run(stop.clone()));
/// assert!(registration.synced().await);
/// source.delete("shop/web");
/// # tokio::time::sleep(std::time::Duration::from_secs(1)).await;
/// // The run waits for every handler, so no queued notification is lost.
/// stop.cancel();
/// running.await??;
/// assert_eq!(*deletions.0.lock().expect("no panic"), ["shop/web"]);
/// # Ok(())
/// # }
/// ```
pub trait ResourceEventHandler: Send + Sync + 'static {
    /// Called after an object was added.
    fn on_add(&self, _object: &Arc<Object>, _is_in_initial_list: bool) {}

    /// Called after an object changed. In a resync the object did not change, and both are the same.
    fn on_update(&self, _old: &Arc<Object>, _new: &Arc<Object>) {}

    /// Called after an object was deleted; the object may be a tombstone.
    fn on_delete(&self, _object: &DeletedObject) {}

    /// Called by the informer for each notification. The default calls one of the other methods and ignores marks.
    fn on_notification(&self, notification: Notification) {
        match notification {
            Notification::Added { object, is_in_initial_list, .. } => {
                self.on_add(&object, is_in_initial_list);
            }
            Notification::Updated { old, new, .. } => self.on_update(&old, &new),
            Notification::Deleted { object, .. } => self.on_delete(&object),
            Notification::Mark(_) => {}
        }
    }
}

impl<H: ResourceEventHandler + ?Sized> ResourceEventHandler for Arc<H> {
    fn on_add(&self, object: &Arc<Object>, is_in_initial_list: bool) {
        (**self).on_add(object, is_in_initial_list);
    }

    fn on_update(&self, old: &Arc<Object>, new: &Arc<Object>) {
        (**self).on_update(old, new);
    }

    fn on_delete(&self, object: &DeletedObject) {
        (**self).on_delete(object);
    }

    fn on_notification(&self, notification: Notification) {
        (**self).on_notification(notification);
    }
}

/// The options of a handler or a subscription (client-go: `HandlerOptions`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct HandlerOptions {
    /// The resync period. `None` disables resyncs; otherwise at least one second, and, once the informer runs, at least its
    /// check period.
    pub resync: Option<Duration>,
    /// The policy for a slow handler.
    pub on_slow: OnSlow,
}

setters!(HandlerOptions {
    resync: Option<Duration>,
    on_slow: OnSlow,
});

/// The policy for notifications that a handler does not read in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnSlow {
    /// Buffer them. Once the buffer is full, the informer waits: every other handler, the queue and finally the source.
    /// Nothing is dropped.
    Block {
        /// The maximal number of buffered notifications, at least one, in addition to the initial snapshot of the store.
        capacity: usize,
        /// The maximal size of their objects in bytes. One notification is always accepted, whatever its size.
        bytes: usize,
    },
    /// Merge them per object and count the merged ones ([`Registration::coalesced`](super::Registration::coalesced)), so
    /// that the informer never waits. Replaying the merged notifications from an empty state still yields the state of the
    /// store: an update starts from the previously delivered state, an object that changed before its add was delivered is
    /// added in its last state, and an object that was added and deleted in between causes no notification. An object that
    /// was deleted and added again causes both. Several gaps become one. At most two notifications are buffered for each
    /// object; if there are many, their objects are compressed as in the store.
    Coalesce,
}

impl Default for OnSlow {
    /// Block at 1024, or at 16 MiB.
    fn default() -> Self {
        Self::Block { capacity: DEFAULT_CAPACITY, bytes: DEFAULT_BYTES }
    }
}

/// A handler that calls a function for each notification.
pub struct NotificationFn<F>(pub F);

impl<F: Fn(Notification) + Send + Sync + 'static> ResourceEventHandler for NotificationFn<F> {
    fn on_notification(&self, notification: Notification) {
        (self.0)(notification);
    }
}

/// A handler that sees only the objects that pass a filter (client-go: `FilteringResourceEventHandler`).
///
/// An object that begins to pass is added (never as initial), and one that no longer passes is deleted, in the last state
/// that passed. A tombstone without an object passes, because the filter can't decide and a dropped delete would never be
/// made up for. Marks pass.
///
/// ```
/// # use kdelta::informer::{FilteringResourceEventHandler, Notification, NotificationFn, ResourceEventHandler};
/// # use kdelta::object::{Object, Origin};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let old = source.objects().remove(0);
/// # source.modify(pod("shop/web"));
/// # let new = source.objects().remove(0);
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let handler = NotificationFn(move |notification: Notification| drop(sender.send(notification.to_string())));
/// let is_first = |object: &Object| object.resource_version() == &"2".into();
/// let filtered = FilteringResourceEventHandler::new(is_first, handler);
/// // The object no longer passes, so the handler receives a delete.
/// filtered.on_notification(Notification::Updated { old, new, origin: Origin::Watch });
/// assert_eq!(receiver.try_recv().as_deref(), Ok("-shop/web@2 watch"));
/// ```
pub struct FilteringResourceEventHandler<F, H> {
    filter: F,
    handler: H,
}

impl<F, H> FilteringResourceEventHandler<F, H>
where
    F: Fn(&Object) -> bool + Send + Sync + 'static,
    H: ResourceEventHandler,
{
    /// Creates a handler that passes filtered notifications on to `handler`.
    pub fn new(filter: F, handler: H) -> Self {
        Self { filter, handler }
    }

    fn passes_deleted(&self, deleted: &DeletedObject) -> bool {
        deleted.object().is_none_or(|object| (self.filter)(object))
    }
}

impl<F, H> ResourceEventHandler for FilteringResourceEventHandler<F, H>
where
    F: Fn(&Object) -> bool + Send + Sync + 'static,
    H: ResourceEventHandler,
{
    fn on_add(&self, object: &Arc<Object>, is_in_initial_list: bool) {
        if (self.filter)(object) {
            self.handler.on_add(object, is_in_initial_list);
        }
    }

    fn on_update(&self, old: &Arc<Object>, new: &Arc<Object>) {
        match ((self.filter)(old), (self.filter)(new)) {
            (true, true) => self.handler.on_update(old, new),
            (false, true) => self.handler.on_add(new, false),
            (true, false) => self.handler.on_delete(&DeletedObject::Known(Arc::clone(old))),
            (false, false) => {}
        }
    }

    fn on_delete(&self, object: &DeletedObject) {
        if self.passes_deleted(object) {
            self.handler.on_delete(object);
        }
    }

    fn on_notification(&self, notification: Notification) {
        let seen = match notification {
            Notification::Updated { old, new, origin } => match ((self.filter)(&old), (self.filter)(&new)) {
                (true, true) => Notification::Updated { old, new, origin },
                (false, true) => Notification::Added { object: new, is_in_initial_list: false, origin },
                (true, false) => Notification::Deleted { object: DeletedObject::Known(old), origin },
                (false, false) => return,
            },
            Notification::Added { ref object, .. } if !(self.filter)(object) => return,
            Notification::Deleted { ref object, .. } if !self.passes_deleted(object) => return,
            other => other,
        };
        self.handler.on_notification(seen);
    }
}
