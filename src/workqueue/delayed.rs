//! Items that are added at a later time.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::time::Instant;

/// Items by the time at which they are due, each once. Items of the same time are due in the order in which they were added.
pub(super) struct Delayed<T> {
    by_time: BTreeMap<(Instant, u64), T>,
    times: HashMap<T, (Instant, u64)>,
    /// The number of insertions, which orders items of the same time.
    inserted: u64,
}

impl<T> Default for Delayed<T> {
    fn default() -> Self {
        Self { by_time: BTreeMap::new(), times: HashMap::new(), inserted: 0 }
    }
}

impl<T: Clone + Eq + Hash> Delayed<T> {
    /// Adds an item. Of two times for an item the earlier one holds.
    pub(super) fn insert(&mut self, item: T, due: Instant) {
        if let Some(time) = self.times.get(&item) {
            if time.0 <= due {
                return;
            }
            self.by_time.remove(time);
        }
        self.inserted += 1;
        let time = (due, self.inserted);
        self.times.insert(item.clone(), time);
        self.by_time.insert(time, item);
    }

    /// Removes and returns the next item that is due.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<T> {
        let entry = self.by_time.first_entry().filter(|entry| entry.key().0 <= now)?;
        let item = entry.remove();
        self.times.remove(&item);
        Some(item)
    }

    /// Returns the earliest time at which an item is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.by_time.first_key_value().map(|(time, _)| time.0)
    }

    /// Removes all items.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
