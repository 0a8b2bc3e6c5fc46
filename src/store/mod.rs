//! The local store: current objects by key and by any number of named indices.

mod cache;
#[cfg(test)]
mod fixtures;
mod index;
pub mod index_funcs;
mod index_table;
mod indexed_objects;
mod indexer;
mod lister;
mod memory;
mod slots;
mod thread_safe;
mod transaction;

pub use cache::Cache;
pub use index::{Index, IndexFunc, IndexFuncError, Indexers, Indices};
pub use indexer::Indexer;
pub use lister::{Lister, NamespaceLister, NotFound, list_all, list_all_by_namespace};
pub use memory::Memory;
pub use thread_safe::ThreadSafeStore;
pub use transaction::Transaction;

use std::sync::Arc;

use crate::object::{KeyError, KeyListerGetter, Object, ResourceVersion};

/// A store of objects (client-go: `Store`).
///
/// Returned objects are shared and immutable. A missing key is never an error.
///
/// ```
/// # use kdelta::object::KeyGetter;
/// # use kdelta::store::{Cache, Store};
/// # use kdelta::testing::{FakeSource, pod};
/// # let source = FakeSource::new();
/// # source.add(pod("shop/web"));
/// # let web = source.objects().remove(0);
/// let store = Cache::new();
/// store.add(web.clone())?;
/// assert_eq!(store.get(&web)?.map(|stored| stored.key().clone()), Some("shop/web".into()));
/// assert_eq!(store.last_store_sync_resource_version(), "2".into());
/// // A list replaces all objects in one step.
/// store.replace(Vec::new(), &"7".into())?;
/// assert!(store.list().is_empty() && store.get_by_key("shop/web").is_none());
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
pub trait Store: KeyListerGetter + 'static {
    /// Stores the object under its key, replacing any previous object.
    ///
    /// # Errors
    /// [`StoreError::Key`] if the key function refuses the object; the store is unchanged.
    fn add(&self, object: Arc<Object>) -> Result<(), StoreError>;

    /// Same as [`Store::add`]: a store does not distinguish new objects from changed ones.
    ///
    /// # Errors
    /// As [`Store::add`].
    fn update(&self, object: Arc<Object>) -> Result<(), StoreError>;

    /// Removes the stored object with the key of `object`, if there is one. The version of `object`, which is the
    /// version of the deletion, becomes the version of the store.
    ///
    /// # Errors
    /// As [`Store::add`].
    fn delete(&self, object: &Object) -> Result<(), StoreError>;

    /// Removes the object under `key`, for example for a tombstone. The version of the store does not change.
    fn delete_by_key(&self, key: &str);

    /// Returns every object, in no particular order.
    fn list(&self) -> Vec<Arc<Object>>;

    /// Returns the stored object with the key of `object`.
    ///
    /// # Errors
    /// As [`Store::add`].
    fn get(&self, object: &Object) -> Result<Option<Arc<Object>>, StoreError>;

    /// Replaces all objects in one step: no reader sees a partial list. For equal keys the last one wins.
    ///
    /// # Errors
    /// As [`Store::add`]; nothing changed.
    fn replace(&self, objects: Vec<Arc<Object>>, version: &ResourceVersion) -> Result<(), StoreError>;

    /// Applies changes in order, and skips those whose object has no key. [`Cache`] applies them in one step, so that
    /// no reader sees a part of them.
    ///
    /// # Errors
    /// [`StoreError::Transaction`] lists the applied changes if some were skipped. After any other error of a store
    /// that applies changes in one step, the store is unchanged.
    fn transaction(&self, changes: Vec<Transaction>) -> Result<(), StoreError>;

    /// Delivers every object again, if the store has recipients. Does nothing by default.
    fn resync(&self) {}

    /// Sets the version: the source has delivered every change up to it.
    fn bookmark(&self, version: &ResourceVersion);

    /// Returns the version last applied, which need not be the greatest: versions are opaque. While the objects of the
    /// initial list are applied one by one, each with its own version, it does not apply to the other objects. An
    /// informer reports the version up to which everything is stored.
    fn last_store_sync_resource_version(&self) -> ResourceVersion;
}

/// An error of a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The key function refused the object.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// No index has this name.
    #[error("Index with name {0} does not exist")]
    NoSuchIndex(String),
    /// An index with this name exists already; no index was added.
    #[error("indexer conflict: {0}")]
    IndexerConflict(String),
    /// An index function refused the queried object.
    #[error("index {index}: {reason}")]
    Index {
        /// The name of the index.
        index: String,
        /// The error of its function.
        reason: String,
    },
    /// The store has no free slot: slots are numbered with 32 bits.
    #[error("the store is full")]
    Full,
    /// Some changes of a transaction were refused; the others were applied.
    #[error(
        "failed to execute ({}/{total}) transactions failed due to: {}",
        .errors.len(), .errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    Transaction {
        /// The positions of the applied changes.
        successful: Vec<usize>,
        /// The number of changes.
        total: usize,
        /// The error of each refused change.
        errors: Vec<KeyError>,
    },
}
