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
/// // Indices may come after the objects.
/// store.add_indexers([("namespace".to_owned(), index_funcs::namespace())].into())?;
/// assert_eq!(store.index_keys("namespace", "shop")?, ["shop/web".into()]);
/// assert_eq!(store.by_index("namespace", "bank")?.len(), 0);
/// assert_eq!(store.index("namespace", &web)?.len(), 1);
/// store.delete(&web)?;
/// assert!(store.list_index_func_values("namespace").is_empty(), "a value that nobody has is gone");
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
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

    /// What it takes. It looks at every object, and decompresses none.
    fn memory(&self) -> Memory {
        let objects = self.list();
        Memory { bodies: objects.iter().map(AsRef::as_ref).collect(), ..Memory::default() }
    }
}
