//! Objects and their indices, always consistent. [`super::ThreadSafeStore`] adds the locks.

use std::sync::Arc;

use smallvec::SmallVec;

use super::index_table::{IndexTable, IndexTables, Values};
use super::memory::{ALLOCATION, Memory};
use super::slots::{Item, ObjectSlots, Slot};
use super::{Index, IndexFuncError, Indexers, Indices, StoreError};
use crate::object::{Footprint, Key, Object, ResourceVersion};

/// A change of a store.
pub(super) enum Change {
    Put(Key, Arc<Object>),
    /// The version of the deletion, if known.
    Remove(Key, Option<ResourceVersion>),
    Bookmark(ResourceVersion),
}

/// The contents of a store.
#[derive(Default)]
pub(super) struct IndexedObjects {
    pub(super) items: ObjectSlots,
    pub(super) indices: IndexTables,
    pub(super) version: ResourceVersion,
}

/// The values of one object in each index, in the order of the indices.
pub(super) type IndexValues = SmallVec<[Result<Values, IndexFuncError>; 4]>;

/// Changes and the index values of their objects.
pub(super) type PreparedChanges = SmallVec<[(Change, IndexValues); 1]>;

/// A refusal by an index function, reported after all locks are released.
pub(super) struct Refusal {
    index: String,
    key: Key,
    reason: IndexFuncError,
}

impl IndexedObjects {
    /// Creates an empty store with these indices.
    pub(super) fn empty(indexers: Indexers) -> Self {
        Self { indices: empty_indices(indexers), ..Self::default() }
    }

    pub(super) fn index(&self, name: &str) -> Result<&IndexTable, StoreError> {
        self.indices.get(name).ok_or_else(|| StoreError::NoSuchIndex(name.to_owned()))
    }

    /// Returns a copy of all indices.
    pub(super) fn copy_indices(&self) -> Indices {
        let keys = |slot| self.items.at(slot).map(|item| Arc::clone(&item.key));
        let copy = |index: &IndexTable| -> Index {
            index.sets().map(|(value, slots)| (value.to_owned(), slots.filter_map(keys).collect())).collect()
        };
        self.indices.iter().map(|(name, index)| (name.clone(), copy(index))).collect()
    }

    /// Returns the objects with this value in an index, by slot.
    pub(super) fn objects_with_value(
        &self,
        index: &str,
        value: &str,
    ) -> Result<impl Iterator<Item = (Slot, &Item)>, StoreError> {
        let slots = self.index(index)?.slots(value);
        Ok(slots.filter_map(|slot| self.items.at(slot).map(|item| (slot, item))))
    }

    /// Calls the index functions for the object of a change. Does not change the store.
    pub(super) fn prepare(&self, change: Change) -> (Change, IndexValues) {
        let computed = match &change {
            Change::Put(key, object) => self.compute(&self.indices, key, object),
            Change::Remove(..) | Change::Bookmark(_) => IndexValues::new(),
        };
        (change, computed)
    }

    /// Returns the values of the object in `indices`, which are those of the store or their replacements. A stored
    /// object keeps its values without a call of the functions. A refusal that follows a refusal is not reported again.
    fn compute(&self, indices: &IndexTables, key: &str, object: &Arc<Object>) -> IndexValues {
        let slot = self.items.slot_of(key);
        let stored = slot.and_then(|slot| self.items.at(slot));
        let is_unchanged = stored.is_some_and(|stored| Arc::ptr_eq(&stored.object, object));
        // Decompressed once here for several functions; a single function decompresses the body only if it reads the
        // text.
        let decompressed = if is_unchanged || indices.len() < 2 { None } else { object.decompressed() };
        let object = decompressed.as_ref().unwrap_or(object);
        let values = indices.values().zip(self.indices.values()).map(|(index, stored)| {
            let kept = slot.map_or(&Values::None, |slot| stored.values_of(slot));
            if is_unchanged {
                return Ok(kept.clone());
            }
            match index.compute(object) {
                Err(_) if *kept == Values::Refused => Ok(Values::Refused),
                values => values,
            }
        });
        values.collect()
    }

    /// Applies all changes in order, or none if the new objects might not all have slots.
    pub(super) fn apply(
        &mut self,
        changes: PreparedChanges,
        refusals: &mut Vec<Refusal>,
    ) -> Result<(), StoreError> {
        if !self.items.has_slots_for(changes.len()) {
            return Err(StoreError::Full);
        }
        for (change, computed) in changes {
            match change {
                Change::Put(key, object) => self.put(&key, object, computed, refusals)?,
                Change::Remove(key, version) => self.remove(&key, version),
                Change::Bookmark(version) => self.version = version,
            }
        }
        if self.items.is_sparse() {
            let old = self.items.compact();
            self.indices.values_mut().for_each(|index| index.compact(&old));
        }
        Ok(())
    }

