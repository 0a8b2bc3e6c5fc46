//! A queue that groups the deltas of each object.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::object::{DeletedObject, Key, KeyError, Object, Origin, ResourceVersion};
use crate::queue::applied_version::VersionTracker;
use crate::queue::enqueue::Preprocessor;
use crate::queue::initial_sync::InitialSync;
use crate::queue::locks::{LockedQueue, QueueState, RETAINED_CAPACITY};
use crate::queue::pending_resync::PendingResync;
use crate::queue::size::QueueSize;
use crate::queue::{
    Change, Delta, Deltas, FifoClosedError, Item, KnownObjects, Mark, PoppedItem, Queue, QueueControl,
    QueueOptions, RequeueFunc, Transformer, key_of,
};

/// Options of a [`DeltaFifo`].
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::Origin;
/// # use kdelta::queue::{DeltaFifo, DeltaFifoOptions, DeltaType, Item, Queue, QueueOptions};
/// # use kdelta::store::{Cache, Store};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// // Objects in the store that a list lacks have been deleted.
/// let store = Arc::new(Cache::new());
/// store.add(web).expect("a key");
/// let options = DeltaFifoOptions::default()
///     .known_objects(Some(store))
///     .queue(QueueOptions::default().capacity(100));
/// let queue = DeltaFifo::new(options);
/// queue.replace(Vec::new(), &"7".into(), Origin::Relist)?;
/// queue.try_pop(&mut |popped| {
///     let Item::Deltas(deltas) = popped.item else { return };
///     assert_eq!(deltas[0].delta_type(), DeltaType::Deleted);
///     assert_eq!(popped.up_to, Some("7".into()));
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct DeltaFifoOptions {
    /// The store that the queue feeds. Without one, the queue compares a list with its own deltas only.
    pub known_objects: Option<KnownObjects>,
    /// Whether the objects of a list are queued as [`Change::Replaced`] or, as in older versions of client-go, as
    /// [`Change::Sync`].
    pub emit_delta_type_replaced: bool,
    /// The options shared with [`OrderedFifo`](crate::queue::OrderedFifo).
    pub queue: QueueOptions,
}

impl Default for DeltaFifoOptions {
    fn default() -> Self {
        Self { known_objects: None, emit_delta_type_replaced: true, queue: QueueOptions::default() }
    }
}

setters!(DeltaFifoOptions {
    known_objects: Option<KnownObjects>,
    emit_delta_type_replaced: bool,
    queue: QueueOptions,
});

/// A queue of deltas grouped by object (client-go: `DeltaFIFO`).
///
/// An object keeps its position until it is popped, and one pop returns all its deltas. The order is therefore kept per
/// object only. Two deletes in a row are merged, and no other deltas. A delete of an object that is neither stored nor
/// queued is dropped, because no handler has been notified of the object. Marks are ignored, and a list is queued as a
/// whole.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::{Ingest, Object, TypeMeta};
/// # fn pod(json: &str) -> Arc<Object> {
/// #     let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
/// #     Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
/// # }
/// use kdelta::object::{DeletedObject, Origin};
/// use kdelta::queue::{DeltaFifo, DeltaFifoOptions, DeltaType, Item, Queue};
///
/// let queue = DeltaFifo::new(DeltaFifoOptions::default());
/// let (web, db) = (pod(r#"{"metadata":{"name":"web"}}"#), pod(r#"{"metadata":{"name":"db"}}"#));
/// queue.add(Arc::clone(&web), Origin::Watch)?;
/// queue.add(db, Origin::Watch)?;
/// queue.delete(DeletedObject::Known(web), Origin::Watch)?;
/// let mut first = Vec::new();
/// queue.try_pop(&mut |popped| {
///     let Item::Deltas(deltas) = popped.item else { return };
///     first = deltas.iter().map(|delta| delta.delta_type()).collect();
/// })?;
/// assert_eq!(first, [DeltaType::Added, DeltaType::Deleted]);
/// assert_eq!(queue.list_keys(), ["db".into()]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DeltaFifo {
    preprocessor: Preprocessor,
    emit_delta_type_replaced: bool,
    atomic_replace: bool,
    queue: LockedQueue<State>,
}

#[derive(Default)]
struct State {
    /// The queued keys in order, each once.
    keys: VecDeque<Key>,
    /// The deltas of exactly the keys in `keys`.
    deltas: HashMap<Key, Deltas>,
    /// The number of keys at the front of `keys` whose deltas are popped together; 0 if there is no such group.
    replaced: usize,
    /// The size of `deltas`.
    used: QueueSize,
    initial_sync: InitialSync,
    versions: VersionTracker,
    resync: PendingResync,
}

