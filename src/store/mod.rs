//! What is so: the objects known now, under their keys and under any number of named indices.

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

/// What anything that holds objects can do (client-go: `Store`).
///
/// Everything read is shared and never changes. A missing key is never an error.
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
/// // A list takes the place of all there was, in one step.
/// store.replace(Vec::new(), &"7".into())?;
/// assert!(store.list().is_empty() && store.get_by_key("shop/web").is_none());
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
pub trait Store: KeyListerGetter + 'static {
    /// Puts the object under its key, replacing what was there.
    ///
    /// # Errors
    /// [`StoreError::Key`] when the key function refuses the object; nothing changed.
    fn add(&self, object: Arc<Object>) -> Result<(), StoreError>;

    /// The same as [`Store::add`]: a store does not care what was there.
    ///
    /// # Errors
    /// As [`Store::add`].
    fn update(&self, object: Arc<Object>) -> Result<(), StoreError>;

    /// Takes the object of that object's key out, if there is one. The version of the given object, which is that
    /// of the deletion, becomes the store's.
    ///
    /// # Errors
    /// As [`Store::add`].
    fn delete(&self, object: &Object) -> Result<(), StoreError>;

    /// Takes out what is under a key: all that a tombstone allows. The store's version stays.
    fn delete_by_key(&self, key: &str);

    /// Every object, in no particular order.
    fn list(&self) -> Vec<Arc<Object>>;

    /// The stored object of that object's key.
    ///
    /// # Errors
    /// As [`Store::add`].
    fn get(&self, object: &Object) -> Result<Option<Arc<Object>>, StoreError>;

    /// Replaces all at once: no reader sees a part of it. Of equal keys the last wins.
    ///
    /// # Errors
    /// As [`Store::add`]; nothing changed.
    fn replace(&self, objects: Vec<Arc<Object>>, version: &ResourceVersion) -> Result<(), StoreError>;

    /// Applies changes in their order. Those whose object has no key are left out. A store that can applies them in one
    /// step, so that no reader sees a part of them, as [`Cache`] does; others apply one after the other.
    ///
    /// # Errors
    /// [`StoreError::Transaction`] says which were applied when some were left out. After any other error of a store that
    /// applies them in one step, nothing changed.
    fn transaction(&self, changes: Vec<Transaction>) -> Result<(), StoreError> {
        transaction::one_by_one(self, changes)
    }

    /// Sends everything again to whom it may concern. A plain store concerns nobody.
    fn resync(&self) {}

    /// The source told everything up to this version.
    fn bookmark(&self, version: &ResourceVersion);

    /// The version last applied. "Last", not "greatest": versions are opaque, and while the objects of the
    /// initial list are applied one by one, each with its own version, it says nothing about the others. An informer
    /// itself says up to which version everything is stored.
    fn last_store_sync_resource_version(&self) -> ResourceVersion;
}

/// Why a store refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The key function refused the object.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// There is no index of that name.
    #[error("Index with name {0} does not exist")]
    NoSuchIndex(String),
    /// An index of that name is already there; nothing was added.
    #[error("indexer conflict: {0}")]
    IndexerConflict(String),
    /// An index function refused the object that was asked about.
    #[error("index {index}: {reason}")]
    Index {
        /// The index.
        index: String,
        /// What its function said.
        reason: String,
    },
    /// A store numbers its objects with 32 bits, and all numbers are taken.
    #[error("the store is full")]
    Full,
    /// Some changes of a transaction were refused; the others are done.
    #[error(
        "failed to execute ({}/{total}) transactions failed due to: {}",
        .errors.len(), .errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    Transaction {
        /// The positions of the changes that are done.
        successful: Vec<usize>,
        /// How many changes there were.
        total: usize,
        /// Why each of the others was refused.
        errors: Vec<KeyError>,
    },
}
