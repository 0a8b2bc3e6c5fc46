//! A thread-safe store of objects and indices.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::object::{Compressor, Key, Object, ResourceVersion};
use crate::store::index_table::IndexTable;
use crate::store::indexed_objects::{Change, IndexedObjects, PreparedChanges, report};
use crate::store::{Indexers, Indices, Memory, StoreError};

/// A map of objects with any number of indices, which always match the stored objects.
///
/// If an index function refuses an object, the object is stored but missing from that index. A `tracing` warning
/// reports this once for each index and object while the refusal lasts.
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::{Ingest, Object, TypeMeta};
/// # fn pod(json: &str) -> Arc<Object> {
/// #     let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
/// #     Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
/// # }
/// use kdelta::store::{Indexers, ThreadSafeStore, index_funcs};
///
/// let store = ThreadSafeStore::new(Indexers::new());
/// store.add("web".into(), pod(r#"{"metadata":{"name":"web"},"spec":{"nodeName":"north"}}"#))?;
/// store.add_indexers([("node".to_owned(), index_funcs::node())].into())?;
/// assert_eq!(store.index_keys("node", "north")?, ["web".into()]);
/// store.delete("web");
/// assert!(store.list_index_func_values("node").is_empty());
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
#[derive(Default)]
pub struct ThreadSafeStore {
    /// Held by a writer from before it calls the index functions until it has written, so that `state` does not change
    /// between. Only other writers wait for it; released when the call returns.
    writer: Mutex<()>,
    /// A read-write lock, because many tasks read. Held only for map operations, with one exception: a writer calls the
    /// index functions with the read lock, so that readers can proceed. Only the one writer ever waits for the write
    /// lock, so an index function may read the store.
    state: RwLock<IndexedObjects>,
    compressor: Option<Arc<Compressor>>,
}

impl ThreadSafeStore {
    /// Creates an empty store with these indices.
    #[must_use]
    pub fn new(indexers: Indexers) -> Self {
        Self {
            writer: Mutex::default(),
            state: RwLock::new(IndexedObjects::empty(indexers)),
            compressor: None,
        }
    }

    /// Returns this store with a compressor, which compresses object bodies after the index functions have read them. A
    /// read then returns an equal object instead of the stored one.
    #[must_use]
    pub fn with_compressor(self, compressor: Arc<Compressor>) -> Self {
        Self { compressor: Some(compressor), ..self }
    }

    fn compress(&self, object: Arc<Object>) -> Arc<Object> {
        match &self.compressor {
            Some(compressor) => compressor.compress(object),
            None => object,
        }
    }

    /// Stores the object under the key, replacing any previous object. The object's version, if it has one, becomes the
    /// version of the store.
    ///
    /// # Errors
    /// [`StoreError::Full`]; nothing changed.
    pub fn add(&self, key: Key, object: Arc<Object>) -> Result<(), StoreError> {
        self.apply([Change::Put(key, object)])
    }

    /// Same as [`ThreadSafeStore::add`].
    ///
    /// # Errors
    /// As [`ThreadSafeStore::add`].
    pub fn update(&self, key: Key, object: Arc<Object>) -> Result<(), StoreError> {
        self.add(key, object)
    }

    /// Removes the object under the key. The version of the store does not change.
    pub fn delete(&self, key: &str) {
        self.remove(Change::Remove(key.into(), None));
    }

    /// Removes the object under the key. The version of `object`, if it has one, becomes the version of the store, even
    /// if there is nothing under the key.
    pub fn delete_with_object(&self, key: Key, object: &Object) {
        self.remove(Change::Remove(key, Some(object.resource_version().clone())));
    }

    fn remove(&self, change: Change) {
        // Only adding an object can fail.
        let _result = self.apply([change]);
    }

    /// Applies the changes in order under one lock: no reader sees a part of them.
    ///
    /// # Errors
    /// [`StoreError::Full`]; nothing changed.
    pub(in crate::store) fn apply(
        &self,
        changes: impl IntoIterator<Item = Change>,
    ) -> Result<(), StoreError> {
        let writer = self.lock_writer();
        let prepared: PreparedChanges = {
            let state = self.read();
            let prepared = changes.into_iter().map(|change| state.prepare(change));
            let compressed = prepared.map(|(change, computed)| match change {
                Change::Put(key, object) => (Change::Put(key, self.compress(object)), computed),
                change @ (Change::Remove(..) | Change::Bookmark(_)) => (change, computed),
            });
            compressed.collect()
        };
        let mut refusals = Vec::new();
        let done = self.write().apply(prepared, &mut refusals);
        drop(writer);
        report(refusals);
        done
    }

