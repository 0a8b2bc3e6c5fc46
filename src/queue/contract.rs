//! What every queue keeps to, and what its callers hand it.

use std::sync::Arc;

use super::{Deltas, Mark, Popped, Signals, Transformer};
use crate::object::{DeletedObject, KeyError, KeyListerGetter, Object, Origin, ResourceVersion};

/// What a queue asks of the store behind it, to find what a list shows to be gone (client-go: `KnownObjects`). It is
/// read under the queue's lock; it must never call back into the queue.
pub type KnownObjects = Arc<dyn KeyListerGetter>;

/// What a pop does with what it took out. It runs under the queue's lock: it must be quick, and must not call the
/// queue.
pub type PopProcessFunc<'a> = dyn FnMut(Popped) + Send + 'a;

/// A process function that returns the deltas to queue again; none if it succeeded (client-go: `ErrRequeue`).
pub type RequeueFunc<'a> = dyn FnMut(Popped) -> Vec<Deltas> + Send + 'a;

/// Deltas a queue holds before [`Queue::has_room`] says no, unless told otherwise: enough that neither side waits for
/// the other at each delta, and little next to any store.
pub const DEFAULT_CAPACITY: usize = 1024;

/// Bytes of objects that a queue holds before [`Queue::has_room`] says no, unless told otherwise: as many as that number
/// of deltas has where objects are larger than most, and little next to such a number of the largest that there are.
pub const DEFAULT_BYTES: usize = 16 * 1024 * 1024;

/// The queue is closed, and what it held has been popped (client-go: `ErrFIFOClosed`, whose text names a `DeltaFIFO`
/// whichever queue it is).
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
/// assert_eq!(queue.try_pop(&mut |_| ()), Ok(true), "what it holds can still be popped");
/// assert_eq!(queue.try_pop(&mut |_| ()), Err(FifoClosedError));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("manipulating with closed queue")]
pub struct FifoClosedError;

