//! The default store: a key function and a [`ThreadSafeStore`].

use std::sync::Arc;

use super::indexed_objects::Change;
use super::{Indexer, Indexers, Indices, Memory, Store, StoreError, ThreadSafeStore, Transaction};
use crate::object::{
    Compressor, Key, KeyError, KeyFunc, KeyGetter, KeyLister, Object, ResourceVersion, meta_namespace_key,
};

/// A store that derives keys with a key function, with named indices (client-go: `cache`, created by `NewStore` and
/// `NewIndexer`).
///
/// ```
/// # use std::sync::Arc;
/// # use kdelta::object::{Ingest, Object, TypeMeta};
/// # fn pod(json: &str) -> Arc<Object> {
/// #     let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
/// #     Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
/// # }
/// use kdelta::store::{Cache, Indexer, Store, index_funcs};
///
/// let store = Cache::with_indexers([("app".to_owned(), index_funcs::label("app"))].into());
/// store.add(pod(r#"{"metadata":{"namespace":"shop","name":"web-1","labels":{"app":"web"}}}"#))?;
/// store.add(pod(r#"{"metadata":{"namespace":"shop","name":"db-0","labels":{"app":"db"}}}"#))?;
/// assert_eq!(store.index_keys("app", "web")?, ["shop/web-1".into()]);
/// assert_eq!(store.index_counts("app")?, [("db".to_owned(), 1), ("web".to_owned(), 1)]);
/// assert!(store.by_index("no such", "web").is_err());
/// # Ok::<(), kdelta::store::StoreError>(())
/// ```
pub struct Cache {
    key_func: KeyFunc,
    store: ThreadSafeStore,
}

impl Cache {
    /// Creates an empty store with keys `namespace/name` and without indices.
    #[must_use]
    pub fn new() -> Self {
        Self::with_indexers(Indexers::new())
    }

    /// Creates an empty store with keys `namespace/name` and these indices.
    #[must_use]
    pub fn with_indexers(indexers: Indexers) -> Self {
        Self::with_key_func(meta_namespace_key, indexers)
    }

    /// Creates an empty store with a key function and indices. The function must return the same key for every state of
    /// an object.
    #[must_use]
    pub fn with_key_func(key_func: KeyFunc, indexers: Indexers) -> Self {
        Self { key_func, store: ThreadSafeStore::new(indexers) }
    }

    /// Returns this store with a compressor for object bodies, as [`ThreadSafeStore::with_compressor`] does.
    #[must_use]
    pub fn with_compressor(self, compressor: Arc<Compressor>) -> Self {
        Self { store: self.store.with_compressor(compressor), ..self }
    }

    /// Returns a copy of all indices, as [`ThreadSafeStore::indices`] does.
    #[must_use]
    pub fn indices(&self) -> Indices {
        self.store.indices()
    }

    /// Returns the change with the key of its object.
    fn keyed(&self, transaction: Transaction) -> Result<Change, KeyError> {
        Ok(match transaction {
            Transaction::Add(object) | Transaction::Update(object) => {
                Change::Put((self.key_func)(&object)?, object)
            }
            Transaction::Delete(object) => {
                Change::Remove((self.key_func)(&object)?, Some(object.resource_version().clone()))
            }
            Transaction::DeleteByKey(key) => Change::Remove(key, None),
            Transaction::Bookmark(version) => Change::Bookmark(version),
        })
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self::new()
    }
}

impl KeyLister for Cache {
    fn list_keys(&self) -> Vec<Key> {
        self.store.list_keys()
    }
}

impl KeyGetter for Cache {
    fn get_by_key(&self, key: &str) -> Option<Arc<Object>> {
        self.store.get(key)
    }
}

impl Store for Cache {
    fn add(&self, object: Arc<Object>) -> Result<(), StoreError> {
        self.store.add((self.key_func)(&object)?, object)
    }

    fn update(&self, object: Arc<Object>) -> Result<(), StoreError> {
        self.add(object)
    }

