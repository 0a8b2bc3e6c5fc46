//! A FIFO that keeps only the latest state of each object.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::applied_version::VersionTracker;
use super::initial_sync::InitialSync;
use super::locks::{LockedQueue, QueueState, RETAINED_CAPACITY};
use super::size::QueueSize;
use super::{
    Change, DEFAULT_BYTES, DEFAULT_CAPACITY, Delta, FifoClosedError, Item, Mark, PoppedItem, Queue,
    QueueControl, RequeueFunc, Transformer, key_of,
};
use crate::object::{DeletedObject, Key, KeyError, KeyFunc, Object, Origin, ResourceVersion};

/// A FIFO of the latest state of each object, in the order in which the objects were first queued (client-go: `FIFO`).
///
/// An object that is added again keeps its position with the newer state. An object that is deleted before it was
/// popped is dropped, and a delete is never popped. Suited to a consumer that compares each object with the actual
/// state itself.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::{Ingest, Object, TypeMeta};
/// # fn pod(json: &str) -> Arc<Object> {
/// #     let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
/// #     Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
/// # }
/// use kdelta::object::{Origin, meta_namespace_key};
/// use kdelta::queue::{Fifo, Item, Queue};
///
/// let queue = Fifo::new(meta_namespace_key);
/// for version in 1..=3 {
///     let json = format!(r#"{{"metadata":{{"name":"web","resourceVersion":"{version}"}}}}"#);
///     queue.update(pod(&json), Origin::Watch)?;
/// }
/// let mut versions = Vec::new();
/// while queue.try_pop(&mut |popped| {
///     let Item::Deltas(deltas) = popped.item else { return };
///     versions.extend(deltas.iter().filter_map(|delta| Some(delta.object()?.resource_version().clone())));
/// })? {}
/// assert_eq!(versions, ["3".into()]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Fifo {
    key_func: KeyFunc,
    queue: LockedQueue<State>,
}

#[derive(Default)]
struct State {
    /// Every key of `items`, and keys of deleted items, which are skipped.
    keys: VecDeque<Key>,
    items: HashMap<Key, Delta>,
    /// The bytes of `items`.
    bytes: usize,
    initial_sync: InitialSync,
    versions: VersionTracker,
}

impl Fifo {
    /// Creates an empty queue with room for [`DEFAULT_CAPACITY`] objects.
    #[must_use]
    pub fn new(key_func: KeyFunc) -> Self {
        Self::with_capacity(key_func, DEFAULT_CAPACITY)
    }

    /// Creates an empty queue with room for `capacity` objects, at least one, and [`DEFAULT_BYTES`] bytes.
    #[must_use]
    pub fn with_capacity(key_func: KeyFunc, capacity: usize) -> Self {
        Self::with_limits(key_func, QueueSize { deltas: capacity, bytes: DEFAULT_BYTES })
    }

    pub(super) fn with_limits(key_func: KeyFunc, capacity: QueueSize) -> Self {
        Self { key_func, queue: LockedQueue::new(State::default(), capacity) }
    }

    fn event(
        &self,
        object: Arc<Object>,
        origin: Origin,
        change: fn(Arc<Object>) -> Change,
    ) -> Result<(), KeyError> {
        let key = (self.key_func)(&object)?;
        self.queue.change(|state| {
            state.initial_sync.record_event();
            state.enqueue(key, Delta { change: change(object), origin });
        });
        Ok(())
    }
}

impl State {
    fn enqueue(&mut self, key: Key, delta: Delta) {
        self.bytes += delta.weight();
        match self.items.insert(key.clone(), delta) {
            Some(older) => self.bytes -= older.weight(),
            None => self.keys.push_back(key),
        }
    }

    fn remove(&mut self, key: &Key) -> Option<Delta> {
        let delta = self.items.remove(key)?;
        self.bytes -= delta.weight();
        Some(delta)
    }

    /// Records that everything up to this version has been queued.
    fn record_version(&mut self, version: &ResourceVersion) {
        self.versions.record(version.clone(), self.keys.len());
    }
}

impl QueueState for State {
    fn pop(&mut self) -> Option<PoppedItem> {
        let is_in_initial_list = !self.initial_sync.has_synced();
        let mut item = None;
        while item.is_none() {
            let Some(key) = self.keys.pop_front() else { break };
            // The key of a deleted item counts too: nothing is left to wait for.
            self.initial_sync.record_pop();
            self.versions.record_pops(1);
            item = self.remove(&key).map(|delta| Item::Deltas(delta.into()));
        }
        if item.is_none() && self.versions.has_due() {
            item = Some(Item::Bookmark);
        }
        if self.keys.is_empty() {
            self.keys.shrink_to(RETAINED_CAPACITY);
            self.items.shrink_to(RETAINED_CAPACITY);
        }
        let up_to = self.versions.take_due();
        Some(PoppedItem { item: item?, is_in_initial_list, up_to })
    }

    /// Counts the keys of deleted items too. Otherwise objects that are added and deleted in turn would fill `keys`
    /// without bound.
    fn used(&self) -> QueueSize {
        QueueSize { deltas: self.keys.len(), bytes: self.bytes }
    }

    fn initial_sync(&self) -> &InitialSync {
        &self.initial_sync
    }
}

