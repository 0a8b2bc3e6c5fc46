//! A queue that keeps every delta, and the marks between them, in the order received.

mod state;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::object::{DeletedObject, Key, KeyError, Object, Origin, ResourceVersion};
use crate::queue::enqueue::Preprocessor;
use crate::queue::locks::LockedQueue;
use crate::queue::size::QueueSize;
use crate::queue::{
    Change, Delta, FifoClosedError, KnownObjects, Mark, Queue, QueueControl, QueueOptions, RequeueFunc,
    Transformer,
};
use state::{Entry, InitialList, State};

/// A queue of all deltas in the order received, across all objects (client-go: `RealFIFO`, without its batch mode). One
/// pop returns one delta; with [`QueueOptions::atomic_replace`], one pop returns a whole list after the initial
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
/// use kdelta::queue::{Item, OrderedFifo, Queue, QueueOptions};
/// use kdelta::store::Cache;
///
/// let queue = OrderedFifo::new(Arc::new(Cache::new()), QueueOptions::default());
/// let web = pod(r#"{"metadata":{"name":"web"}}"#);
/// queue.list_begin(Origin::List, false);
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

impl OrderedFifo {
    /// Creates an empty queue that feeds the given store.
    #[must_use]
    pub fn new(known_objects: KnownObjects, options: QueueOptions) -> Self {
        let state = State::new(options.key_func);
        Self {
            atomic_replace: options.atomic_replace,
            queue: LockedQueue::new(state, QueueSize::capacity(&options)),
            preprocessor: Preprocessor::new(Some(known_objects), options),
            is_initial_list_complete: AtomicBool::new(false),
        }
    }

    /// Queues the delta of an event, and applies `update` under the same lock.
    fn queue_event(&self, change: Change, origin: Origin, update: impl FnOnce(&mut State)) {
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

impl Queue for OrderedFifo {
    fn add(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        let (_, object) = self.preprocessor.prepare(object)?;
        self.queue_event(Change::Added(object), origin, |_| ());
        Ok(())
    }

    fn update(&self, object: Arc<Object>, origin: Origin) -> Result<(), KeyError> {
        let (_, object) = self.preprocessor.prepare(object)?;
        self.queue_event(Change::Updated(object), origin, |_| ());
        Ok(())
    }

    fn delete(&self, deleted: DeletedObject, origin: Origin) -> Result<(), KeyError> {
        let (key, deleted) = self.preprocessor.prepare_deleted(deleted)?;
        self.queue_event(Change::Deleted(deleted), origin, |state| {
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
        let objects = self.preprocessor.prepare_list(objects)?;
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

    fn list_begin(&self, _origin: Origin, may_be_unrelated: bool) {
        self.preprocessor.set_list_may_be_unrelated(may_be_unrelated);
        self.queue.inspect(|state| {
            let is_empty = state.used.deltas == 0 && self.preprocessor.known_keys().is_empty();
            match &mut state.initial_list {
                InitialList::Complete => {}
                initial_list if is_empty => *initial_list = InitialList::FromEmpty,
                initial_list => *initial_list = InitialList::Tracked(HashSet::new()),
            }
        });
    }

    fn list_item(&self, object: Arc<Object>, origin: Origin) -> Option<Arc<Object>> {
        if self.is_initial_list_complete.load(Ordering::Relaxed) {
            return Some(self.preprocessor.prepare_deferred(object));
        }
        // An object without a key is returned, so that `replace` reports the error.
        let Ok((key, prepared)) = self.preprocessor.prepare(Arc::clone(&object)) else { return Some(object) };
        self.queue.push_batched(|state| {
            if let InitialList::Tracked(listed) = &mut state.initial_list {
                listed.insert(key);
            }
            state.enqueue(Delta { change: Change::Replaced(prepared), origin });
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

    fn set_transformer(&self, transformer: Transformer) {
        self.preprocessor.set_transformer(transformer);
    }

    fn control(&self) -> &dyn QueueControl {
        &self.queue
    }
}

#[cfg(test)]
mod tests;
