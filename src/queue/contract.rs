//! The trait of all queues and the types of its arguments.

use std::sync::Arc;

use super::{Deltas, Mark, PoppedItem, QueueSize, Signals, Transformer};
use crate::object::{DeletedObject, KeyError, Object, Origin, ResourceVersion};

/// A function that processes a popped item. The queue calls it with its lock held, so it must be quick and must not
/// call the queue.
pub type PopProcessFunc<'a> = dyn FnMut(PoppedItem) + Send + 'a;

/// A process function that returns the deltas to queue again, or none on success (client-go: `ErrRequeue`).
pub type RequeueFunc<'a> = dyn FnMut(PoppedItem) -> Vec<Deltas> + Send + 'a;

/// The default number of deltas at which [`Queue::has_room`] returns false: enough that producer and consumer rarely
/// wait for each other, and few compared with any store.
pub const DEFAULT_CAPACITY: usize = 1024;

/// The default bytes of objects at which [`Queue::has_room`] returns false: the size of [`DEFAULT_CAPACITY`] fairly
/// large objects, and much less than that number of the largest possible ones.
pub const DEFAULT_BYTES: usize = 16 * 1024 * 1024;

/// The queue is closed, and all its items have been popped (client-go: `ErrFIFOClosed`, whose text names a `DeltaFIFO`
/// for every queue).
///
/// ```
/// # use kdelta::object::{Origin, meta_namespace_key};
/// # use kdelta::queue::{Fifo, FifoClosedError, Queue};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// let queue = Fifo::new(meta_namespace_key);
/// queue.add(web, Origin::Watch).expect("a key");
/// queue.close();
/// assert_eq!(queue.try_pop(&mut |_| ()), Ok(true), "queued items can still be popped");
/// assert_eq!(queue.try_pop(&mut |_| ()), Err(FifoClosedError));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("manipulating with closed queue")]
pub struct FifoClosedError;