impl DeltaFifo {
    /// Creates an empty queue.
    #[must_use]
    pub fn new(options: DeltaFifoOptions) -> Self {
        let DeltaFifoOptions { known_objects, emit_delta_type_replaced, queue: options } = options;
        Self {
            atomic_replace: options.atomic_replace,
            queue: LockedQueue::new(State::default(), QueueSize::capacity(&options)),
            preprocessor: Preprocessor::new(known_objects, options),
            emit_delta_type_replaced,
        }
    }

    /// Returns the queued keys in order, and then the keys that a resync is still to deliver.
    #[must_use]
    pub fn list_keys(&self) -> Vec<Key> {
        self.queue.inspect(|state| {
            let pending = state.resync.keys().filter(|key| !state.deltas.contains_key(*key));
            state.keys.iter().chain(pending).cloned().collect()
        })
    }

    /// Requeues popped deltas, for example after a process function failed (client-go: `AddIfNotPresent`, and the rule
    /// of `ErrRequeue`). Drops them and returns false if the object was queued again in the meantime, because the
    /// queued deltas are newer.
    ///
    /// ```
    /// # use kdelta::object::Origin;
    /// # use kdelta::queue::{DeltaFifo, DeltaFifoOptions, Item, Queue};
    /// # use kdelta::testing::{FakeSource, pod};
    /// # let source = FakeSource::new();
    /// # source.add(pod("shop/web"));
    /// # let web = source.objects().remove(0);
    /// let queue = DeltaFifo::new(DeltaFifoOptions::default());
    /// queue.add(web.clone(), Origin::Watch)?;
    /// let mut failed = None;
    /// queue.try_pop(&mut |popped| failed = Some(popped.item))?;
    /// let Some(Item::Deltas(deltas)) = failed else { panic!("a delta") };
    /// assert!(queue.add_if_not_present(deltas.clone())?);
    /// assert!(!queue.add_if_not_present(deltas)?, "it is queued");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no delta, or the key function refused the object.
    pub fn add_if_not_present(&self, deltas: Deltas) -> Result<bool, KeyError> {
        let key = key_of(&deltas, self.preprocessor.key_func)?;
        Ok(self.queue.change(|state| {
            state.initial_sync.record_event();
            state.requeue(&key, deltas)
        }))
    }

    /// Queues the delta of a live event.
    fn enqueue_event(
        &self,
        object: Arc<Object>,
        origin: Origin,
        change: fn(Arc<Object>) -> Change,
    ) -> Result<(), KeyError> {
        let version = object.resource_version().clone();
        let (key, object) = self.preprocessor.prepare(object)?;
        self.queue.change(|state| {
            state.enqueue(key, Delta { change: change(object), origin });
            state.record_event(version, origin);
        });
        Ok(())
    }
}

impl State {
    /// Records a live event. Called after its delta was queued.
    fn record_event(&mut self, version: ResourceVersion, origin: Origin) {
        if origin != Origin::List {
            self.initial_sync.record_event();
        }
        if origin == Origin::Watch && !version.is_unset() {
            self.record_version(version);
        }
    }

    /// Records that everything up to this version has been queued.
    fn record_version(&mut self, version: ResourceVersion) {
        self.versions.record(version, self.keys.len());
    }

    /// Queues the deltas again unless the key is queued already. Returns true if they were queued.
    fn requeue(&mut self, key: &Key, deltas: Deltas) -> bool {
        let is_absent = !self.deltas.contains_key(key);
        if is_absent {
            for delta in deltas {
                self.enqueue(key.clone(), delta);
            }
        }
        is_absent
    }

    /// Removes and returns the deltas of a popped key.
    fn popped(&mut self, key: &Key) -> Deltas {
        let deltas = self.deltas.remove(key).unwrap_or_default();
        deltas.iter().for_each(|delta| self.used.subtract(delta));
        self.initial_sync.record_pop();
        self.versions.record_pops(1);
        deltas
    }

    /// Adds a delta to those of its key. A second delete in a row is merged with the first.
    fn enqueue(&mut self, key: Key, delta: Delta) {
        self.used.add(&delta);
        match self.deltas.entry(key) {
            Entry::Vacant(entry) => {
                self.keys.push_back(entry.key().clone());
                entry.insert(delta.into());
            }
            Entry::Occupied(mut entry) => {
                if let Some(dropped) = entry.get_mut().push_merged(delta) {
                    self.used.subtract(&dropped);
                }
            }
        }
    }
}

