//! Changes of a transaction.

use std::sync::Arc;

use super::{Store, StoreError};
use crate::object::{Key, Object, ResourceVersion};

/// A change of [`Store::transaction`] (client-go: `Transaction`).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Transaction {
    /// As [`Store::add`].
    Add(Arc<Object>),
    /// As [`Store::update`].
    Update(Arc<Object>),
    /// As [`Store::delete`].
    Delete(Arc<Object>),
    /// As [`Store::delete_by_key`].
    DeleteByKey(Key),
    /// As [`Store::bookmark`].
    Bookmark(ResourceVersion),
}

impl Transaction {
    /// Applies this change alone.
    ///
    /// # Errors
    /// Those of the method that the change names.
    pub fn apply_to<S: Store + ?Sized>(self, store: &S) -> Result<(), StoreError> {
        match self {
            Self::Add(object) => store.add(object),
            Self::Update(object) => store.update(object),
            Self::Delete(object) => store.delete(&object),
            Self::DeleteByKey(key) => {
                store.delete_by_key(&key);
                Ok(())
            }
            Self::Bookmark(version) => {
                store.bookmark(&version);
                Ok(())
            }
        }
    }
}

/// Applies changes one after the other, for a store that cannot apply them in one step.
pub(super) fn one_by_one<S: Store + ?Sized>(store: &S, changes: Vec<Transaction>) -> Result<(), StoreError> {
    let total = changes.len();
    let (mut successful, mut errors) = (Vec::new(), Vec::new());
    for (position, change) in changes.into_iter().enumerate() {
        match change.apply_to(store) {
            Ok(()) => successful.push(position),
            Err(StoreError::Key(error)) => errors.push(error),
            Err(error) => return Err(error),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(StoreError::Transaction { successful, total, errors }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::KeyLister;
    use crate::store::fixtures::{by_values, pod};
    use crate::store::{Cache, Indexers};

    #[test]
    fn transaction_equals_its_changes_one_by_one() {
        let changes = || {
            vec![
                Transaction::Add(pod("a", "1", "x")),
                Transaction::Add(pod("b", "2", "x")),
                Transaction::Update(pod("a", "3", "y")),
                Transaction::Delete(pod("b", "4", "x")),
                Transaction::Add(pod("c", "5", "x")),
                Transaction::DeleteByKey("c".into()),
                Transaction::Bookmark("9".into()),
            ]
        };
        let contents = [Cache::transaction, one_by_one].map(|apply| {
            let store = Cache::with_indexers(Indexers::from([("values".to_owned(), by_values())]));
            apply(&store, changes()).expect("keys");
            (store.list_keys(), store.indices(), store.last_store_sync_resource_version())
        });
        assert_eq!(contents[0], contents[1]);
        let (keys, _, version) = &contents[0];
        assert_eq!((keys.as_slice(), version), (&["a".into()][..], &"9".into()));
    }
}
