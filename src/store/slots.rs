//! The objects of a store, by key and by slot number.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;

use super::StoreError;
use crate::object::{Key, Object};

/// The number of an object inside a store. Indices hold these four bytes instead of the key: a store may have a million
/// objects in several indices, and an object is then found without hashing its key.
pub(super) type Slot = u32;

/// An object and its key, which may come from the caller's key function.
pub(super) struct Item {
    pub(super) key: Key,
    pub(super) object: Arc<Object>,
}

/// The number of slots up to which a sparse table is not compacted, because its size does not matter.
const SMALL: usize = 1024;

/// The number of slots per object above which a table is sparse. Compaction then costs a constant time per earlier
/// removal.
const SPARSE: usize = 4;

/// A map of objects. Freed slots are reused; [`ObjectSlots::compact`] releases them when most are free.
#[derive(Default)]
pub(super) struct ObjectSlots {
    /// The slots by key. A table of slots takes five bytes per entry, a map with keys 25.
    by_key: HashTable<Slot>,
    hasher: RandomState,
    slots: Vec<Option<Item>>,
    free: Vec<Slot>,
}

impl ObjectSlots {
    pub(super) fn with_capacity(objects: usize) -> Self {
        Self {
            by_key: HashTable::with_capacity(objects),
            slots: Vec::with_capacity(objects),
            ..Self::default()
        }
    }

    pub(super) fn slot_of(&self, key: &str) -> Option<Slot> {
        self.by_key.find(self.hasher.hash_one(key), |slot| self.key_at(*slot) == Some(key)).copied()
    }

    pub(super) fn at(&self, slot: Slot) -> Option<&Item> {
        self.slots.get(slot as usize)?.as_ref()
    }

    fn key_at(&self, slot: Slot) -> Option<&str> {
        self.at(slot).map(|item| &*item.key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Arc<Object>> {
        self.slot_of(key).and_then(|slot| self.at(slot)).map(|item| &item.object)
    }

    pub(super) fn len(&self) -> usize {
        self.by_key.len()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.iter().map(|(_, item)| &item.key)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Slot, &Item)> {
        (0..).zip(&self.slots).filter_map(|(slot, item)| item.as_ref().map(|item| (slot, item)))
    }

    /// Stores the object under the key, in the slot of the key or in a free one.
    pub(super) fn put(&mut self, key: Key, object: Arc<Object>) -> Result<Slot, StoreError> {
        if let Some(slot) = self.slot_of(&key) {
            // Replaces the key too: the old one would be a second copy of the text, next to the new object's.
            self.slots[slot as usize] = Some(Item { key, object });
            return Ok(slot);
        }
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.new_slot()?,
        };
        let hash = self.hasher.hash_one(&*key);
        self.slots[slot as usize] = Some(Item { key, object });
        let Self { by_key, hasher, slots, .. } = self;
        by_key.insert_unique(hash, slot, |slot| {
            hasher.hash_one(slots[*slot as usize].as_ref().map_or("", |item| &*item.key))
        });
        Ok(slot)
    }

    /// Returns true if this many new objects have slots.
    pub(super) fn has_slots_for(&self, objects: usize) -> bool {
        Slot::try_from(self.slots.len() - self.free.len() + objects).is_ok()
    }

    fn new_slot(&mut self) -> Result<Slot, StoreError> {
        let slot = Slot::try_from(self.slots.len()).map_err(|_| StoreError::Full)?;
        self.slots.push(None);
        Ok(slot)
    }

    /// Removes the object under the key and returns its slot.
    pub(super) fn remove(&mut self, key: &str) -> Option<Slot> {
        let Self { by_key, hasher, slots, free } = self;
        let has_key = |slot: &Slot| slots[*slot as usize].as_ref().is_some_and(|item| &*item.key == key);
        let (slot, _) = by_key.find_entry(hasher.hash_one(key), has_key).ok()?.remove();
        slots[slot as usize] = None;
        free.push(slot);
        Some(slot)
    }

    /// Returns true if so few objects are left that the tables should be compacted.
    pub(super) fn is_sparse(&self) -> bool {
        self.slots.len() > SMALL && self.len() * SPARSE < self.slots.len()
    }

    /// Moves the objects to the first slots, in the same order, and releases the others. Returns the old slot of each
    /// new one.
    pub(super) fn compact(&mut self) -> Vec<Slot> {
        let old: Vec<Slot> = self.iter().map(|(slot, _)| slot).collect();
        let mut slots = Vec::with_capacity(old.len());
        slots.extend(self.slots.drain(..).flatten().map(Some));
        self.slots = slots;
        self.free = Vec::new();
        self.by_key = HashTable::with_capacity(old.len());
        let Self { by_key, hasher, slots, .. } = self;
        let hash_at =
            |slot: Slot| hasher.hash_one(slots[slot as usize].as_ref().map_or("", |item: &Item| &*item.key));
        for slot in (0..).take(old.len()) {
            by_key.insert_unique(hash_at(slot), slot, |slot| hash_at(*slot));
        }
        old
    }

    /// Returns the bytes allocated for the tables, without the keys and objects.
    pub(super) fn slot_bytes(&self) -> usize {
        self.by_key.allocation_size()
            + self.slots.capacity() * size_of::<Option<Item>>()
            + self.free.capacity() * size_of::<Slot>()
    }
}
