//! The objects of a store: each under its key and in a numbered slot.

use std::collections::HashMap;
use std::sync::Arc;

use super::StoreError;
use crate::object::{Key, Object};

/// The number an object goes by inside a store. Index sets hold these four bytes instead of the key: a store may hold
/// a million objects in several indices, and an object is then found without hashing its key again.
pub(super) type Slot = u32;

/// An object with the key it is stored under, which a key function of the caller may have made.
pub(super) struct Item {
    pub(super) key: Key,
    pub(super) object: Arc<Object>,
}

/// A map of objects. A freed slot is used again, so there are never more slots than objects at the fullest moment
/// since the last replace.
#[derive(Default)]
pub(super) struct Items {
    by_key: HashMap<Key, Slot>,
    slots: Vec<Option<Item>>,
    free: Vec<Slot>,
}

impl Items {
    pub(super) fn with_capacity(objects: usize) -> Self {
        Self { by_key: HashMap::with_capacity(objects), slots: Vec::with_capacity(objects), free: Vec::new() }
    }

    pub(super) fn slot_of(&self, key: &str) -> Option<Slot> {
        self.by_key.get(key).copied()
    }

    pub(super) fn at(&self, slot: Slot) -> Option<&Item> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Arc<Object>> {
        self.slot_of(key).and_then(|slot| self.at(slot)).map(|item| &item.object)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.by_key.keys()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Slot, &Item)> {
        (0..).zip(&self.slots).filter_map(|(slot, item)| item.as_ref().map(|item| (slot, item)))
    }

    /// Puts the object under the key, in the slot the key has or in a free one.
    pub(super) fn put(&mut self, key: Key, object: Arc<Object>) -> Result<Slot, StoreError> {
        // The old key goes with the old object: kept, it would be a second copy of the text beside the new object's.
        let slot = match self.by_key.remove(&key).or_else(|| self.free.pop()) {
            Some(slot) => slot,
            None => self.new_slot()?,
        };
        self.by_key.insert(Arc::clone(&key), slot);
        self.slots[slot as usize] = Some(Item { key, object });
        Ok(slot)
    }

    fn new_slot(&mut self) -> Result<Slot, StoreError> {
        let slot = Slot::try_from(self.slots.len()).map_err(|_| StoreError::Full)?;
        self.slots.push(None);
        Ok(slot)
    }

    /// Takes out what is under the key and tells which slot it had.
    pub(super) fn remove(&mut self, key: &str) -> Option<Slot> {
        let slot = self.by_key.remove(key)?;
        self.slots[slot as usize] = None;
        self.free.push(slot);
        Some(slot)
    }
}