    /// Returns the memory usage of objects and indices.
    pub(super) fn memory(&self) -> Memory {
        let bodies: Footprint = self.items.iter().map(|(_, item)| &*item.object).collect();
        let keys: usize = self.items.keys().map(|key| key.len() + ALLOCATION).sum();
        let object_bytes = keys + self.items.len() * (size_of::<Object>() + ALLOCATION);
        let index_bytes = self.indices.values().map(IndexTable::bytes).sum();
        Memory { bodies, object_bytes, slot_bytes: self.items.slot_bytes(), index_bytes }
    }

    fn put(
        &mut self,
        key: &Key,
        object: Arc<Object>,
        computed: IndexValues,
        refusals: &mut Vec<Refusal>,
    ) -> Result<(), StoreError> {
        let version = object.resource_version().clone();
        let slot = self.items.put(Arc::clone(key), object)?;
        self.record_version(version);
        for ((name, index), values) in self.indices.iter_mut().zip(computed) {
            let (values, reason) = match values {
                Ok(values) => (values, None),
                Err(reason) => (Values::Refused, Some(reason)),
            };
            let is_newly_refused = index.set(slot, values);
            refusals.extend(reason.filter(|_| is_newly_refused).map(|reason| Refusal {
                index: name.clone(),
                key: Arc::clone(key),
                reason,
            }));
        }
        Ok(())
    }

    fn remove(&mut self, key: &str, version: Option<ResourceVersion>) {
        if let Some(slot) = self.items.remove(key) {
            for index in self.indices.values_mut() {
                index.set(slot, Values::None);
            }
        }
        self.record_version(version.unwrap_or_default());
    }

    /// Sets the version of the store, unless the object has none, like a Table row without metadata.
    fn record_version(&mut self, version: ResourceVersion) {
        if !version.is_unset() {
            self.version = version;
        }
    }

    /// Returns a store of these objects with the same indices.
    pub(super) fn rebuild(
        &self,
        items: Vec<(Key, Arc<Object>)>,
        version: &ResourceVersion,
        compress: impl Fn(Arc<Object>) -> Arc<Object>,
        refusals: &mut Vec<Refusal>,
    ) -> Result<Self, StoreError> {
        let indexers =
            self.indices.iter().map(|(name, index)| (name.clone(), index.func().clone())).collect();
        let mut rebuilt = Self { items: ObjectSlots::with_capacity(items.len()), ..Self::empty(indexers) };
        for (key, object) in items {
            let computed = self.compute(&rebuilt.indices, &key, &object);
            rebuilt.put(&key, compress(object), computed, refusals)?;
        }
        rebuilt.version = version.clone();
        Ok(rebuilt)
    }

    /// Builds these indices for the stored objects.
    pub(super) fn index_all(
        &self,
        indexers: Indexers,
        refusals: &mut Vec<Refusal>,
    ) -> Result<IndexTables, StoreError> {
        let taken: Vec<&str> =
            indexers.keys().map(String::as_str).filter(|name| self.indices.contains_key(*name)).collect();
        if !taken.is_empty() {
            return Err(StoreError::IndexerConflict(taken.join(", ")));
        }
        let mut added = empty_indices(indexers);
        for (slot, item) in self.items.iter() {
            // As in `compute`.
            let decompressed = if added.len() < 2 { None } else { item.object.decompressed() };
            let object = decompressed.as_ref().unwrap_or(&item.object);
            for (name, index) in &mut added {
                let values = index.compute(object).unwrap_or_else(|reason| {
                    refusals.push(Refusal { index: name.clone(), key: Arc::clone(&item.key), reason });
                    Values::Refused
                });
                index.set(slot, values);
            }
        }
        Ok(added)
    }
}

fn empty_indices(indexers: Indexers) -> IndexTables {
    indexers.into_iter().map(|(name, func)| (name, IndexTable::new(func))).collect()
}

/// Logs refusals. Called after all locks are released.
pub(super) fn report(refusals: Vec<Refusal>) {
    for Refusal { index, key, reason } in refusals {
        tracing::warn!(%index, %key, %reason, "an object is left out of an index");
    }
}
