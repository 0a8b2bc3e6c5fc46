//! A queue that groups the deltas of each object.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::applied_version::VersionTracker;
use super::enqueue::Preprocessor;
use super::initial_sync::InitialSync;
use super::locks::{LockedQueue, QueueSize, QueueState, RETAINED_CAPACITY};
use super::pending_resync::PendingResync;
use super::{
    Change, DEFAULT_BYTES, DEFAULT_CAPACITY, Delta, Deltas, FifoClosedError, Item, KnownObjects, Mark,
    Popped, Queue, RequeueFunc, Signals, Transformer, key_of,
};
use crate::object::{
    Compressor, DeletedObject, Key, KeyError, KeyFunc, Object, Origin, ResourceVersion, meta_namespace_key,
};

/// Options of a [`DeltaFifo`].
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::Origin;
/// # use kdelta::queue::{DeltaFifo, DeltaFifoOptions, DeltaType, Item, Queue};
/// # use kdelta::store::{Cache, Store};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// // Objects in the store that a list lacks have been deleted.
/// let store = Arc::new(Cache::new());
/// store.add(web).expect("a key");
/// let options = DeltaFifoOptions::default().known_objects(Some(store)).capacity(100);
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
    /// The key function.
    pub key_func: KeyFunc,
    /// The store that the queue feeds. Without one, the queue compares a list with its own deltas only.
    pub known_objects: Option<KnownObjects>,
    /// Whether the objects of a list are queued as [`Change::Replaced`] or, as in older versions of client-go, as
    /// [`Change::Sync`].
    pub emit_delta_type_replaced: bool,
    /// Whether a list after the initial one is popped as one [`Item::ReplacedAll`] (client-go: `AtomicEvents`), so that
    /// it can be applied in one step. It includes the deltas queued before the list. If false, objects are popped one
    /// by one.
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

impl Default for DeltaFifoOptions {
    fn default() -> Self {
        Self {
            key_func: meta_namespace_key,
            known_objects: None,
            emit_delta_type_replaced: true,
            atomic_replace: false,
            transformer: None,
            compressor: None,
            capacity: DEFAULT_CAPACITY,
            bytes: DEFAULT_BYTES,
        }
    }
}

