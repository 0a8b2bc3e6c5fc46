//! Tests of the store that compare its indices with indices computed from scratch.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::store::fixtures::{by_values, numbered_pod, pod, values_of};

fn store() -> ThreadSafeStore {
    ThreadSafeStore::new([("values".to_owned(), by_values())].into())
}

#[test]
fn store_releases_its_tables_when_most_objects_are_deleted() {
    let store = store();
    let mut model = BTreeMap::<Key, Arc<Object>>::new();
    let add_all = |model: &mut BTreeMap<Key, Arc<Object>>| {
        for number in 0..5000_u32 {
            let name = format!("p{number}");
            let object = pod(&name, "1", &format!("v{},own{number}", number % 7));
            model.insert(Arc::clone(object.key()), Arc::clone(&object));
            store.add(Arc::clone(object.key()), object).expect("added");
        }
    };
    add_all(&mut model);
    let tables = || {
        let memory = store.memory();
        memory.slot_bytes + memory.index_bytes
    };
    let full = tables();
    for number in (0..5000_u32).rev().filter(|number| number % 97 != 0) {
        let key = format!("p{number}");
        model.remove(&*key);
        store.delete(&key);
    }
    check(&store, &model).expect("the indices are renumbered with the objects");
    assert!(tables() * 4 < full, "{} of {full} bytes are left", tables());
    add_all(&mut model);
    check(&store, &model).expect("the store grows again");
    for key in model.keys() {
        store.delete(key);
    }
    check(&store, &BTreeMap::new()).expect("the store is empty");
    assert!(tables() * 4 < full, "{} of {full} bytes are left", tables());
}

#[derive(Debug, Clone)]
enum Step {
    Put(u8, Vec<u8>),
    PutAgain(u8),
    Delete(u8),
    Replace(Vec<(u8, Vec<u8>)>, bool),
    AddIndexer(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0..6u8;
    let values = || proptest::collection::vec(0..5u8, 0..4);
    let step = prop_oneof![
        4 => (name.clone(), values()).prop_map(|(name, values)| Step::Put(name, values)),
        1 => name.clone().prop_map(Step::PutAgain),
        2 => name.clone().prop_map(Step::Delete),
        1 => (proptest::collection::vec((name, values()), 0..8), any::<bool>())
            .prop_map(|(items, keep)| Step::Replace(items, keep)),
        1 => (0..3u8).prop_map(Step::AddIndexer),
    ];
    proptest::collection::vec(step, 0..40)
}

/// Computes the expected index from scratch: the keys of each value, and the number of refused objects.
fn recomputed(model: &BTreeMap<Key, Arc<Object>>) -> (BTreeMap<String, BTreeSet<Key>>, usize) {
    let (mut index, mut refused) = (BTreeMap::<String, BTreeSet<Key>>::new(), 0);
    for (key, object) in model {
        let values = values_of(object);
        if values.iter().any(|value| value == "bad") {
            refused += 1;
            continue;
        }
        for value in values {
            index.entry(value).or_default().insert(Arc::clone(key));
        }
    }
    (index, refused)
}

fn check(store: &ThreadSafeStore, model: &BTreeMap<Key, Arc<Object>>) -> Result<(), TestCaseError> {
    let mut stored = store.list_keys();
    stored.sort_unstable();
    prop_assert_eq!(stored, model.keys().cloned().collect::<Vec<_>>());
    prop_assert_eq!(store.list().len(), model.len());
    for (key, object) in model {
        let stored = store.get(key).expect("stored");
        prop_assert_eq!(stored.is_compressed(), store.compressor.is_some());
        prop_assert!(stored.is_compressed() || Arc::ptr_eq(&stored, object));
        prop_assert_eq!(stored.json(), object.json());
    }
    let (index, refused) = recomputed(model);
    let copies = store.indices();
    prop_assert_eq!(copies.keys().cloned().collect::<Vec<_>>(), store.indexers());
    for name in store.indexers() {
        prop_assert_eq!(&copies[&name], &index);
        let counts: Vec<_> = index.iter().map(|(value, keys)| (value.clone(), keys.len())).collect();
        prop_assert_eq!(store.index_counts(&name).expect("an index"), counts);
        prop_assert_eq!(store.index_errors(&name), refused);
        for (value, keys) in &index {
            let keys: Vec<Key> = keys.iter().cloned().collect();
            prop_assert_eq!(store.index_keys(&name, value).expect("an index"), keys);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn indices_always_match_the_objects(steps in steps(), compresses: bool) {
        let store = if compresses { store().with_compressor(Arc::default()) } else { store() };
        let mut model = BTreeMap::<Key, Arc<Object>>::new();
        for step in steps {
            match step {
                Step::Put(name, values) => {
                    let object = numbered_pod(name, &values);
                    model.insert(Arc::clone(object.key()), Arc::clone(&object));
                    store.add(Arc::clone(object.key()), object).expect("added");
                }
                Step::PutAgain(name) => {
                    if let Some(object) = store.get(&format!("p{name}")) {
                        store.update(Arc::clone(object.key()), object).expect("updated");
                    }
                }
                Step::Delete(name) => {
                    let key = format!("p{name}");
                    model.remove(&*key);
                    store.delete(&key);
                }
                Step::Replace(items, keep) => {
                    let mut objects = if keep { store.list() } else { Vec::new() };
                    objects.extend(items.iter().map(|(name, values)| numbered_pod(*name, values)));
                    let items: Vec<_> =
                        objects.into_iter().map(|object| (Arc::clone(object.key()), object)).collect();
                    model = items.iter().cloned().collect();
                    store.replace(items, &"2".into()).expect("replaced");
                }
                Step::AddIndexer(number) => {
                    let name = format!("more{number}");
                    let known = store.indexers().contains(&name);
                    prop_assert_eq!(store.add_indexers([(name, by_values())].into()).is_err(), known);
                }
            }
            check(&store, &model)?;
        }
    }
}
