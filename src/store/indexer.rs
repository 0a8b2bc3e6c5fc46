//! A store with named indices.

use std::sync::Arc;

use super::{Indexers, Store, StoreError};
use crate::object::{Key, Object};

/// A [`Store`] that also finds its objects by the values of named indices (client-go: `Indexer`).
pub trait Indexer: Store {
    /// The stored objects that share at least one value of this index with `object`, each once, in no particular
    /// order. `object` need not be stored.
    ///
    /// # Errors
    /// [`StoreError::NoSuchIndex`]; [`StoreError::Index`] when the index function refuses `object`.
    fn index(&self, name: &str, object: &Object) -> Result<Vec<Arc<Object>>, StoreError>;

    /// The keys of the objects that have this value, sorted; none for a value nobody has.
    ///
    /// # Errors
    /// [`StoreError::NoSuchIndex`].
    fn index_keys(&self, name: &str, value: &str) -> Result<Vec<Key>, StoreError>;

    /// The objects that have this value, in no particular order; none for a value nobody has.
    ///
    /// # Errors
    /// [`StoreError::NoSuchIndex`].
    fn by_index(&self, name: &str, value: &str) -> Result<Vec<Arc<Object>>, StoreError>;

    /// The values that at least one stored object has, in no particular order; none for an unknown index.
    fn list_index_func_values(&self, name: &str) -> Vec<String>;

    /// The values that at least one stored object has, sorted, each with the number of objects that have it.
    ///
    /// # Errors
    /// [`StoreError::NoSuchIndex`].
    fn index_counts(&self, name: &str) -> Result<Vec<(String, usize)>, StoreError>;

    /// The names of the indices, sorted.
    fn indexers(&self) -> Vec<String>;

    /// Adds indices, at any time, over what is stored and what will be: all of them or none.
    ///
    /// # Errors
    /// [`StoreError::IndexerConflict`] when an index of one of these names is there already.
    fn add_indexers(&self, indexers: Indexers) -> Result<(), StoreError>;

    /// How many stored objects this index leaves out because its function refused them; 0 for an unknown index.
    fn index_errors(&self, name: &str) -> usize;
}