setters!(DeltaFifoOptions {
    key_func: KeyFunc,
    known_objects: Option<KnownObjects>,
    emit_delta_type_replaced: bool,
    atomic_replace: bool,
    transformer: Option<Transformer>,
    compressor: Option<Arc<Compressor>>,
    capacity: usize,
    bytes: usize,
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
        let DeltaFifoOptions {
            key_func,
            known_objects,
            emit_delta_type_replaced,
            atomic_replace,
            transformer,
            compressor,
            capacity,
            bytes,
        } = options;
        Self {
            preprocessor: Preprocessor::new(key_func, known_objects, transformer, compressor),
            emit_delta_type_replaced,
            atomic_replace,
            queue: LockedQueue::new(State::default(), QueueSize { deltas: capacity, bytes }),
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

    fn event(
        &self,
        object: Arc<Object>,
        origin: Origin,
        change: fn(Arc<Object>) -> Change,
    ) -> Result<(), KeyError> {
        let version = object.resource_version().clone();
        let (key, object) = self.preprocessor.prepare(object)?;
        self.queue.change(|state| {
            state.enqueue(key, Delta { change: change(object), origin });
            state.event(version, origin);
        });
        Ok(())
    }
}

impl State {
    /// Records a live event. Called after its delta was queued.
    fn event(&mut self, version: ResourceVersion, origin: Origin) {
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
    fn pop(&mut self) -> Option<Popped> {
        let is_in_initial_list = !self.initial_sync.has_synced();
        let has_live = !self.keys.is_empty() || self.versions.has_due();
        if !self.resync.is_empty()
            && let Some(delta) = self.resync.take_turn(!has_live, |key| self.deltas.contains_key(key))
        {
            return Some(Popped { item: Item::Deltas(delta.into()), is_in_initial_list, up_to: None });
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
        Some(Popped { item, is_in_initial_list, up_to })
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
        self.event(object, origin, Change::Added)
    }

    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        self.event(object, origin, Change::Updated)
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
            state.event(version, origin);
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

    fn list_begin(&self, _origin: Origin) {
        self.preprocessor.set_list_may_be_unrelated(false);
    }

    fn list_may_be_unrelated(&self) {
        self.preprocessor.set_list_may_be_unrelated(true);
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

    fn under_lock(&self, work: &mut dyn FnMut()) {
        self.queue.under_lock(work);
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
    use super::*;
    use crate::object::DeletedFinalStateUnknown;
    use crate::queue::testing::cases::Op::{Add, Delete, Pop, Replace, Resync, Update};
    use crate::queue::testing::cases::{Known, Op, known, object, pop_all, pop_one, run};
    use crate::queue::{pop, room};

    fn queue_of(known: Option<Arc<Known>>, emit_delta_type_replaced: bool) -> DeltaFifo {
        let known_objects = known.map(|known| known as KnownObjects);
        DeltaFifo::new(DeltaFifoOptions {
            known_objects,
            emit_delta_type_replaced,
            ..DeltaFifoOptions::default()
        })
    }

    fn pops(known: Option<Arc<Known>>, emit_delta_type_replaced: bool, ops: &[Op]) -> Vec<String> {
        let queue = queue_of(known, emit_delta_type_replaced);
        run(&queue, ops);
        pop_all(&queue)
    }

    // C1
    #[test]
    fn replace_after_a_queued_delete_restores_the_object() {
        let ops = [Delete("foo", 1), Replace(&[("foo", 2)])];
        assert_eq!(pops(Some(known(&[("foo", 1)])), false, &ops), ["D(foo1),S(foo2)"]);
    }

    // C2
    #[test]
    fn replace_deletes_objects_that_are_only_queued() {
        const FOO: &[(&str, u32)] = &[("foo", 2)];
        for (replaced, ops, expected) in [
            (false, vec![Add("foo", 2), Replace(&[])], "A(foo2),D(T(foo,foo2))"),
            (true, vec![Add("foo", 2), Replace(FOO), Replace(&[])], "A(foo2),R(foo2),D(T(foo,foo2))"),
            (false, vec![Add("foo", 2), Delete("foo", 2), Replace(&[])], "A(foo2),D(foo2)"),
            (
                false,
                vec![Add("foo", 2), Replace(FOO), Replace(FOO), Replace(&[])],
                "A(foo2),S(foo2),S(foo2),D(T(foo,foo2))",
            ),
            (false, vec![Add("foo", 2), Replace(&[]), Replace(&[])], "A(foo2),D(T(foo,foo2))"),
            (
                false,
                vec![Add("foo", 2), Delete("foo", 2), Add("foo", 3), Replace(&[])],
                "A(foo2),D(foo2),A(foo3),D(T(foo,foo3))",
            ),
        ] {
            for known in [Some(known(&[])), None] {
                assert_eq!(pops(known, replaced, &ops), [expected]);
            }
        }
    }

    // C3, C7, C5, C6
    #[test]
    fn deltas_of_one_object_are_one_pop() {
        let ops = [Add("foo", 10), Update("foo", 12), Delete("foo", 15)];
        assert_eq!(pops(None, false, &ops), ["A(foo10),U(foo12),D(foo15)"]);
        assert_eq!(pops(None, false, &[Add("foo", 10), Replace(&[("foo", 15)])]), ["A(foo10),S(foo15)"]);
    }

    #[test]
    fn delete_of_an_unknown_object_is_dropped() {
        let ops = [Add("foo", 10), Update("bar", 15), Add("qux", 17), Delete("qux", 18), Delete("baz", 20)];
        assert_eq!(pops(None, false, &ops), ["A(foo10)", "U(bar15)", "A(qux17),D(qux18)"]);
        let known = known(&[("foo", 5), ("bar", 6), ("baz", 7)]);
        let ops = [Add("foo", 10), Update("bar", 15), Delete("baz", 20)];
        assert_eq!(pops(Some(known), false, &ops), ["A(foo10)", "U(bar15)", "D(baz20)"]);
    }

    // C8, C9, C10, D9
    #[test]
    fn resync_repeats_stored_objects_that_are_not_queued() {
        let foo = || Some(known(&[("foo", 5)]));
        assert_eq!(pops(foo(), false, &[Delete("foo", 10), Resync]), ["D(foo10)"]);
        assert_eq!(pops(foo(), false, &[Resync]), ["S(foo5)"]);
        assert_eq!(pops(foo(), false, &[Resync, Resync]), ["S(foo5)"]);
        assert_eq!(pops(foo(), false, &[Update("foo", 6), Resync]), ["U(foo6)"]);
        assert_eq!(pops(Some(known(&[])), false, &[Add("foo", 5), Delete("foo", 6)]), ["A(foo5),D(foo6)"]);
        assert_eq!(pops(None, false, &[Resync]), [""; 0]);
    }

    // C11, C12, C13
    #[test]
    fn replace_deletes_stored_and_queued_objects() {
        const FOO: &[(&str, u32)] = &[("foo", 5)];
        let three = || Some(known(&[("foo", 5), ("bar", 6), ("baz", 7)]));
        let bar_deleted = "D(T(bar,bar6))";
        for (known, ops, expected) in [
            (three(), vec![Delete("baz", 10), Replace(FOO)], vec!["D(baz10)", "S(foo5)", bar_deleted]),
            (
                three(),
                vec![Add("baz", 10), Replace(FOO)],
                vec!["A(baz10),D(T(baz,baz10))", "S(foo5)", bar_deleted],
            ),
            (
                three(),
                vec![Delete("bar", 6), Add("bar", 100), Replace(FOO)],
                vec!["D(bar6),A(bar100),D(T(bar,bar100))", "S(foo5)", "D(T(baz,baz7))"],
            ),
            (
                three(),
                vec![Replace(&[("bar", 100), ("foo", 5)]), Replace(FOO)],
                vec!["S(bar100),D(T(bar,bar100))", "S(foo5),S(foo5)", "D(T(baz,baz7))"],
            ),
            (None, vec![Add("baz", 10), Replace(FOO)], vec!["A(baz10),D(T(baz,baz10))", "S(foo5)"]),
        ] {
            assert_eq!(pops(known, false, &ops), expected);
        }
        let ops = [Delete("baz", 10), Replace(&[("foo", 6)])];
        assert_eq!(pops(three(), true, &ops), ["D(baz10)", "R(foo6)", bar_deleted]);
        assert_eq!(pops(Some(known(&[("foo", 5)])), true, &[Replace(FOO)]), ["R(foo5)"]);
    }

    /// One pop returns a list and the deltas queued before it.
    #[test]
    fn atomic_replace_is_one_pop_with_earlier_deltas() {
        const FOO: &[(&str, u32)] = &[("foo", 5)];
        let queue_of = |known| {
            DeltaFifo::new(DeltaFifoOptions {
                known_objects: Some(known as KnownObjects),
                atomic_replace: true,
                ..DeltaFifoOptions::default()
            })
        };
        let queue = queue_of(known(&[]));
        run(&queue, &[Replace(FOO), Replace(&[("foo", 6)])]);
        assert_eq!(pop_all(&queue), ["R(foo5),R(foo6)"], "the initial list is popped object by object");
        for (ops, expected) in [
            (vec![Delete("baz", 10), Replace(FOO)], vec!["RA[D(baz10) R(foo5) D(T(bar,bar6))]"]),
            (
                vec![Add("qux", 10), Replace(FOO), Replace(FOO)],
                vec!["RA[A(qux10),D(T(qux,qux10)) R(foo5),R(foo5) D(T(bar,bar6)) D(T(baz,baz7))]"],
            ),
            (
                vec![Update("bar", 8), Replace(FOO), Update("foo", 9), Add("new", 10)],
                vec!["RA[U(bar8),D(T(bar,bar8)) R(foo5),U(foo9) D(T(baz,baz7))]", "A(new10)"],
            ),
        ] {
            let queue = queue_of(known(&[("foo", 5), ("bar", 6), ("baz", 7)]));
            run(&queue, &[Update("foo", 5), Pop]);
            run(&queue, &ops);
            assert_eq!(pop_all(&queue), expected);
            assert!(queue.has_room() && queue.list_keys().is_empty());
        }
    }

    // B5
    #[test]
    fn queue_is_synced_once_the_first_list_is_popped() {
        const TWO: &[(&str, u32)] = &[("a", 1), ("b", 2)];
        for (ops, expected) in [
            (vec![], false),
            (vec![Add("a", 1)], true),
            (vec![Replace(&[])], true),
            (vec![Replace(TWO)], false),
            (vec![Replace(TWO), Pop], false),
            (vec![Replace(TWO), Pop, Pop], true),
            (vec![Replace(&[("a", 1), ("a", 2)]), Pop], true),
        ] {
            let queue = queue_of(None, true);
            run(&queue, &ops);
            assert_eq!(queue.has_synced(), expected);
        }
    }

    // C15
    #[test]
    fn tombstones_of_the_first_list_are_part_of_it() {
        let queue = queue_of(Some(known(&[("foo", 5), ("bar", 6), ("baz", 7)])), false);
        run(&queue, &[Replace(&[("foo", 5)])]);
        for expected in ["S(foo5)", "D(T(bar,bar6))", "D(T(baz,baz7))"] {
            assert!(!queue.has_synced());
            assert_eq!(pop_one(&queue), Some((expected.to_owned(), true)));
        }
        assert!(queue.has_synced());
    }

    // B4, C16
    #[test]
    fn updated_object_keeps_its_position() {
        let queue = queue_of(None, true);
        run(&queue, &[Add("foo", 10), Add("bar", 1), Add("foo", 11), Add("foo", 13), Add("zab", 30)]);
        assert_eq!(queue.list_keys().len(), 3);
        assert_eq!(pop_one(&queue).map(|(deltas, _)| deltas), Some("A(foo10),A(foo11),A(foo13)".to_owned()));
        run(&queue, &[Add("foo", 14)]);
        assert_eq!(pop_all(&queue), ["A(bar1)", "A(zab30)", "A(foo14)"]);
    }

    #[test]
    fn observed_delete_replaces_an_inferred_one() {
        let queue = queue_of(None, true);
        let tombstone = || {
            let object = Some(object("foo", 1));
            DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key: "foo".into(), object })
        };
        run(&queue, &[Add("foo", 1)]);
        queue.delete(tombstone(), Origin::Relist).expect("a key");
        run(&queue, &[Delete("foo", 2)]);
        queue.delete(tombstone(), Origin::Relist).expect("a key");
        assert_eq!(pop_all(&queue), ["A(foo1),D(foo2)"]);
        assert!(queue.has_room());
    }

    #[test]
    fn requeued_deltas_yield_to_newer_ones() {
        let queue = queue_of(None, true);
        let pop = || {
            let mut popped = None;
            queue.try_pop(&mut |next| popped = Some(next.item)).expect("open");
            match popped {
                Some(Item::Deltas(deltas)) => deltas,
                other => panic!("{other:?}"),
            }
        };
        run(&queue, &[Add("foo", 1), Update("foo", 2), Add("bar", 3)]);
        assert_eq!(queue.add_if_not_present(pop()), Ok(true));
        assert_eq!(queue.list_keys(), ["bar".into(), "foo".into()]);
        let bar = pop();
        run(&queue, &[Update("bar", 4)]);
        assert_eq!(queue.add_if_not_present(bar), Ok(false));
        assert_eq!(pop_all(&queue), ["A(foo1),U(foo2)", "U(bar4)"]);
        assert!(queue.add_if_not_present(Deltas::default()).is_err());
    }

    // B6
    #[tokio::test]
    async fn close_wakes_consumers_and_queued_deltas_are_still_popped() {
        let queue = Arc::new(queue_of(None, true));
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 0..10 {
            let queue = Arc::clone(&queue);
            waiting.spawn(async move {
                let mut popped = 0;
                while pop(&*queue, &mut |_| popped += 1).await.is_ok() {}
                popped
            });
        }
        tokio::task::yield_now().await;
        run(&*queue, &[Add("a", 1), Add("b", 1)]);
        queue.close();
        assert_eq!(waiting.join_all().await.into_iter().sum::<i32>(), 2);
        run(&*queue, &[Add("c", 1)]);
        assert_eq!(pop(&*queue, &mut |_| ()).await, Ok(()));
        let error = pop(&*queue, &mut |_| ()).await.expect_err("closed");
        assert_eq!(error.to_string(), "manipulating with closed queue");
    }

    #[tokio::test]
    async fn producer_is_woken_when_half_of_the_queue_is_free() {
        let queue = Arc::new(DeltaFifo::new(DeltaFifoOptions { capacity: 2, ..DeltaFifoOptions::default() }));
        run(&*queue, &[Replace(&[("a", 1), ("b", 1), ("c", 1)])]);
        assert!(!queue.has_room());
        let waiting = tokio::spawn({
            let queue = Arc::clone(&queue);
            async move { room(&*queue).await }
        });
        tokio::task::yield_now().await;
        run(&*queue, &[Pop, Pop]);
        waiting.await.expect("no panic");
        run(&*queue, &[Add("d", 1)]);
        assert!(!queue.has_room());
        queue.close();
        room(&*queue).await;
    }

    #[tokio::test]
    async fn producer_is_woken_despite_deltas_that_always_fail() {
        let queue = Arc::new(DeltaFifo::new(DeltaFifoOptions { capacity: 4, ..DeltaFifoOptions::default() }));
        run(&*queue, &[Add("a", 1), Add("b", 1), Add("c", 1), Add("d", 1)]);
        let waiting = tokio::spawn({
            let queue = Arc::clone(&queue);
            async move { room(&*queue).await }
        });
        tokio::task::yield_now().await;
        for _ in 0..8 {
            let popped = queue.try_pop_or_requeue(&mut |popped| match popped.item {
                Item::Deltas(deltas) if deltas[0].object().is_some_and(|object| object.name() != "d") => {
                    vec![deltas]
                }
                _ => Vec::new(),
            });
            assert_eq!(popped, Ok(true));
        }
        assert!(queue.has_room());
        tokio::task::yield_now().await;
        assert!(waiting.is_finished(), "three of four deltas stay queued");
    }

    #[test]
    fn queue_without_capacity_holds_one_delta() {
        let queue = DeltaFifo::new(DeltaFifoOptions { capacity: 0, ..DeltaFifoOptions::default() });
        assert!(queue.has_room());
        run(&queue, &[Add("a", 1)]);
        assert!(!queue.has_room());
    }

    #[test]
    fn version_is_reported_once_earlier_deltas_are_popped() {
        let queue = queue_of(None, true);
        let next = || {
            let mut version = None;
            let some = queue.try_pop(&mut |popped| version = popped.up_to).expect("open");
            some.then(|| version.map(|version| version.to_string()))
        };
        run(&queue, &[Add("a", 1), Add("b", 2), Update("a", 3)]);
        // The third delta was popped with the first, but the second has not been popped yet.
        assert_eq!(next(), Some(Some("1".to_owned())));
        run(&queue, &[Add("c", 4)]);
        assert_eq!(next(), Some(Some("3".to_owned())));
        // A queue that never becomes empty.
        for version in 5..20 {
            run(&queue, &[Add(["c", "d"][version as usize % 2], version)]);
            assert_eq!(next(), Some(Some((version - 1).to_string())));
        }
        assert_eq!(next(), Some(Some("19".to_owned())));
        assert_eq!(next(), None);
        run(&queue, &[Replace(&[("a", 20), ("b", 20)])]);
        assert_eq!(next(), Some(None));
        assert_eq!(next(), Some(Some("1".to_owned())), "the version of the list");
        queue.bookmark(&"7".into());
        queue.bookmark(&"8".into());
        assert_eq!(next(), Some(Some("8".to_owned())));
        assert_eq!(next(), None);
    }
}