    /// Replaces all objects and the version in one step: no reader sees a partial list. For equal keys the last one
    /// wins. An object that is already stored keeps its index values.
    ///
    /// # Errors
    /// [`StoreError::Full`]; nothing changed.
    pub fn replace(
        &self,
        items: Vec<(Key, Arc<Object>)>,
        version: &ResourceVersion,
    ) -> Result<(), StoreError> {
        let writer = self.lock_writer();
        let mut refusals = Vec::new();
        let rebuilt = self.read().rebuild(items, version, |object| self.compress(object), &mut refusals)?;
        let old = std::mem::replace(&mut *self.write(), rebuilt);
        drop(writer);
        // Dropped after the lock is released: freeing a million objects takes a while.
        drop(old);
        report(refusals);
        Ok(())
    }

    /// Adds indices over stored and future objects. Readers proceed while the index functions run.
    ///
    /// # Errors
    /// [`StoreError::IndexerConflict`] if an index with one of these names exists; none was added.
    pub fn add_indexers(&self, indexers: Indexers) -> Result<(), StoreError> {
        let writer = self.lock_writer();
        let mut refusals = Vec::new();
        let added = self.read().index_all(indexers, &mut refusals)?;
        self.write().indices.extend(added);
        drop(writer);
        report(refusals);
        Ok(())
    }

    /// Returns the object under the key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Arc<Object>> {
        self.read().items.get(key).cloned()
    }

    /// Returns every object, in no particular order.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<Object>> {
        self.read().items.iter().map(|(_, item)| Arc::clone(&item.object)).collect()
    }

    /// Returns every key, in no particular order.
    #[must_use]
    pub fn list_keys(&self) -> Vec<Key> {
        self.read().items.keys().cloned().collect()
    }

    /// See [`super::Indexer::index`].
    ///
    /// # Errors
    /// [`StoreError::NoSuchIndex`]; [`StoreError::Index`] when the function refuses `object`.
    pub fn index(&self, name: &str, object: &Object) -> Result<Vec<Arc<Object>>, StoreError> {
        let func = self.read().index(name)?.func().clone();
        let values = func
            .values(object)
            .map_err(|error| StoreError::Index { index: name.to_owned(), reason: error.to_string() })?;
        let state = self.read();
        let mut found = BTreeMap::new();
        for value in &values {
            found.extend(
                state.objects_with_value(name, value)?.map(|(slot, item)| (slot, Arc::clone(&item.object))),
            );
        }
        Ok(found.into_values().collect())
    }

    /// See [`super::Indexer::by_index`].
    ///
    /// # Errors
    /// [`StoreError::NoSuchIndex`].
    pub fn by_index(&self, name: &str, value: &str) -> Result<Vec<Arc<Object>>, StoreError> {
        let state = self.read();
        Ok(state.objects_with_value(name, value)?.map(|(_, item)| Arc::clone(&item.object)).collect())
    }

    /// See [`super::Indexer::index_keys`].
    ///
    /// # Errors
    /// [`StoreError::NoSuchIndex`].
    pub fn index_keys(&self, name: &str, value: &str) -> Result<Vec<Key>, StoreError> {
        let mut keys: Vec<Key> = {
            let state = self.read();
            state.objects_with_value(name, value)?.map(|(_, item)| Arc::clone(&item.key)).collect()
        };
        keys.sort_unstable();
        Ok(keys)
    }

    /// See [`super::Indexer::list_index_func_values`].
    #[must_use]
    pub fn list_index_func_values(&self, name: &str) -> Vec<String> {
        let state = self.read();
        state
            .indices
            .get(name)
            .map_or_else(Vec::new, |index| index.counts().map(|(value, _)| value.to_owned()).collect())
    }

    /// See [`super::Indexer::index_counts`].
    ///
    /// # Errors
    /// [`StoreError::NoSuchIndex`].
    pub fn index_counts(&self, name: &str) -> Result<Vec<(String, usize)>, StoreError> {
        let mut counts: Vec<_> = {
            let state = self.read();
            state.index(name)?.counts().map(|(value, count)| (value.to_owned(), count)).collect()
        };
        counts.sort_unstable();
        Ok(counts)
    }

    /// Returns a consistent copy of all indices, for tests and debugging. It is as large as the indices.
    #[must_use]
    pub fn indices(&self) -> Indices {
        self.read().copy_indices()
    }

    /// See [`super::Indexer::indexers`].
    #[must_use]
    pub fn indexers(&self) -> Vec<String> {
        self.read().indices.keys().cloned().collect()
    }

    /// See [`super::Indexer::index_errors`].
    #[must_use]
    pub fn index_errors(&self, name: &str) -> usize {
        self.read().indices.get(name).map_or(0, IndexTable::refused)
    }

    /// See [`super::Indexer::memory`].
    #[must_use]
    pub fn memory(&self) -> Memory {
        self.read().memory()
    }

    /// Sets the version only.
    pub fn bookmark(&self, version: &ResourceVersion) {
        let _writer = self.lock_writer();
        self.write().version = version.clone();
    }

    /// Returns the version last written, which need not be the greatest.
    #[must_use]
    pub fn last_store_sync_resource_version(&self) -> ResourceVersion {
        self.read().version.clone()
    }

    fn lock_writer(&self) -> MutexGuard<'_, ()> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> RwLockReadGuard<'_, IndexedObjects> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, IndexedObjects> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