    fn delete(&self, object: &Object) -> Result<(), StoreError> {
        self.store.delete_with_object((self.key_func)(object)?, object);
        Ok(())
    }

    fn delete_by_key(&self, key: &str) {
        self.store.delete(key);
    }

    fn list(&self) -> Vec<Arc<Object>> {
        self.store.list()
    }

    fn get(&self, object: &Object) -> Result<Option<Arc<Object>>, StoreError> {
        Ok(self.store.get(&(self.key_func)(object)?))
    }

    fn replace(&self, objects: Vec<Arc<Object>>, version: &ResourceVersion) -> Result<(), StoreError> {
        let keyed = objects.into_iter().map(|object| Ok(((self.key_func)(&object)?, object)));
        self.store.replace(keyed.collect::<Result<_, StoreError>>()?, version)
    }

    fn bookmark(&self, version: &ResourceVersion) {
        self.store.bookmark(version);
    }

    /// Applies the changes under one lock: no reader sees a part of them.
    fn transaction(&self, changes: Vec<Transaction>) -> Result<(), StoreError> {
        let total = changes.len();
        let (mut successful, mut errors) = (Vec::new(), Vec::new());
        let mut keyed = Vec::with_capacity(total);
        for (position, change) in changes.into_iter().enumerate() {
            match self.keyed(change) {
                Ok(change) => {
                    successful.push(position);
                    keyed.push(change);
                }
                Err(error) => errors.push(error),
            }
        }
        self.store.apply(keyed)?;
        if errors.is_empty() { Ok(()) } else { Err(StoreError::Transaction { successful, total, errors }) }
    }

    fn last_store_sync_resource_version(&self) -> ResourceVersion {
        self.store.last_store_sync_resource_version()
    }
}

impl Indexer for Cache {
    fn index(&self, name: &str, object: &Object) -> Result<Vec<Arc<Object>>, StoreError> {
        self.store.index(name, object)
    }

    fn index_keys(&self, name: &str, value: &str) -> Result<Vec<Key>, StoreError> {
        self.store.index_keys(name, value)
    }

    fn by_index(&self, name: &str, value: &str) -> Result<Vec<Arc<Object>>, StoreError> {
        self.store.by_index(name, value)
    }

    fn list_index_func_values(&self, name: &str) -> Vec<String> {
        self.store.list_index_func_values(name)
    }

    fn index_counts(&self, name: &str) -> Result<Vec<(String, usize)>, StoreError> {
        self.store.index_counts(name)
    }

    fn indexers(&self) -> Vec<String> {
        self.store.indexers()
    }

    fn add_indexers(&self, indexers: Indexers) -> Result<(), StoreError> {
        self.store.add_indexers(indexers)
    }

    fn index_errors(&self, name: &str) -> usize {
        self.store.index_errors(name)
    }