/// A store of deltas with pop (client-go: `Queue`).
///
/// Any number of tasks may call it; the order of deltas is that in which the calls got the lock. Nothing here waits:
/// [`pop`](super::pop) and [`room`](super::room) do, outside the lock.
///
/// A queue of one's own can stand in for those of this room wherever a queue is asked for, as in a
/// [`Config`](../informer/struct.Config.html). It keeps two promises beside those of its methods: a process function
/// runs while nothing else can be popped or compared with the store, and whatever changes is said in its [`Signals`].
///
/// ```
/// # use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
/// # use kdelta::object::{DeletedObject, Ingest, KeyError, Object, Origin, ResourceVersion, TypeMeta, meta_namespace_key};
/// # use kdelta::queue::{Fifo, FifoClosedError, Mark, Queue, RequeueFunc, Signals};
/// /// Counts what comes in, and leaves the rest to another queue, its signals too.
/// struct Counting<Q> { queue: Q, events: AtomicUsize }
///
/// impl<Q: Queue> Queue for Counting<Q> {
///     fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
///         self.events.fetch_add(1, Ordering::Relaxed);
///         self.queue.add(object, origin)
///     }
///     fn signals(&self) -> &Signals {
///         self.queue.signals()
///     }
///     // …
/// #    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> { self.add(object, origin) }
/// #    fn delete(&self, deleted: DeletedObject, origin: Origin) -> Result<(), KeyError> { self.queue.delete(deleted, origin) }
/// #    fn replace(&self, objects: Vec<Arc<Object>>, version: &ResourceVersion, origin: Origin) -> Result<(), KeyError> {
/// #        self.queue.replace(objects, version, origin)
/// #    }
/// #    fn list_begin(&self, origin: Origin) { self.queue.list_begin(origin) }
/// #    fn list_item(&self, object: Arc<Object>, origin: Origin) -> Option<Arc<Object>> { self.queue.list_item(object, origin) }
/// #    fn resync(&self) { self.queue.resync() }
/// #    fn mark(&self, mark: Mark) { self.queue.mark(mark) }
/// #    fn bookmark(&self, version: &ResourceVersion) { self.queue.bookmark(version) }
/// #    fn try_pop_or_requeue(&self, process: &mut RequeueFunc<'_>) -> Result<bool, FifoClosedError> { self.queue.try_pop_or_requeue(process) }
/// #    fn under_lock(&self, work: &mut dyn FnMut()) { self.queue.under_lock(work) }
/// #    fn has_room(&self) -> bool { self.queue.has_room() }
/// #    fn has_synced(&self) -> bool { self.queue.has_synced() }
/// #    fn close(&self) { self.queue.close() }
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
    /// An object is there.
    ///
    /// # Errors
    /// The key function refused the object; nothing was queued.
    fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError>;

    /// An object changed.
    ///
    /// # Errors
    /// As [`Queue::add`].
    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError>;

    /// An object is gone.
    ///
    /// # Errors
    /// As [`Queue::add`].
    fn delete(&self, deleted: DeletedObject, origin: Origin) -> Result<(), KeyError>;

    /// A list is complete: these objects and those that [`Queue::list_item`] took since [`Queue::list_begin`]. What
    /// is known or queued beyond is gone, and a tombstone for it is queued. Exempt from the capacity.
    ///
    /// # Errors
    /// As [`Queue::add`], for any of the objects.
    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        version: &ResourceVersion,
        origin: Origin,
    ) -> Result<(), KeyError>;

    /// A list begins.
    fn list_begin(&self, origin: Origin);

    /// The list that has just begun may be of another history than what is known: equal versions do not say that two
    /// states are equal, up to the next [`Queue::list_begin`]. A queue that does not look at versions ignores it;
    /// whoever wraps a queue hands it on.
    fn list_in_doubt(&self) {}

    /// An object of a list that is still coming in: queued now, or handed back to be given to [`Queue::replace`],
    /// then as the stored one where that is the same state.
    fn list_item(&self, object: Arc<Object>, origin: Origin) -> Option<Arc<Object>>;

    /// The source has nothing more for now: whoever pops is to see all that is queued. Only after [`Queue::list_item`]
    /// may a queue wait for this, or for more.
    fn flush(&self) {}

    /// Delivers every stored object again, except for those that have deltas in the queue. Pops alternate between these objects and
    /// the line, so that a live event waits for at most one of them; each is delivered in the state that is stored when its turn
    /// comes. Exempt from the capacity, and bounded by the store's size however often it is called.
    fn resync(&self);

    /// Queues a mark, where marks travel.
    fn mark(&self, mark: Mark);

    /// Everything up to this version has been queued.
    fn bookmark(&self, version: &ResourceVersion);

    /// Takes the next out and has it processed while the queue is held. `false` when there is nothing.
    ///
    /// # Errors
    /// The queue is closed, and empty.
    fn try_pop(&self, process: &mut PopProcessFunc<'_>) -> Result<bool, FifoClosedError> {
        self.try_pop_or_requeue(&mut |popped| {
            process(popped);
            Vec::new()
        })
    }

    /// As [`Queue::try_pop`], and queues the deltas that the function returns at the end of the line, while the queue is still
    /// locked. Deltas of an object that has been queued again meanwhile are dropped, because the queued ones are newer; all
    /// are dropped if the queue is closed. Of an [`Item::ReplacedAll`](super::Item::ReplacedAll), each object comes back by
    /// itself.
    ///
    /// # Errors
    /// As [`Queue::try_pop`].
    fn try_pop_or_requeue(&self, process: &mut RequeueFunc<'_>) -> Result<bool, FifoClosedError>;

    /// Does something while nothing can be popped or compared with the store, so between two deltas.
    fn under_lock(&self, work: &mut dyn FnMut());

    /// Whether fewer deltas, and fewer bytes of objects, are queued than the capacity allows. A closed queue has room, so
    /// that nobody waits there.
    fn has_room(&self) -> bool;

    /// Whether the initial state has been popped: the first list with everything it brought, or at once where
    /// something other than a list came first. Never goes back.
    fn has_synced(&self) -> bool;

    /// From now on changes what comes in with this transformer. A queue that transforms nothing ([`Fifo`](super::Fifo))
    /// ignores it.
    fn set_transformer(&self, _transformer: Transformer) {}

    /// Ends the queue: what it holds can still be popped, whoever waits is woken.
    fn close(&self);

    /// Where [`pop`](super::pop) and [`room`](super::room) wait.
    fn signals(&self) -> &Signals;
}
