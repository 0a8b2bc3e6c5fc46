//! Who is told: the handler trait, a handler from a function, and a handler behind a filter.

use std::sync::Arc;
use std::time::Duration;

use super::Notification;
use crate::object::{DeletedObject, Object};
use crate::queue::{DEFAULT_BYTES, DEFAULT_CAPACITY};

/// Is told what happens (client-go: `ResourceEventHandler`).
///
/// The calls for one handler come one after the other, in order, from a task of its own; that of an
/// [`Informer`](super::Informer) is called by the task that pops. They are plain calls: work that waits belongs into a
/// task or behind a channel of the handler's. A handler that is slow holds up, once its buffer is full, every other one,
/// and at last the source; nothing is dropped. [`OnSlow`] knows another way.
///
/// A call that panics is reported and counts as done; the next notification comes as usual.
///
/// ```
/// # use std::sync::{Arc, Mutex};
/// # use kdelta::informer::{ResourceEventHandler, SharedIndexInformer};
/// # use kdelta::object::{DeletedObject, Object};
/// # use kdelta::testing::{FakeSource, pod};
/// # use tokio_util::sync::CancellationToken;
/// /// Writes down the names of what went.
/// #[derive(Default)]
/// struct Gone(Mutex<Vec<String>>);
///
/// impl ResourceEventHandler for Gone {
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
/// let gone = Arc::new(Gone::default());
/// let registration = informer.add_event_handler(Arc::clone(&gone))?;
/// let stop = CancellationToken::new();
/// let running = tokio::spawn(informer.run(stop.clone()));
/// assert!(registration.synced().await);
/// source.delete("shop/web");
/// # tokio::time::sleep(std::time::Duration::from_secs(1)).await;
/// // The end waits for every handler, and nothing that was taken in is lost.
/// stop.cancel();
/// running.await??;
/// assert_eq!(*gone.0.lock().expect("no panic"), ["shop/web"]);
/// # Ok(())
/// # }
/// ```
pub trait ResourceEventHandler: Send + Sync + 'static {
    /// An object is there that was not.
    fn on_add(&self, _object: &Arc<Object>, _is_in_initial_list: bool) {}

    /// An object changed; or, in a resync, did not, and both are the same.
    fn on_update(&self, _old: &Arc<Object>, _new: &Arc<Object>) {}

    /// An object is gone; it may be a tombstone.
    fn on_delete(&self, _object: &DeletedObject) {}

    /// Anything happened. This is what an informer calls; as it stands it calls the other three and drops marks.
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

/// How a handler, or a subscription, is told (client-go: `HandlerOptions`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HandlerOptions {
    /// How often it is told again of everything: `None` is never, otherwise at least a second, and no more often than
    /// the informer looks once it runs.
    pub resync: Option<Duration>,
    /// What becomes of notifications for which it is too slow.
    pub on_slow: OnSlow,
}

/// What becomes of notifications for which a handler is too slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnSlow {
    /// They wait, and once so many wait (at least one), so does the informer: every other handler, the queue, and at
    /// last the source. Nothing is left out.
    Block {
        /// How many may wait, besides what the store held when the handler came.
        capacity: usize,
        /// How many bytes the objects of those may take. One is always let in, whatever its size.
        bytes: usize,
    },
    /// They are merged per object, and counted ([`Registration::coalesced`](super::Registration::coalesced)); nobody
    /// waits. What is told stays a sequence that replayed over nothing is the store: an update begins with the state
    /// told before, an object that was changed before its add was told is added in its last state, one that came and
    /// went is not told at all. One that went and came again is both. Several gaps are one. At most two notifications
    /// for each object wait; where they are many, compressed as the store has them.
    Coalesce,
}

impl Default for OnSlow {
    /// Block at 1024, or at 16 MiB.
    fn default() -> Self {
        Self::Block { capacity: DEFAULT_CAPACITY, bytes: DEFAULT_BYTES }
    }
}

/// A handler that is one function over notifications.
pub struct NotificationFn<F>(pub F);

impl<F: Fn(Notification) + Send + Sync + 'static> ResourceEventHandler for NotificationFn<F> {
    fn on_notification(&self, notification: Notification) {
        (self.0)(notification);
    }
}

/// Lets a handler see only what a filter lets pass (client-go: `FilteringResourceEventHandler`).
///
/// To the handler the objects that pass are all there is: one that begins to pass is added (never as initial), one
/// that no longer passes is deleted, in the last state that did. A tombstone without an object passes: nobody can
/// tell, and a delete that is missed would never be made up for. Marks pass.
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
/// let (tell, told) = std::sync::mpsc::channel();
/// let handler = NotificationFn(move |notification: Notification| drop(tell.send(notification.to_string())));
/// let is_first = |object: &Object| object.resource_version() == &"2".into();
/// let filtered = FilteringResourceEventHandler::new(is_first, handler);
/// // It no longer passes, so to the handler it is gone.
/// filtered.on_notification(Notification::Updated { old, new, origin: Origin::Watch });
/// assert_eq!(told.try_recv().as_deref(), Ok("-shop/web@2 watch"));
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
    /// This handler behind that filter.
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
