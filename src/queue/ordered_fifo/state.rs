//! The contents of the queue that keeps every delta in order.

use std::collections::{HashMap, HashSet, VecDeque, hash_map};
use std::sync::Arc;

use crate::object::{Key, KeyFunc, Object, Origin, ResourceVersion};
use crate::queue::initial_sync::InitialSync;
use crate::queue::locks::{QueueState, RETAINED_CAPACITY};
use crate::queue::pending_resync::PendingResync;
use crate::queue::size::QueueSize;
use crate::queue::{Change, Delta, Deltas, Item, Mark, PoppedItem};

pub(super) struct State {
    pub(super) key_func: KeyFunc,
    pub(super) entries: VecDeque<Entry>,
    /// The number of deltas in `entries` for each key. Counted from the first requeue, or from the start of a resync,
    /// until `entries` is empty; no other operation needs it.
    pub(super) queued: Option<HashMap<Key, usize>>,
    pub(super) resync: PendingResync,
    /// The size of the deltas in `entries`. Marks and bookmarks are not counted: there is about one per list.
    pub(super) used: QueueSize,
    pub(super) initial_sync: InitialSync,
    pub(super) initial_list: InitialList,
}

pub(super) enum Entry {
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
pub(super) enum InitialList {
    /// The list started with an empty store and queue, so all objects now in them belong to the list. The usual case;
    /// no keys are kept.
    FromEmpty,
    /// The store or queue had objects before the list, which may lack some of them. Holds the keys listed so far.
    Tracked(HashSet<Key>),
    /// The initial list is complete. Later lists are queued as a whole.
    Complete,
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
    /// Creates an empty state.
    pub(super) fn new(key_func: KeyFunc) -> Self {
        Self {
            key_func,
            entries: VecDeque::new(),
            queued: None,
            resync: PendingResync::default(),
            used: QueueSize::default(),
            initial_sync: InitialSync::default(),
            initial_list: InitialList::Tracked(HashSet::new()),
        }
    }

    pub(super) fn enqueue(&mut self, delta: Delta) {
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
    pub(super) fn replace_all(
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
    pub(super) fn deltas(&self) -> impl Iterator<Item = &Delta> {
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
    pub(super) fn requeue(&mut self, delta: Delta) {
        // The delta had a key when it was queued first.
        let Ok(key) = delta.key(self.key_func) else { return };
        if !self.count_queued().contains_key(&key) {
            self.push(delta, Entry::Requeued);
        }
    }

    /// Returns the number of queued deltas for each key, and keeps it up to date from now on.
    pub(super) fn count_queued(&mut self) -> &HashMap<Key, usize> {
        self.queued.get_or_insert_with(|| {
            let mut queued = HashMap::new();
            let deltas = self.entries.iter().flat_map(Entry::deltas);
            let keys = deltas.filter_map(|delta| delta.key(self.key_func).ok());
            keys.for_each(|key| *queued.entry(key).or_default() += 1);
            queued
        })
    }

    pub(super) fn mark(&mut self, mark: Mark) {
        self.entries.push_back(Entry::Mark(Box::new(mark)));
    }

    pub(super) fn bookmark(&mut self, version: ResourceVersion) {
        if let Some(Entry::Bookmark(last)) = self.entries.back_mut() {
            *last = version;
        } else {
            self.entries.push_back(Entry::Bookmark(version));
        }
    }
}

impl QueueState for State {
    fn pop(&mut self) -> Option<PoppedItem> {
        let is_in_initial_list = !self.initial_sync.has_synced();
        if !self.resync.is_empty() {
            let queued = self.queued.as_ref();
            let is_queued = |key: &Key| queued.is_some_and(|queued| queued.contains_key(key));
            if let Some(delta) = self.resync.take_turn(self.entries.is_empty(), is_queued) {
                return Some(PoppedItem {
                    item: Item::Deltas(delta.into()),
                    is_in_initial_list,
                    up_to: None,
                });
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
                    Mark::Gap { .. } | Mark::Bookmark { .. } => None,
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
        Some(PoppedItem { item, is_in_initial_list, up_to })
    }

    fn used(&self) -> QueueSize {
        self.used
    }

    fn initial_sync(&self) -> &InitialSync {
        &self.initial_sync
    }
}