    fn memory(&self) -> Memory {
        self.store.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::fixtures::{by_values, names, pod, values_of};

    fn refusing_odd(object: &Object) -> Result<Key, KeyError> {
        match object.name() {
            "three" | "four" => Err(KeyError::NoKey { object: object.name().into(), reason: "odd".into() }),
            _ => meta_namespace_key(object),
        }
    }

    // A5
    #[test]
    fn store_returns_the_last_state() {
        let store = Cache::new();
        let seen =
            |name: &str| store.get(&pod(name, "", "")).expect("a key").map(|object| values_of(&object));
        store.add(pod("foo", "1", "bar")).expect("added");
        assert_eq!(seen("foo"), Some(vec!["bar".to_owned()]));
        store.update(pod("foo", "2", "baz")).expect("updated");
        assert_eq!(seen("foo"), Some(vec!["baz".to_owned()]));
        store.delete(&pod("foo", "3", "")).expect("deleted");
        assert_eq!(seen("foo"), None);
        for name in ["a", "c", "e"] {
            store.add(pod(name, "4", "")).expect("added");
        }
        assert_eq!(names(&store.list()), ["a", "c", "e"]);
        store.replace(vec![pod("foo", "5", "foo"), pod("bar", "6", "bar")], &"7".into()).expect("replaced");
        assert_eq!(names(&store.list()), ["bar", "foo"]);
        assert_eq!(store.last_store_sync_resource_version(), "7".into());
        store.delete_by_key("bar");
        assert_eq!(store.list_keys(), ["foo".into()]);
    }

    #[test]
    fn replace_keeps_the_last_of_equal_keys() {
        let store = Cache::with_indexers([("values".to_owned(), by_values())].into());
        store.replace(vec![pod("a", "1", "old"), pod("a", "2", "new")], &"2".into()).expect("replaced");
        assert_eq!(store.index_counts("values"), Ok(vec![("new".into(), 1)]));
        assert_eq!(store.list().len(), 1);
    }

    // A1
    #[test]
    fn replace_with_a_keyless_object_changes_nothing() {
        let store = Cache::with_key_func(refusing_odd, Indexers::new());
        store.add(pod("one", "1", "")).expect("added");
        let refused = store.replace(vec![pod("two", "2", ""), pod("three", "3", "")], &"3".into());
        assert!(matches!(refused, Err(StoreError::Key(_))));
        assert_eq!(names(&store.list()), ["one"]);
        assert_eq!(store.last_store_sync_resource_version(), "1".into());
    }

    // A6
    #[test]
    fn index_finds_objects_that_share_a_value() {
        let store = Cache::with_indexers([("by_val".to_owned(), by_values())].into());
        for (name, value) in [("a", "b"), ("c", "b"), ("e", "f"), ("g", "h")] {
            store.add(pod(name, "1", value)).expect("added");
        }
        for (value, expected) in
            [("b", &["a", "c"][..]), ("f", &["e"]), ("h", &["g"]), ("", &[]), ("b,b,h", &["a", "c", "g"])]
        {
            let found = store.index("by_val", &pod("other", "", value)).expect("an index");
            assert_eq!(names(&found), expected, "{value}");
        }
        let refused = store.index("by_val", &pod("other", "", "bad")).expect_err("a refusal");
        assert_eq!(refused.to_string(), "index by_val: a bad value");
    }

    // A15
    #[test]
    fn transaction_reports_applied_changes_and_keyless_objects() {
        let run = |names: &[&str]| {
            let changes = names.iter().map(|name| Transaction::Add(pod(name, "1", ""))).collect();
            Cache::with_key_func(refusing_odd, Indexers::new()).transaction(changes)
        };
        let successful = |names: &[&str]| match run(names) {
            Err(StoreError::Transaction { successful, .. }) => successful,
            other => panic!("{other:?}"),
        };
        assert_eq!(run(&["one", "two"]), Ok(()));
        assert_eq!(successful(&["three", "four"]), [0; 0]);
        assert_eq!(successful(&["one", "three", "two", "four"]), [0, 2]);
        let text = run(&["one", "three"]).expect_err("a refusal").to_string();
        assert_eq!(
            text,
            "failed to execute (1/2) transactions failed due to: couldn't create key for object three: odd"
        );
    }

    // A12
    #[test]
    fn transaction_sets_the_version_of_its_last_change() {
        let store = Cache::with_indexers([("values".to_owned(), by_values())].into());
        let (first, second) = (pod("a", "40", "x"), pod("a", "30", "y"));
        store.add(first.clone()).expect("added");
        let changes = vec![
            Transaction::Update(second.clone()),
            Transaction::Delete(second),
            Transaction::Update(pod("b", "50", "z")),
            Transaction::Add(first),
        ];
        store.transaction(changes).expect("done");
        assert_eq!(store.last_store_sync_resource_version(), "40".into());
        assert_eq!(store.index_counts("values"), Ok(vec![("x".into(), 1), ("z".into(), 1)]));
    }
}