/// A queue of deltas (client-go: `Queue`).
///
/// Any number of tasks may call it; deltas are ordered as the calls acquire the lock. Its methods never wait:
/// [`pop`](super::pop) and [`room`](super::room) do, without the lock.
///
/// Another implementation can replace those of this module, for example in a
/// [`Config`](../informer/struct.Config.html). In addition to the promises of each method, it guarantees that no other
/// item is popped or compared with the store while a process function runs, and that it notifies its [`Signals`] of
/// every change.
///
/// ```
/// # use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
/// # use kdelta::object::{DeletedObject, Ingest, KeyError, Object, Origin, ResourceVersion, TypeMeta, meta_namespace_key};
/// # use kdelta::queue::{Fifo, FifoClosedError, Mark, Queue, QueueControl, RequeueFunc, Transformer};
/// /// Counts new objects and delegates to another queue, including its locks and signals.
/// struct Counting<Q> { queue: Q, events: AtomicUsize }
///
/// impl<Q: Queue> Queue for Counting<Q> {
///     fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
///         self.events.fetch_add(1, Ordering::Relaxed);
///         self.queue.add(object, origin)
///     }
///     fn control(&self) -> &dyn QueueControl {
///         self.queue.control()
///     }
///     // …
/// #    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> { self.add(object, origin) }
/// #    fn delete(&self, deleted: DeletedObject, origin: Origin) -> Result<(), KeyError> { self.queue.delete(deleted, origin) }
/// #    fn replace(&self, objects: Vec<Arc<Object>>, version: &ResourceVersion, origin: Origin) -> Result<(), KeyError> {
/// #        self.queue.replace(objects, version, origin)
/// #    }
/// #    fn list_begin(&self, origin: Origin, may_be_unrelated: bool) { self.queue.list_begin(origin, may_be_unrelated) }
/// #    fn list_item(&self, object: Arc<Object>, origin: Origin) -> Option<Arc<Object>> { self.queue.list_item(object, origin) }
/// #    fn resync(&self) { self.queue.resync() }
/// #    fn mark(&self, mark: Mark) { self.queue.mark(mark) }
/// #    fn bookmark(&self, version: &ResourceVersion) { self.queue.bookmark(version) }
/// #    fn try_pop_or_requeue(&self, process: &mut RequeueFunc<'_>) -> Result<bool, FifoClosedError> { self.queue.try_pop_or_requeue(process) }
/// #    fn set_transformer(&self, transformer: Transformer) { self.queue.set_transformer(transformer) }
/// }
/// # fn pod(json: &str) -> Arc<Object> {
/// #     let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
/// #     Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
/// # }
/// # let queue = Counting { queue: Fifo::new(meta_namespace_key), events: AtomicUsize::new(0) };
/// # queue.add(pod(r#"{"metadata":{"name":"web"}}"#), Origin::Watch).expect("a key");
/// # assert!(queue.try_pop(&mut |_| ()).expect("open") && queue.events.load(Ordering::Relaxed) == 1);
/// ```
pub trait Queue: Send + Sync + 'static {
    /// Queues a new object.
    ///
    /// # Errors
    /// The key function refused the object; nothing was queued.
    fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError>;

    /// Queues a changed object.
    ///
    /// # Errors
    /// As [`Queue::add`].
    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError>;

    /// Queues the delete of an object.
    ///
    /// # Errors
    /// As [`Queue::add`].
    fn delete(&self, deleted: DeletedObject, origin: Origin) -> Result<(), KeyError>;

    /// Completes a list, which consists of these objects and of those that [`Queue::list_item`] queued since
    /// [`Queue::list_begin`]. Queues a tombstone for every other object that is stored or queued. Not limited by the
    /// capacity.
    ///
    /// # Errors
    /// As [`Queue::add`], for any of the objects.
    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        version: &ResourceVersion,
        origin: Origin,
    ) -> Result<(), KeyError>;

    /// Starts a list. With `may_be_unrelated`, it may belong to another history than the store, so that equal versions do
    /// not prove equal states until the next call. A queue that does not compare versions ignores that.
    fn list_begin(&self, origin: Origin, may_be_unrelated: bool);

    /// Accepts an object of a list in progress. Returns `None` if it was queued; otherwise the caller passes the
    /// returned object to [`Queue::replace`]. That is the stored object if it has the same state.
    fn list_item(&self, object: Arc<Object>, origin: Origin) -> Option<Arc<Object>>;

    /// Wakes the consumer because the source has no more objects for now. After [`Queue::list_item`], and only then, a
    /// queue may delay the wake-up until this call or until more objects are queued.
    fn flush(&self) {
        self.signals().notify_item();
    }

    /// Delivers every stored object again, except those with queued deltas. Pops alternate between these objects and
    /// the queued deltas, so that a live event waits for at most one object. Each object is delivered in its state at
    /// that time. Not limited by the capacity, but bounded by the size of the store, however often it is called.
    fn resync(&self);

    /// Queues a mark, if the queue delivers marks.
    fn mark(&self, mark: Mark);

    /// Records that everything up to this version has been queued.
    fn bookmark(&self, version: &ResourceVersion);

    /// Removes the next item and calls `process` with it while the queue is locked. Returns false if the queue is
    /// empty.
    ///
    /// # Errors
    /// The queue is closed, and empty.
    fn try_pop(&self, process: &mut PopProcessFunc<'_>) -> Result<bool, FifoClosedError> {
        self.try_pop_or_requeue(&mut |popped| {
            process(popped);
            Vec::new()
        })
    }

    /// Pops like [`Queue::try_pop`], and appends the deltas that the function returns while the queue is still locked.
    /// Deltas of an object that has been queued again in the meantime are dropped, because the queued ones are newer;
    /// all are dropped if the queue is closed. The objects of an [`Item::ReplacedAll`](super::Item::ReplacedAll) are
    /// requeued one by one.
    ///
    /// # Errors
    /// As [`Queue::try_pop`].
    fn try_pop_or_requeue(&self, process: &mut RequeueFunc<'_>) -> Result<bool, FifoClosedError>;

    /// Sets the transformer of all objects queued from now on. A queue without transformation ([`Fifo`](super::Fifo))
    /// ignores it.
    fn set_transformer(&self, transformer: Transformer);

    /// Returns the locks, bounds and signals of the queue. A queue that wraps another one returns those of the other.
    fn control(&self) -> &dyn QueueControl;

    /// As [`QueueControl::under_lock`].
    fn under_lock(&self, work: &mut dyn FnMut()) {
        self.control().under_lock(work);
    }

    /// As [`QueueControl::has_room`].
    fn has_room(&self) -> bool {
        self.control().has_room()
    }

    /// As [`QueueControl::used`].
    fn used(&self) -> QueueSize {
        self.control().used()
    }

    /// As [`QueueControl::has_synced`].
    fn has_synced(&self) -> bool {
        self.control().has_synced()
    }

    /// As [`QueueControl::close`].
    fn close(&self) {
        self.control().close();
    }

    /// As [`QueueControl::signals`].
    fn signals(&self) -> &Signals {
        self.control().signals()
    }
}

/// The locks, bounds and signals of a queue, which do not depend on the order of its deltas. The queues of this module
/// share one implementation.
pub trait QueueControl: Send + Sync {
    /// Calls `work` between two pops: no item is popped or compared with the store meanwhile.
    fn under_lock(&self, work: &mut dyn FnMut());

    /// Returns true if the queued deltas and their bytes are below the capacity, or if the queue is closed, so that no
    /// producer waits for a closed queue.
    fn has_room(&self) -> bool;

    /// Returns the number of queued deltas and their bytes.
    fn used(&self) -> QueueSize;

    /// Returns true once the first list and its tombstones have been popped, or as soon as a live event precedes the
    /// first list. Never becomes false again.
    fn has_synced(&self) -> bool;

    /// Closes the queue and wakes all waiting tasks. Queued items can still be popped.
    fn close(&self);

    /// Returns the signals on which [`pop`](super::pop) and [`room`](super::room) wait.
    fn signals(&self) -> &Signals;
}
