//! A queue that keeps every delta, and the marks between them, in the order received.

use std::collections::{HashMap, HashSet, VecDeque, hash_map};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::enqueue::Preprocessor;
use super::initial_sync::InitialSync;
use super::locks::{LockedQueue, QueueSize, QueueState, RETAINED_CAPACITY};
use super::pending_resync::PendingResync;
use super::{
    Change, DEFAULT_BYTES, DEFAULT_CAPACITY, Delta, Deltas, FifoClosedError, Item, KnownObjects, Mark,
    Popped, Queue, RequeueFunc, Signals, Transformer,
};
use crate::object::{
    Compressor, DeletedObject, Key, KeyError, KeyFunc, Object, Origin, ResourceVersion, meta_namespace_key,
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
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::object::DeletedFinalStateUnknown;
    use crate::queue::testing::cases::Op::{Add, Delete, Pop, Replace, Resync, Update};
    use crate::queue::testing::cases::{Known, Op, known, object, object_text, pop_all, pop_one, run, text};

    fn queue_of(known: &Arc<Known>) -> OrderedFifo {
        OrderedFifo::new(Arc::clone(known) as KnownObjects, OrderedFifoOptions::default())
    }

    fn pops(known: &Arc<Known>, ops: &[Op]) -> Vec<String> {
        let queue = queue_of(known);
        run(&queue, ops);
        pop_all(&queue)
    }

    /// Pops all items, applies the deltas to the store, and returns the items as text, marks included.
    fn drain_as_text(queue: &OrderedFifo, known: &Known) -> Vec<String> {
        let mut texts = Vec::new();
        while queue
            .try_pop(&mut |popped| match popped.item {
                Item::Deltas(deltas) => deltas.iter().for_each(|delta| {
                    known.apply(delta);
                    texts.push(format!("{} {}", text(delta), delta.origin));
                }),
                Item::ReplacedAll(all) => panic!("{all:?}"),
                Item::Mark(Mark::Synced { resource_version }) => {
                    texts.push(format!("SYNCED {resource_version}"));
                }
                Item::Mark(Mark::Gap { from, to, .. }) => texts.push(format!("GAP {from} {to}")),
                Item::Bookmark => {}
            })
            .expect("open")
        {}
        texts
    }

    #[test]
    fn requeue_during_the_initial_list_does_not_prevent_sync() {
        let queue = queue_of(&known(&[]));
        queue.list_begin(Origin::List);
        for name in ["a", "b"] {
            assert!(queue.list_item(object(name, 1), Origin::List).is_none());
        }
        let mut requeue = |popped: Popped| match popped.item {
            Item::Deltas(deltas) => vec![deltas],
            _ => Vec::new(),
        };
        assert_eq!(queue.try_pop_or_requeue(&mut requeue), Ok(true));
        queue.replace(Vec::new(), &"7".into(), Origin::List).expect("keys");
        assert!(!queue.has_synced(), "b was not popped");
        assert_eq!(queue.try_pop(&mut |_| ()), Ok(true));
        assert!(queue.has_synced());
    }

    thread_local! {
        static KEYS: Cell<usize> = const { Cell::new(0) };
    }

    fn counting(object: &Object) -> Result<Key, KeyError> {
        KEYS.set(KEYS.get() + 1);
        meta_namespace_key(object)
    }

    #[test]
    fn requeue_cost_does_not_depend_on_the_queue_length() {
        const OBJECTS: usize = 500;
        let options = OrderedFifoOptions { key_func: counting, ..OrderedFifoOptions::default() };
        let queue = OrderedFifo::new(known(&[]) as KnownObjects, options);
        for number in 0..OBJECTS {
            queue.add(object(&format!("n{number}"), 1), Origin::Watch).expect("a key");
        }
        KEYS.set(0);
        let mut pops = 0;
        let mut fail_once = |popped: Popped| {
            pops += 1;
            match popped.item {
                Item::Deltas(deltas) if pops <= OBJECTS => vec![deltas],
                _ => Vec::new(),
            }
        };
        while queue.try_pop_or_requeue(&mut fail_once).expect("open") {}
        assert_eq!(pops, 2 * OBJECTS);
        assert!(KEYS.get() <= 6 * OBJECTS, "{} keys", KEYS.get());
    }

    /// Requeues while more deltas are queued, which are counted too, until the queue was empty and is filled again.
    #[test]
    fn requeued_deltas_yield_to_newer_ones() {
        let queue = queue_of(&known(&[]));
        let requeue = || {
            let mut requeue_all = |popped: Popped| match popped.item {
                Item::Deltas(deltas) => vec![deltas],
                _ => Vec::new(),
            };
            assert_eq!(queue.try_pop_or_requeue(&mut requeue_all), Ok(true));
        };
        for _ in 0..2 {
            run(&queue, &[Add("a", 1), Add("b", 2)]);
            requeue();
            run(&queue, &[Update("a", 3), Update("b", 4), Update("a", 5)]);
            requeue();
            assert_eq!(pop_one(&queue), Some(("A(a1)".into(), false)));
            requeue();
            requeue();
            assert_eq!(pop_all(&queue), ["U(a5)", "U(b4)"]);
        }
    }

    /// One pop returns a whole list at its position in the order.
    // E1, E2
    #[test]
    fn atomic_replace_is_one_pop_in_order() {
        const FOO: &[(&str, u32)] = &[("foo", 15)];
        for (known, ops, expected) in [
            (known(&[]), vec![Add("foo", 10), Replace(FOO)], vec!["A(foo10)", "RA[R(foo15)]"]),
            (
                known(&[("bar", 1)]),
                vec![Add("foo", 10), Replace(FOO), Update("foo", 16), Replace(&[])],
                vec!["A(foo10)", "RA[D(T(bar,bar1)) R(foo15)]", "U(foo16)", "RA[D(T(foo,foo16))]"],
            ),
            (
                known(&[]),
                vec![Add("a", 1), Replace(&[("a", 2), ("b", 3), ("a", 4)])],
                vec!["A(a1)", "RA[R(a4) R(b3)]"],
            ),
            // A resync skips an object with queued deltas.
            (
                known(&[("a", 1)]),
                vec![Replace(FOO), Replace(FOO), Resync],
                vec!["RA[D(T(a,a1)) R(foo15)]", "RA[R(foo15)]"],
            ),
        ] {
            let options = OrderedFifoOptions { atomic_replace: true, ..OrderedFifoOptions::default() };
            let queue = OrderedFifo::new(Arc::clone(&known) as KnownObjects, options);
            queue.list_begin(Origin::List);
            let initial = known.0.lock().expect("no panic").values().cloned().collect();
            queue.replace(initial, &"1".into(), Origin::List).expect("keys");
            assert!(
                pop_all(&queue).iter().all(|popped| !popped.starts_with("RA")),
                "the initial list streams"
            );
            run(&queue, &ops);
            assert_eq!(pop_all(&queue), expected);
            assert!(queue.has_room());
        }
    }

    #[test]
    fn failed_list_is_requeued_object_by_object() {
        let options = OrderedFifoOptions { atomic_replace: true, ..OrderedFifoOptions::default() };
        let queue = OrderedFifo::new(known(&[]) as KnownObjects, options);
        run(&queue, &[Replace(&[]), Replace(&[("a", 1), ("b", 1)]), Update("b", 2)]);
        assert_eq!(queue.try_pop(&mut |popped| assert!(matches!(popped.item, Item::Mark(_)))), Ok(true));
        let mut fail = |popped: Popped| match popped.item {
            Item::ReplacedAll(all) => all,
            other => panic!("{other:?}"),
        };
        assert_eq!(queue.try_pop_or_requeue(&mut fail), Ok(true));
        assert_eq!(pop_all(&queue), ["U(b2)", "R(a1)"]);
    }

    // D1, D2, D3, D5, D6, D7, D9
    #[test]
    fn each_delta_is_one_pop() {
        const FOO: &[(&str, u32)] = &[("foo", 2)];
        let deleted = "D(T(foo,foo2))";
        for (known, ops, expected) in [
            (known(&[("foo", 1)]), vec![Delete("foo", 1), Replace(FOO)], vec!["D(foo1)", "R(foo2)"]),
            (known(&[]), vec![Add("foo", 2), Replace(&[])], vec!["A(foo2)", deleted]),
            (
                known(&[]),
                vec![Add("foo", 2), Replace(FOO), Replace(&[])],
                vec!["A(foo2)", "R(foo2)", deleted],
            ),
            (known(&[]), vec![Add("foo", 2), Delete("foo", 2), Replace(&[])], vec!["A(foo2)", "D(foo2)"]),
            (
                known(&[]),
                vec![Add("foo", 2), Replace(FOO), Replace(FOO), Replace(&[])],
                vec!["A(foo2)", "R(foo2)", "R(foo2)", deleted],
            ),
            (known(&[]), vec![Add("foo", 2), Replace(&[]), Replace(&[])], vec!["A(foo2)", deleted]),
            (
                known(&[]),
                vec![Add("foo", 2), Delete("foo", 2), Add("foo", 3), Replace(&[])],
                vec!["A(foo2)", "D(foo2)", "A(foo3)", "D(T(foo,foo3))"],
            ),
            (
                known(&[]),
                vec![Add("foo", 10), Update("foo", 12), Delete("foo", 15)],
                vec!["A(foo10)", "U(foo12)", "D(foo15)"],
            ),
            (known(&[]), vec![Update("bar", 15), Delete("baz", 20)], vec!["U(bar15)", "D(baz20)"]),
            (known(&[]), vec![Add("foo", 10), Replace(&[("foo", 15)])], vec!["A(foo10)", "R(foo15)"]),
            (known(&[("foo", 5)]), vec![Delete("foo", 10), Resync], vec!["D(foo10)"]),
            (known(&[("foo", 5)]), vec![Resync, Resync], vec!["S(foo5)"]),
            (known(&[("foo", 5)]), vec![Update("foo", 6), Resync], vec!["U(foo6)"]),
        ] {
            assert_eq!(pops(&known, &ops), expected);
        }
    }

    // D8
    #[test]
    fn replace_deletes_before_it_adds() {
        const FOO: &[(&str, u32)] = &[("foo", 5)];
        let three = || known(&[("foo", 5), ("bar", 6), ("baz", 7)]);
        for (known, ops, expected) in [
            (three(), vec![Delete("baz", 10), Replace(FOO)], vec!["D(baz10)", "D(T(bar,bar6))", "R(foo5)"]),
            (
                three(),
                vec![Add("baz", 10), Replace(FOO)],
                vec!["A(baz10)", "D(T(baz,baz10))", "D(T(bar,bar6))", "R(foo5)"],
            ),
            (
                three(),
                vec![Delete("bar", 6), Add("bar", 100), Replace(FOO)],
                vec!["D(bar6)", "A(bar100)", "D(T(bar,bar100))", "D(T(baz,baz7))", "R(foo5)"],
            ),
            (
                three(),
                vec![Replace(&[("bar", 100), ("foo", 5)]), Replace(FOO)],
                vec!["D(T(baz,baz7))", "R(bar100)", "R(foo5)", "D(T(bar,bar100))", "R(foo5)"],
            ),
            (known(&[]), vec![Add("baz", 10), Replace(FOO)], vec!["A(baz10)", "D(T(baz,baz10))", "R(foo5)"]),
        ] {
            assert_eq!(pops(&known, &ops), expected);
        }
    }

    // B5
    #[test]
    fn queue_is_synced_once_the_first_list_is_popped() {
        const TWO: &[(&str, u32)] = &[("a", 1), ("b", 2)];
        const SAME: &[(&str, u32)] = &[("a", 1), ("a", 2)];
        for (ops, expected) in [
            (vec![], false),
            (vec![Add("a", 1)], true),
            (vec![Replace(&[])], true),
            (vec![Replace(TWO)], false),
            (vec![Replace(TWO), Pop], false),
            (vec![Replace(TWO), Pop, Pop], true),
            (vec![Replace(SAME), Pop], false),
            (vec![Replace(SAME), Pop, Pop], true),
        ] {
            let queue = queue_of(&known(&[]));
            run(&queue, &ops);
            assert_eq!(queue.has_synced(), expected);
        }
    }

    // D10
    #[test]
    fn tombstones_of_the_first_list_are_part_of_it() {
        let queue = queue_of(&known(&[("foo", 5), ("bar", 6), ("baz", 7)]));
        run(&queue, &[Replace(&[("foo", 5)])]);
        for expected in ["D(T(bar,bar6))", "D(T(baz,baz7))", "R(foo5)"] {
            assert!(!queue.has_synced());
            assert_eq!(pop_one(&queue), Some((expected.to_owned(), true)));
        }
        assert!(queue.has_synced());
    }

    // D11
    #[test]
    fn deltas_keep_the_order_of_the_source() {
        let queue = queue_of(&known(&[]));
        run(&queue, &[Add("foo", 10), Add("bar", 1), Add("foo", 11), Add("foo", 13), Add("zab", 30), Pop]);
        run(&queue, &[Add("foo", 14)]);
        assert_eq!(pop_all(&queue), ["A(bar1)", "A(foo11)", "A(foo13)", "A(zab30)", "A(foo14)"]);
    }

    // D4
    #[test]
    fn objects_are_transformed_once() {
        let known = known(&[]);
        let transformer: Transformer = Arc::new(|given| {
            Ok(object(given.name(), given.resource_version().to_string().parse::<u32>()? + 1))
        });
        let options = OrderedFifoOptions { transformer: Some(transformer), ..OrderedFifoOptions::default() };
        let queue = OrderedFifo::new(Arc::clone(&known) as KnownObjects, options);
        run(&queue, &[Add("foo", 10), Update("foo", 12), Delete("foo", 15)]);
        let tombstone = DeletedFinalStateUnknown { key: "bar".into(), object: Some(object("bar", 11)) };
        queue.delete(DeletedObject::FinalStateUnknown(tombstone), Origin::Relist).expect("a key");
        run(&queue, &[Replace(&[("foo", 16)])]);
        assert_eq!(
            drain_as_text(&queue, &known),
            [
                "A(foo11) watch",
                "U(foo13) watch",
                "D(foo16) watch",
                "D(T(bar,bar11)) relist",
                "R(foo17) list",
                "SYNCED 1"
            ]
        );
        run(&queue, &[Resync]);
        assert_eq!(drain_as_text(&queue, &known), ["S(foo17) resync"]);
    }

    #[test]
    fn failed_transformation_keeps_the_object() {
        let transformer: Transformer = Arc::new(|given| match given.name() {
            "foo" => Err("no foo".into()),
            "bar" => panic!("no bar"),
            _ => Ok(object("other", 1)),
        });
        let options = OrderedFifoOptions { transformer: Some(transformer), ..OrderedFifoOptions::default() };
        let queue = OrderedFifo::new(known(&[]) as KnownObjects, options);
        run(&queue, &[Add("foo", 10), Add("bar", 11), Add("baz", 12), Add("other", 13)]);
        assert_eq!(pop_all(&queue), ["A(foo10)", "A(bar11)", "A(baz12)", "A(other1)"]);
    }

    #[test]
    fn initial_list_streams() {
        let (known, none) = (known(&[]), Vec::new());
        let queue = queue_of(&known);
        queue.list_begin(Origin::List);
        assert!(queue.list_item(object("a", 1), Origin::List).is_none());
        assert_eq!(drain_as_text(&queue, &known), ["R(a1) list"]);
        assert!(!queue.has_synced());
        assert!(queue.list_item(object("b", 2), Origin::List).is_none());
        // A watch that sends the initial list may report changes before the list is complete.
        queue.delete(DeletedObject::Known(object("a", 3)), Origin::List).expect("a key");
        assert!(queue.list_item(object("b", 4), Origin::List).is_none());
        queue.replace(none, &"4".into(), Origin::List).expect("keys");
        assert!(!queue.has_synced());
        assert_eq!(drain_as_text(&queue, &known), ["R(b2) list", "D(a3) list", "R(b4) list", "SYNCED 4"]);
        assert!(queue.has_synced());
    }

    #[test]
    fn objects_of_a_broken_list_are_deleted_after_the_next() {
        let known = known(&[]);
        let queue = queue_of(&known);
        queue.list_begin(Origin::List);
        for (name, state) in [("a", 1), ("b", 2)] {
            assert!(queue.list_item(object(name, state), Origin::List).is_none());
        }
        assert_eq!(drain_as_text(&queue, &known), ["R(a1) list", "R(b2) list"]);
        assert!(queue.list_item(object("c", 3), Origin::List).is_none());
        queue.list_begin(Origin::List);
        assert!(queue.list_item(object("b", 2), Origin::List).is_none());
        queue.replace(vec![object("d", 4)], &"9".into(), Origin::List).expect("keys");
        assert_eq!(
            drain_as_text(&queue, &known),
            ["R(c3) list", "R(b2) list", "D(T(c,c3)) list", "D(T(a,a1)) list", "R(d4) list", "SYNCED 9"]
        );
    }

    #[test]
    fn later_list_is_one_step_and_shares_stored_objects() {
        let known = known(&[("a", 1), ("b", 2)]);
        let queue = queue_of(&known);
        run(&queue, &[Replace(&[("a", 1), ("b", 2)])]);
        drain_as_text(&queue, &known);
        queue.list_begin(Origin::Relist);
        let back = queue.list_item(object("a", 1), Origin::Relist).expect("returned");
        assert!(Arc::ptr_eq(&back, &known.0.lock().expect("no panic")["a"]));
        let changed = queue.list_item(object("c", 7), Origin::Relist).expect("returned");
        assert_eq!(object_text(&changed), "c7");
        assert_eq!(drain_as_text(&queue, &known), [""; 0]);
        let gap = Mark::Gap { from: "1".into(), to: "9".into(), lasted: std::time::Duration::from_secs(3) };
        queue.mark(gap);
        queue.replace(vec![back, changed], &"9".into(), Origin::Relist).expect("keys");
        assert_eq!(
            drain_as_text(&queue, &known),
            ["GAP 1 9", "D(T(b,b2)) relist", "R(a1) relist", "R(c7) relist"]
        );
    }

    #[test]
    fn versions_are_reported_in_order() {
        let known = known(&[]);
        let queue = queue_of(&known);
        queue.bookmark(&"4".into());
        queue.bookmark(&"5".into());
        run(&queue, &[Add("a", 6), Delete("b", 7)]);
        queue.replace(vec![object("a", 6), object("c", 3)], &"9".into(), Origin::Relist).expect("keys");
        let mut versions = Vec::new();
        while queue.try_pop(&mut |popped| versions.push(popped.up_to.map(|version| version.to_string())))
            == Ok(true)
        {}
        let versions: Vec<_> = versions.iter().map(|version| version.as_deref().unwrap_or("-")).collect();
        assert_eq!(versions, ["5", "6", "7", "-", "-", "9"]);
    }
}