impl QueueState for State {
    fn pop(&mut self) -> Option<PoppedItem> {
        let is_in_initial_list = !self.initial_sync.has_synced();
        let has_live = !self.keys.is_empty() || self.versions.has_due();
        if !self.resync.is_empty()
            && let Some(delta) = self.resync.take_turn(!has_live, |key| self.deltas.contains_key(key))
        {
            return Some(PoppedItem { item: Item::Deltas(delta.into()), is_in_initial_list, up_to: None });
        }
        let item = match self.keys.pop_front() {
            Some(key) if self.replaced > 0 => {
                let mut all = Vec::with_capacity(self.replaced);
                all.push(self.popped(&key));
                for _ in 1..std::mem::take(&mut self.replaced) {
                    all.extend(self.keys.pop_front().map(|key| self.popped(&key)));
                }
                Item::ReplacedAll(all)
            }
            Some(key) => Item::Deltas(self.popped(&key)),
            None if self.versions.has_due() => Item::Bookmark,
            None => return None,
        };
        if self.keys.is_empty() {
            self.keys.shrink_to(RETAINED_CAPACITY);
            self.deltas.shrink_to(RETAINED_CAPACITY);
        }
        let up_to = self.versions.take_due();
        Some(PoppedItem { item, is_in_initial_list, up_to })
    }

    fn used(&self) -> QueueSize {
        self.used
    }

    fn initial_sync(&self) -> &InitialSync {
        &self.initial_sync
    }
}

impl Queue for DeltaFifo {
    fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        self.enqueue_event(object, origin, Change::Added)
    }

    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        self.enqueue_event(object, origin, Change::Updated)
    }

    fn delete(&self, deleted: DeletedObject, origin: Origin) -> Result<(), KeyError> {
        let version = match &deleted {
            DeletedObject::Known(object) => object.resource_version().clone(),
            DeletedObject::FinalStateUnknown(_) => ResourceVersion::UNSET,
        };
        let (key, deleted) = self.preprocessor.prepare_deleted(deleted)?;
        self.queue.change(|state| {
            if state.deltas.contains_key(&key) || self.preprocessor.known_object(&key).is_some() {
                state.enqueue(key, Delta { change: Change::Deleted(deleted), origin });
            }
            state.record_event(version, origin);
        });
        Ok(())
    }

    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        version: &ResourceVersion,
        origin: Origin,
    ) -> Result<(), KeyError> {
        let objects = self.preprocessor.prepare_list(objects)?;
        let change = if self.emit_delta_type_replaced { Change::Replaced } else { Change::Sync };
        self.queue.change(|state| {
            let queued = state.keys.iter().filter_map(|key| Some((key, state.deltas.get(key)?.newest()?)));
            let tombstones =
                self.preprocessor.tombstones(queued, objects.iter().map(|(key, _)| key.clone()), origin);
            state.keys.reserve(objects.len());
            state.deltas.reserve(objects.len());
            for (key, object) in objects {
                state.enqueue(key, Delta { change: change(object), origin });
            }
            for (key, tombstone) in tombstones {
                state.enqueue(key, tombstone);
            }
            if self.atomic_replace && state.initial_sync.has_synced() {
                state.replaced = state.keys.len();
            }
            state.initial_sync.record_list(state.keys.len());
            state.record_version(version.clone());
        });
        Ok(())
    }

    fn list_begin(&self, _origin: Origin, may_be_unrelated: bool) {
        self.preprocessor.set_list_may_be_unrelated(may_be_unrelated);
    }

    fn list_item(&self, object: Arc<Object>, _origin: Origin) -> Option<Arc<Object>> {
        Some(self.preprocessor.prepare_deferred(object))
    }

    fn resync(&self) {
        let Some((known, keys)) = self.preprocessor.resync_source() else { return };
        self.queue.change(|state| state.resync.start(known, keys, state.keys.iter().cloned().collect()));
    }

    fn mark(&self, _mark: Mark) {}

    fn bookmark(&self, version: &ResourceVersion) {
        self.queue.change(|state| state.record_version(version.clone()));
    }

    fn try_pop_or_requeue(&self, process: &mut RequeueFunc<'_>) -> Result<bool, FifoClosedError> {
        self.queue.try_pop(process, |state, deltas, up_to| {
            for deltas in deltas {
                // The deltas had a key when they were queued first.
                if let Ok(key) = key_of(&deltas, self.preprocessor.key_func) {
                    state.requeue(&key, deltas);
                }
            }
            state.versions.restore(up_to, state.keys.len());
        })
    }

    fn set_transformer(&self, transformer: Transformer) {
        self.preprocessor.set_transformer(transformer);
    }

    fn control(&self) -> &dyn QueueControl {
        &self.queue
    }
}

#[cfg(test)]
mod tests;