impl Queue for Fifo {
    fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        self.event(object, origin, Change::Added)
    }

    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        self.event(object, origin, Change::Updated)
    }

    /// Drops the queued state of the object.
    fn delete(&self, deleted: DeletedObject, _origin: Origin) -> Result<(), KeyError> {
        let key = match &deleted {
            DeletedObject::Known(object) => (self.key_func)(object)?,
            DeletedObject::FinalStateUnknown(tombstone) => tombstone.key.clone(),
        };
        self.queue.change(|state| {
            state.initial_sync.record_event();
            state.remove(&key);
        });
        Ok(())
    }

    /// Drops queued objects that are not in the list.
    fn replace(
        &self,
        objects: Vec<Arc<Object>>,
        version: &ResourceVersion,
        origin: Origin,
    ) -> Result<(), KeyError> {
        let keyed = objects.into_iter().map(|object| Ok(((self.key_func)(&object)?, object)));
        let keyed = keyed.collect::<Result<Vec<_>, KeyError>>()?;
        self.queue.change(|state| {
            state.items.clear();
            state.bytes = 0;
            state.versions.record_pops(state.keys.len());
            state.keys.clear();
            for (key, object) in keyed {
                state.enqueue(key, Delta { change: Change::Replaced(object), origin });
            }
            state.initial_sync.record_list(state.keys.len());
            state.record_version(version);
        });
        Ok(())
    }

    fn list_begin(&self, _origin: Origin, _may_be_unrelated: bool) {}

    fn list_item(&self, object: Arc<Object>, _origin: Origin) -> Option<Arc<Object>> {
        Some(object)
    }

    /// Does nothing: the queue has no store, and its own objects will be popped anyway.
    fn resync(&self) {}

    fn mark(&self, _mark: Mark) {}

    fn bookmark(&self, version: &ResourceVersion) {
        self.queue.change(|state| state.record_version(version));
    }

    fn try_pop_or_requeue(&self, process: &mut RequeueFunc<'_>) -> Result<bool, FifoClosedError> {
        self.queue.try_pop(process, |state, deltas, up_to| {
            for deltas in deltas {
                if let Ok(key) = key_of(&deltas, self.key_func)
                    && !state.items.contains_key(&key)
                    && let Some(newest) = deltas.into_iter().next_back()
                {
                    state.enqueue(key, newest);
                }
            }
            state.versions.restore(up_to, state.keys.len());
        })
    }

    /// Does nothing: objects are queued as they are.
    fn set_transformer(&self, _transformer: Transformer) {}

    fn control(&self) -> &dyn QueueControl {
        &self.queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::meta_namespace_key;
    use crate::queue::testing::cases::Op::{Add, Delete, Pop, Replace, Update};
    use crate::queue::testing::cases::{Op, pop_all, run};

    fn pops(ops: &[Op]) -> Vec<String> {
        let queue = Fifo::new(meta_namespace_key);
        run(&queue, ops);
        pop_all(&queue)
    }

    // B2, B3
    #[test]
    fn only_the_latest_state_is_popped() {
        assert_eq!(pops(&[Add("foo", 10), Update("foo", 15)]), ["U(foo15)"]);
        assert_eq!(pops(&[Add("foo", 10), Replace(&[("foo", 15)])]), ["R(foo15)"]);
        assert_eq!(pops(&[Add("foo", 10), Add("bar", 1), Delete("foo", 11)]), ["A(bar1)"]);
        let ops = [Add("foo", 1), Add("bar", 2), Delete("foo", 3), Add("foo", 4)];
        assert_eq!(pops(&ops), ["A(foo4)", "A(bar2)"]);
    }

    #[test]
    fn deleted_objects_use_room_until_they_are_skipped() {
        let queue = Fifo::with_capacity(meta_namespace_key, 2);
        run(&queue, &[Add("foo", 1), Delete("foo", 2), Add("foo", 3), Delete("foo", 4)]);
        assert!(!queue.has_room(), "keys of deleted objects fill the queue");
        let mut room = waits_for_room(&queue);
        assert!(room());
        assert_eq!(pop_all(&queue), [""; 0]);
        assert!(queue.has_room());
        assert!(!room(), "the producer is woken");
    }

    /// Returns a function that reports whether a task that waits for room since this call is still waiting.
    fn waits_for_room(queue: &Fifo) -> impl FnMut() -> bool {
        let mut waiting = Box::pin(crate::queue::room(queue));
        move || {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            waiting.as_mut().poll(&mut context).is_pending()
        }
    }

    // B4
    #[test]
    fn updated_object_keeps_its_position() {
        let queue = Fifo::new(meta_namespace_key);
        run(&queue, &[Add("foo", 10), Add("bar", 1), Add("foo", 11), Add("foo", 13), Add("zab", 30), Pop]);
        run(&queue, &[Add("foo", 14)]);
        assert_eq!(pop_all(&queue), ["A(bar1)", "A(zab30)", "A(foo14)"]);
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
            (vec![Replace(TWO), Replace(&[("a", 3)])], false),
            (vec![Replace(TWO), Replace(&[("a", 3)]), Pop], true),
        ] {
            let queue = Fifo::new(meta_namespace_key);
            run(&queue, &ops);
            assert_eq!(queue.has_synced(), expected);
        }
    }
}
