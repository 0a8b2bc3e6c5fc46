//! A queue that keeps every delta, and the marks between them, in the order received.

use std::collections::{HashMap, HashSet, VecDeque, hash_map};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::object::{
    Compressor, DeletedObject, Key, KeyError, KeyFunc, Object, Origin, ResourceVersion, meta_namespace_key,
};
use crate::queue::enqueue::Preprocessor;
use crate::queue::initial_sync::InitialSync;
use crate::queue::locks::{LockedQueue, QueueSize, QueueState, RETAINED_CAPACITY};
use crate::queue::pending_resync::PendingResync;
use crate::queue::{
    Change, DEFAULT_BYTES, DEFAULT_CAPACITY, Delta, Deltas, FifoClosedError, Item, KnownObjects, Mark,
    Popped, Queue, RequeueFunc, Signals, Transformer,
};

/// Options of an [`OrderedFifo`].
#[derive(Clone)]
#[non_exhaustive]
pub struct OrderedFifoOptions {
    /// The key function.
    pub key_func: KeyFunc,
    /// Whether a list after the initial one is popped as one [`Item::ReplacedAll`] (client-go: `AtomicEvents`), so that
    /// it can be applied in one step. If false, objects are popped one by one.
    pub atomic_replace: bool,
    /// The function that changes objects before they are queued.
    pub transformer: Option<Transformer>,
    /// Compresses objects that wait for the end of a list, to save memory. Pass the compressor of the store.
    pub compressor: Option<Arc<Compressor>>,
    /// The number of deltas at which the queue is full; at least one.
    pub capacity: usize,
    /// The bytes of objects at which the queue is full. An empty queue accepts a delta of any size.
    pub bytes: usize,
}

impl Default for OrderedFifoOptions {
    fn default() -> Self {
        Self {
            key_func: meta_namespace_key,
            atomic_replace: false,
            transformer: None,
            compressor: None,
            capacity: DEFAULT_CAPACITY,
            bytes: DEFAULT_BYTES,
        }
    }
}

setters!(OrderedFifoOptions {
    key_func: KeyFunc,
    atomic_replace: bool,
    transformer: Option<Transformer>,
    compressor: Option<Arc<Compressor>>,
    capacity: usize,
    bytes: usize,
});

/// A queue of all deltas in the order received, across all objects (client-go: `RealFIFO`, without its batch mode). One
/// pop returns one delta; with [`OrderedFifoOptions::atomic_replace`], one pop returns a whole list after the initial
/// one.
///
/// The initial list streams: each object is queued as it arrives, limited by the capacity like live events. An initial
/// list that breaks off and is repeated may therefore have delivered objects that the next attempt lacks; the end of
/// the list queues tombstones for them, and then [`Mark::Synced`]. Every later list is queued in one step: first the
/// tombstones, then the objects. Its [`Mark::Gap`] immediately precedes it.
///
/// Every delete is queued, even of an unknown object: the consumer decides when it applies the delete whether it has an
/// effect.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::{Ingest, Object, TypeMeta};
/// # fn pod(json: &str) -> Arc<Object> {
/// #     let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
/// #     Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
/// # }
/// use kdelta::object::Origin;
/// use kdelta::queue::{Item, OrderedFifo, OrderedFifoOptions, Queue};
/// use kdelta::store::Cache;
///
/// let queue = OrderedFifo::new(Arc::new(Cache::new()), OrderedFifoOptions::default());
/// let web = pod(r#"{"metadata":{"name":"web"}}"#);
/// queue.list_begin(Origin::List);
/// assert!(queue.list_item(Arc::clone(&web), Origin::List).is_none(), "the object is queued already");
/// queue.replace(Vec::new(), &"7".into(), Origin::List)?;
/// queue.update(web, Origin::Watch)?;
/// let mut items = Vec::new();
/// while queue.try_pop(&mut |popped| items.push(popped.item))? {}
/// assert!(matches!(items[..], [Item::Deltas(_), Item::Mark(_), Item::Deltas(_)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OrderedFifo {
    preprocessor: Preprocessor,
    atomic_replace: bool,
    queue: LockedQueue<State>,
    /// Whether the initial list is complete. Atomic, so that no lock is needed for each object of a list. Relaxed: the
    /// one task that lists is the one that completes lists.
    is_initial_list_complete: AtomicBool,
}

struct State {
    key_func: KeyFunc,
    entries: VecDeque<Entry>,
    /// The number of deltas in `entries` for each key. Counted from the first requeue, or from the start of a resync,
    /// until `entries` is empty; no other operation needs it.
    queued: Option<HashMap<Key, usize>>,
    resync: PendingResync,
    /// The size of the deltas in `entries`. Marks and bookmarks are not counted: there is about one per list.
    used: QueueSize,
    initial_sync: InitialSync,
    initial_list: InitialList,
}

