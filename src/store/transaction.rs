//! The changes of a transaction.

use std::sync::Arc;

use super::{Store, StoreError};
use crate::object::{Key, Object, ResourceVersion};

/// One change of [`Store::transaction`] (client-go: `Transaction`).
#[derive(Debug, Clone)]
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

/// Applies changes one after the other, for a store without transactions of its own.
pub(super) fn one_by_one<S: Store + ?Sized>(store: &S, changes: Vec<Transaction>) -> Result<(), StoreError> {
    let total = changes.len();
    let (mut successful, mut errors) = (Vec::new(), Vec::new());
    for (position, change) in changes.into_iter().enumerate() {
        let done = match change {
            Transaction::Add(object) => store.add(object),
            Transaction::Update(object) => store.update(object),
            Transaction::Delete(object) => store.delete(&object),
            Transaction::DeleteByKey(key) => {
                store.delete_by_key(&key);
                Ok(())
            }
            Transaction::Bookmark(version) => {
                store.bookmark(&version);
                Ok(())
            }
        };
        match done {
            Ok(()) => successful.push(position),
            Err(StoreError::Key(error)) => errors.push(error),
            Err(error) => return Err(error),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(StoreError::Transaction { successful, total, errors }) }
}
