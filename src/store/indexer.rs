//! A store with named indices.

use std::sync::Arc;

use super::{Indexers, Memory, Store, StoreError};
use crate::object::{Key, Object};

/// A [`Store`] that also finds its objects by the values of named indices (client-go: `Indexer`).
///
/// ```
/// # use kdelta::store::{Cache, Indexer, Store, index_funcs};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// let store = Cache::new();
/// store.add(web.clone())?;
/// // Indices can be added after the objects.
/// store.add_indexers([("namespace".to_owned(), index_funcs::namespace())].into())?;
/// assert_eq!(store.index_keys("namespace", "shop")?, ["shop/web".into()]);
/// assert_eq!(store.by_index("namespace", "bank")?.len(), 0);
/// assert_eq!(store.index("namespace", &web)?.len(), 1);
/// store.delete(&web)?;
/// assert!(store.list_index_func_values("namespace").is_empty(), "a value without objects is removed");
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
pub trait Indexer: Store {
    /// Returns the stored objects that share at least one value of this index with `object`, each once, in no
    /// particular order. `object` need not be stored.
    ///
    /// # Errors
    /// [`StoreError::NoSuchIndex`]; [`StoreError::Index`] when the index function refuses `object`.
    fn index(&self, name: &str, object: &Object) -> Result<Vec<Arc<Object>>, StoreError>;

    /// Returns the sorted keys of the objects with this value; none for an unknown value.
    ///
    /// # Errors
    /// [`StoreError::NoSuchIndex`].
    fn index_keys(&self, name: &str, value: &str) -> Result<Vec<Key>, StoreError>;

    /// Returns the objects with this value, in no particular order; none for an unknown value.
    ///
    /// # Errors
    /// [`StoreError::NoSuchIndex`].
    fn by_index(&self, name: &str, value: &str) -> Result<Vec<Arc<Object>>, StoreError>;

    /// Returns the values of all stored objects, in no particular order; none for an unknown index.
    fn list_index_func_values(&self, name: &str) -> Vec<String>;

    /// Returns the sorted values of all stored objects, each with its number of objects.
    ///
    /// # Errors
    /// [`StoreError::NoSuchIndex`].
    fn index_counts(&self, name: &str) -> Result<Vec<(String, usize)>, StoreError>;

    /// Returns the sorted names of the indices.
    fn indexers(&self) -> Vec<String>;

    /// Adds indices over stored and future objects, at any time: all of them or none.
    ///
    /// # Errors
    /// [`StoreError::IndexerConflict`] if an index with one of these names exists.
    fn add_indexers(&self, indexers: Indexers) -> Result<(), StoreError>;

    /// Returns the number of stored objects that the index function refused; 0 for an unknown index.
    fn index_errors(&self, name: &str) -> usize;

    /// Returns the memory usage. The default implementation visits every object without decompressing any.
    fn memory(&self) -> Memory {
        let objects = self.list();
        Memory { bodies: objects.iter().map(AsRef::as_ref).collect(), ..Memory::default() }
    }
}