enum Entry {
    Delta(Delta),
    /// A requeued delta. It is behind newer deltas, so its version is not reported again.
    Requeued(Delta),
    /// Boxed, so that the few marks do not increase the size of every entry.
    Mark(Box<Mark>),
    /// A list that is applied in one step, and its version.
    ReplacedAll(Box<(Vec<Deltas>, ResourceVersion)>),
    Bookmark(ResourceVersion),
}

/// The progress of the initial list.
enum InitialList {
    /// The list started with an empty store and queue, so all objects now in them belong to the list. The usual case;
    /// no keys are kept.
    FromEmpty,
    /// The store or queue had objects before the list, which may lack some of them. Holds the keys listed so far.
    Tracked(HashSet<Key>),
    /// The initial list is complete. Later lists are queued as a whole.
    Complete,
}

impl OrderedFifo {
    /// Creates an empty queue that feeds the given store.
    #[must_use]
    pub fn new(known_objects: KnownObjects, options: OrderedFifoOptions) -> Self {
        let OrderedFifoOptions { key_func, atomic_replace, transformer, compressor, capacity, bytes } =
            options;
        let state = State {
            key_func,
            entries: VecDeque::new(),
            queued: None,
            resync: PendingResync::default(),
            used: QueueSize::default(),
            initial_sync: InitialSync::default(),
            initial_list: InitialList::Tracked(HashSet::new()),
        };
        Self {
            preprocessor: Preprocessor::new(key_func, Some(known_objects), transformer, compressor),
            atomic_replace,
            queue: LockedQueue::new(state, QueueSize { deltas: capacity, bytes }),
            is_initial_list_complete: AtomicBool::new(false),
        }
    }

    fn event(&self, change: Change, origin: Origin, update: impl FnOnce(&mut State)) {
        self.queue.push(|state| {
            if origin != Origin::List {
                state.initial_sync.record_event();
            }
            state.enqueue(Delta { change, origin });
            update(state);
        });
    }

    /// Returns the newest delta of every queued key, ordered by the first delta of the key.
    fn newest<'a>(&self, state: &'a State) -> Vec<(Key, &'a Delta)> {
        let mut positions = HashMap::new();
        let mut newest: Vec<(Key, &Delta)> = Vec::new();
        for delta in state.deltas() {
            let Some(key) = self.preprocessor.key_of(delta) else { continue };
            let position = *positions.entry(key.clone()).or_insert(newest.len());
            match newest.get_mut(position) {
                Some(entry) => entry.1 = delta,
                None => newest.push((key, delta)),
            }
        }
        newest
    }
}

impl Entry {
    fn deltas(&self) -> impl Iterator<Item = &Delta> {
        let (one, all) = match self {
            Self::Delta(delta) | Self::Requeued(delta) => (Some(delta), None),
            Self::ReplacedAll(replaced) => (None, Some(&replaced.0)),
            Self::Mark(_) | Self::Bookmark(_) => (None, None),
        };
        one.into_iter().chain(all.into_iter().flatten().flat_map(|deltas| &**deltas))
    }
}

impl State {
    fn enqueue(&mut self, delta: Delta) {
        self.push(delta, Entry::Delta);
    }

    fn push(&mut self, delta: Delta, entry: fn(Delta) -> Entry) {
        self.count(&delta);
        self.entries.push_back(entry(delta));
    }

    /// Counts a delta that is about to be queued.
    fn count(&mut self, delta: &Delta) {
        self.used.add(delta);
        if let Some(queued) = &mut self.queued
            && let Ok(key) = delta.key(self.key_func)
        {
            *queued.entry(key).or_default() += 1;
        }
    }

    /// Queues a whole list as one entry: the tombstones, then the objects. For equal keys the last one wins.
    fn replace_all(
        &mut self,
        tombstones: Vec<(Key, Delta)>,
        objects: Vec<(Key, Arc<Object>)>,
        version: ResourceVersion,
        origin: Origin,
    ) {
        let listed = objects
            .into_iter()
            .map(|(key, object)| (key, Delta { change: Change::Replaced(object), origin }));
        let mut positions = HashMap::with_capacity(listed.len());
        let mut all: Vec<Deltas> = Vec::with_capacity(tombstones.len() + listed.len());
        for (key, delta) in tombstones.into_iter().chain(listed) {
            let position = *positions.entry(key).or_insert(all.len());
            match all.get_mut(position) {
                Some(deltas) => *deltas = delta.into(),
                None => all.push(delta.into()),
            }
        }
        all.iter().flat_map(|deltas| &**deltas).for_each(|delta| self.count(delta));
        self.entries.push_back(Entry::ReplacedAll(Box::new((all, version))));
    }

