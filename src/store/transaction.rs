//! Changes of a transaction.

use std::sync::Arc;

use crate::object::{Key, Object, ResourceVersion};

/// A change of [`Store::transaction`](super::Store::transaction) (client-go: `Transaction`).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Transaction {
    /// As [`Store::add`](super::Store::add).
    Add(Arc<Object>),
    /// As [`Store::update`](super::Store::update).
    Update(Arc<Object>),
    /// As [`Store::delete`](super::Store::delete).
    Delete(Arc<Object>),
    /// As [`Store::delete_by_key`](super::Store::delete_by_key).
    DeleteByKey(Key),
    /// As [`Store::bookmark`](super::Store::bookmark).
    Bookmark(ResourceVersion),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::KeyLister;
    use crate::store::fixtures::{by_values, pod};
    use crate::store::{Cache, Indexers, Store};

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
        let store = || Cache::with_indexers(Indexers::from([("values".to_owned(), by_values())]));
        let (at_once, one_by_one) = (store(), store());
        at_once.transaction(changes()).expect("keys");
        for change in changes() {
            one_by_one.transaction(vec![change]).expect("a key");
        }
        let contents = [at_once, one_by_one]
            .map(|store| (store.list_keys(), store.indices(), store.last_store_sync_resource_version()));
        assert_eq!(contents[0], contents[1]);
        let (keys, _, version) = &contents[0];
        assert_eq!((keys.as_slice(), version), (&["a".into()][..], &"9".into()));
    }
}