    /// Returns the queued deltas in order.
    fn deltas(&self) -> impl Iterator<Item = &Delta> {
        self.entries.iter().flat_map(Entry::deltas)
    }

    /// Stops counting a popped delta.
    fn popped(&mut self, delta: &Delta) {
        self.used.subtract(delta);
        if let Some(queued) = &mut self.queued
            && let Ok(key) = delta.key(self.key_func)
            && let hash_map::Entry::Occupied(mut count) = queued.entry(key)
        {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }

    /// Requeues a popped delta, unless another delta of its object is queued.
    fn requeue(&mut self, delta: Delta) {
        // The delta had a key when it was queued first.
        let Ok(key) = delta.key(self.key_func) else { return };
        if !self.count_queued().contains_key(&key) {
            self.push(delta, Entry::Requeued);
        }
    }

    /// Returns the number of queued deltas for each key, and keeps it up to date from now on.
    fn count_queued(&mut self) -> &HashMap<Key, usize> {
        self.queued.get_or_insert_with(|| {
            let mut queued = HashMap::new();
            let deltas = self.entries.iter().flat_map(Entry::deltas);
            let keys = deltas.filter_map(|delta| delta.key(self.key_func).ok());
            keys.for_each(|key| *queued.entry(key).or_default() += 1);
            queued
        })
    }

    fn mark(&mut self, mark: Mark) {
        self.entries.push_back(Entry::Mark(Box::new(mark)));
    }

    fn bookmark(&mut self, version: ResourceVersion) {
        if let Some(Entry::Bookmark(last)) = self.entries.back_mut() {
            *last = version;
        } else {
            self.entries.push_back(Entry::Bookmark(version));
        }
    }
}

impl QueueState for State {
    fn pop(&mut self) -> Option<Popped> {
        let is_in_initial_list = !self.initial_sync.has_synced();
        if !self.resync.is_empty() {
            let queued = self.queued.as_ref();
            let is_queued = |key: &Key| queued.is_some_and(|queued| queued.contains_key(key));
            if let Some(delta) = self.resync.take_turn(self.entries.is_empty(), is_queued) {
                return Some(Popped { item: Item::Deltas(delta.into()), is_in_initial_list, up_to: None });
            }
        }
        let (item, up_to) = match self.entries.pop_front()? {
            Entry::Delta(delta) => {
                self.popped(&delta);
                self.initial_sync.record_pop();
                let version = delta.object().map(|object| object.resource_version().clone());
                let reported = version.filter(|version| delta.origin == Origin::Watch && !version.is_unset());
                (Item::Deltas(delta.into()), reported)
            }
            Entry::Requeued(delta) => {
                self.popped(&delta);
                (Item::Deltas(delta.into()), None)
            }
            Entry::Mark(mark) => {
                let reported = match &*mark {
                    Mark::Synced { resource_version } => Some(resource_version.clone()),
                    Mark::Gap { .. } => None,
                };
                (Item::Mark(*mark), reported)
            }
            Entry::ReplacedAll(replaced) => {
                let (all, version) = *replaced;
                all.iter().flat_map(|deltas| &**deltas).for_each(|delta| self.popped(delta));
                (Item::ReplacedAll(all), Some(version))
            }
            Entry::Bookmark(version) => (Item::Bookmark, Some(version)),
        };
        if self.entries.is_empty() {
            self.entries.shrink_to(RETAINED_CAPACITY);
            self.queued = self.queued.take().filter(|_| !self.resync.is_empty());
        }
        Some(Popped { item, is_in_initial_list, up_to })
    }

    fn used(&self) -> QueueSize {
        self.used
    }

    fn initial_sync(&self) -> &InitialSync {
        &self.initial_sync
    }
}

impl Queue for OrderedFifo {
    fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        let (_, object) = self.preprocessor.prepare(object)?;
        self.event(Change::Added(object), origin, |_| ());
        Ok(())
    }

    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        let (_, object) = self.preprocessor.prepare(object)?;
        self.event(Change::Updated(object), origin, |_| ());
        Ok(())
    }

    fn delete(&self, deleted: DeletedObject, origin: Origin) -> Result<(), KeyError> {
        let (key, deleted) = self.preprocessor.prepare_deleted(deleted)?;
        self.event(Change::Deleted(deleted), origin, |state| {
            // The object was listed and deleted before the list was complete.
            if let InitialList::Tracked(listed) = &mut state.initial_list {
                listed.remove(&key);
            }
        });
        Ok(())
    }

    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        version: &ResourceVersion,
        origin: Origin,
    ) -> Result<(), KeyError> {
        let objects = objects
            .into_iter()
            .map(|object| self.preprocessor.prepare_listed(object))
            .collect::<Result<Vec<_>, _>>()?;
        self.queue.change(|state| {
            let initial_list = std::mem::replace(&mut state.initial_list, InitialList::Complete);
            self.is_initial_list_complete.store(true, Ordering::Relaxed);
            let (is_first, listed) = match initial_list {
                InitialList::FromEmpty => (true, None),
                InitialList::Tracked(listed) => (true, Some(listed)),
                InitialList::Complete => (false, Some(HashSet::new())),
            };
            let tombstones = listed.map(|listed| {
                let newest = self.newest(state);
                let queued = newest.iter().map(|(key, delta)| (key, *delta));
                let kept = listed.into_iter().chain(objects.iter().map(|(key, _)| key.clone()));
                self.preprocessor.tombstones(queued, kept, origin)
            });
            let tombstones = tombstones.unwrap_or_default();
            if self.atomic_replace && !is_first && state.initial_sync.has_synced() {
                state.replace_all(tombstones, objects, version.clone(), origin);
                return;
            }
            for (_, tombstone) in tombstones {
                state.enqueue(tombstone);
            }
            state.entries.reserve(objects.len());
            for (_, object) in objects {
                state.enqueue(Delta { change: Change::Replaced(object), origin });
            }
            // Requeued deltas have been counted as popped already.
            let unpopped = state.entries.iter().filter(|entry| matches!(entry, Entry::Delta(_))).count();
            state.initial_sync.record_list(unpopped);
            if is_first {
                state.mark(Mark::Synced { resource_version: version.clone() });
            } else {
                state.bookmark(version.clone());
            }
        });
        Ok(())
    }

    fn list_may_be_unrelated(&self) {
        self.preprocessor.set_list_may_be_unrelated(true);
    }

    fn list_begin(&self, _origin: Origin) {
        self.preprocessor.set_list_may_be_unrelated(false);
        self.queue.inspect(|state| {
            let is_empty = state.used.deltas == 0 && self.preprocessor.known_keys().is_empty();
            match &mut state.initial_list {
                InitialList::Complete => {}
                listing if is_empty => *listing = InitialList::FromEmpty,
                listing => *listing = InitialList::Tracked(HashSet::new()),
            }
        });
    }

    fn list_item(&self, object: Arc<Object>, origin: Origin) -> Option<Arc<Object>> {
        if self.is_initial_list_complete.load(Ordering::Relaxed) {
            return Some(self.preprocessor.prepare_deferred(object));
        }
        // An object without a key is returned, so that `replace` reports the error.
        let Ok((key, taken)) = self.preprocessor.prepare(Arc::clone(&object)) else { return Some(object) };
        self.queue.push_batched(|state| {
            if let InitialList::Tracked(listed) = &mut state.initial_list {
                listed.insert(key);
            }
            state.enqueue(Delta { change: Change::Replaced(taken), origin });
        });
        None
    }

    fn resync(&self) {
        let Some((known, keys)) = self.preprocessor.resync_source() else { return };
        self.queue.change(|state| {
            let queued = state.count_queued().keys().cloned().collect();
            state.resync.start(known, keys, queued);
        });
    }

    fn mark(&self, mark: Mark) {
        self.queue.push(|state| state.mark(mark));
    }

    fn bookmark(&self, version: &ResourceVersion) {
        self.queue.push(|state| state.bookmark(version.clone()));
    }

    fn try_pop_or_requeue(&self, process: &mut RequeueFunc<'_>) -> Result<bool, FifoClosedError> {
        self.queue.try_pop(process, |state, deltas, _| {
            for delta in deltas.into_iter().flatten() {
                state.requeue(delta);
            }
        })
    }

    fn under_lock(&self, work: &mut dyn FnMut()) {
        self.queue.under_lock(work);
    }

    fn flush(&self) {
        self.queue.signals().notify_item();
    }

    fn has_room(&self) -> bool {
        self.queue.has_room()
    }

    fn has_synced(&self) -> bool {
        self.queue.has_synced()
    }

    fn set_transformer(&self, transformer: Transformer) {
        self.preprocessor.set_transformer(transformer);
    }

    fn close(&self) {
        self.queue.close();
    }

    fn signals(&self) -> &Signals {
        self.queue.signals()
    }
}

#[cfg(test)]
mod tests;
