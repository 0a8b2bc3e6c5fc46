//! Tests of the store.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::object::TypeMeta;
use crate::store::IndexFunc;
use crate::store::fixtures::{by_values, names, numbered_pod, pod, values_of};

fn store() -> ThreadSafeStore {
    ThreadSafeStore::new([("values".to_owned(), by_values())].into())
}

fn add(store: &ThreadSafeStore, name: &str, version: &str, values: &str) {
    store.add(name.into(), pod(name, version, values)).expect("added");
}

fn keys(store: &ThreadSafeStore, value: &str) -> String {
    store.index_keys("values", value).expect("an index").join(" ")
}

// A7
#[test]
fn index_values_are_those_of_stored_objects() {
    let store = store();
    for (name, values) in [("one", "bar"), ("two", "bar"), ("three", "biz")] {
        add(&store, name, "1", values);
    }
    let mut values = store.list_index_func_values("values");
    values.sort_unstable();
    assert_eq!(values, ["bar", "biz"]);
    assert_eq!(store.index_counts("values"), Ok(vec![("bar".into(), 2), ("biz".into(), 1)]));
}

// A8
#[test]
fn object_is_found_by_each_of_its_values() {
    let store = store();
    for (name, values) in [("one", "ernie,bert"), ("two", "bert,oscar"), ("tre", "ernie,elmo")] {
        add(&store, name, "1", values);
    }
    let check_values = |pairs: [(&str, &[&str]); 5]| {
        for (value, expected) in pairs {
            assert_eq!(names(&store.by_index("values", value).expect("an index")), expected, "{value}");
        }
    };
    let (one, two, tre) = ("one", "two", "tre");
    check_values([
        ("ernie", &[one, tre]),
        ("bert", &[one, two]),
        ("elmo", &[tre]),
        ("oscar", &[two]),
        ("elmo1", &[]),
    ]);
    store.delete(tre);
    check_values([
        ("ernie", &[one]),
        ("bert", &[one, two]),
        ("elmo", &[]),
        ("oscar", &[two]),
        ("elmo1", &[]),
    ]);
    add(&store, two, "2", "oscar");
    check_values([("ernie", &[one]), ("bert", &[one]), ("elmo", &[]), ("oscar", &[two]), ("elmo1", &[])]);
}

#[test]
fn repeated_values_count_once() {
    let store = store();
    for values in ["a", "a,a", "b,a,b", "f,e,d,c,b,a", "f,f,f,f,f,f", "", "a,b"] {
        add(&store, "one", "1", values);
        let expected: BTreeSet<String> =
            values.split(',').filter(|v| !v.is_empty()).map(str::to_owned).collect();
        let counts: Vec<_> = expected.into_iter().map(|value| (value, 1)).collect();
        assert_eq!(store.index_counts("values"), Ok(counts), "{values}");
    }
}

// A9
#[test]
fn value_is_removed_with_its_last_object() {
    let store = store();
    add(&store, "a", "1", "x");
    store.delete("a");
    assert_eq!(store.index_counts("values"), Ok(vec![]));
    assert!(store.list_index_func_values("values").is_empty());
}

// A10
#[test]
fn value_stays_while_another_object_has_it() {
    let store = store();
    add(&store, "a", "1", "x");
    add(&store, "b", "1", "x");
    store.delete("a");
    assert_eq!(store.index_counts("values"), Ok(vec![("x".into(), 1)]));
    assert_eq!(keys(&store, "x"), "b");
}

// A11
#[test]
fn update_moves_an_object_between_values() {
    let store = store();
    let step = |name: &str, values: Option<&str>, expected: [&str; 3]| {
        match values {
            Some(values) => add(&store, name, "1", values),
            None => store.delete(name),
        }
        assert_eq!([keys(&store, "foo"), keys(&store, "bar"), keys(&store, "baz")], expected);
    };
    add(&store, "key1", "1", "foo");
    step("key2", Some("bar"), ["key1", "key2", ""]);
    step("key2", Some("foo,bar"), ["key1 key2", "key2", ""]);
    step("key1", Some("foo,bar"), ["key1 key2", "key1 key2", ""]);
    step("key3", Some("foo,bar,baz"), ["key1 key2 key3", "key1 key2 key3", "key3"]);
    step("key1", Some("foo"), ["key1 key2 key3", "key2 key3", "key3"]);
    step("key2", Some("bar"), ["key1 key3", "key2 key3", "key3"]);
    step("key1", None, ["key3", "key2 key3", "key3"]);
    step("key3", None, ["", "key2", ""]);
}

// A12, A14
#[test]
fn version_is_the_one_last_written() {
    let store = ThreadSafeStore::default();
    let version = || store.last_store_sync_resource_version().to_string();
    assert_eq!(version(), "");
    add(&store, "key1", "10", "");
    assert_eq!(version(), "10");
    add(&store, "key2", "10", "");
    assert_eq!(version(), "10");
    add(&store, "key3", "20", "");
    assert_eq!(version(), "20");
    store.delete_with_object("key4".into(), &pod("key4", "30", ""));
    assert_eq!(version(), "30");
    let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() });
    store.add("key5".into(), Arc::new(Object::named(type_meta, "", "key5"))).expect("added");
    assert_eq!(version(), "30");
    add(&store, "key6", "40", "");
    assert_eq!(version(), "40");
    store.delete("key6");
    assert_eq!(version(), "40");
    store.bookmark(&"35".into());
    assert_eq!(version(), "35");
}

// A13
#[test]
fn replace_sets_the_given_version() {
    let store = store();
    add(&store, "key1", "10", "");
    let items = [("key3", "40"), ("key2", "30")];
    let items = items.map(|(name, version)| (name.into(), pod(name, version, ""))).to_vec();
    store.replace(items, &"50".into()).expect("replaced");
    assert_eq!(store.last_store_sync_resource_version(), "50".into());
}

// A16, without an informer
#[test]
fn late_index_covers_stored_and_future_objects() {
    let store = store();
    add(&store, "pod1", "1", "a,b");
    add(&store, "pod3", "2", "a");
    store.add_indexers([("late".to_owned(), by_values())].into()).expect("added");
    assert_eq!(names(&store.by_index("late", "a").expect("an index")), ["pod1", "pod3"]);
    add(&store, "pod4", "3", "b");
    assert_eq!(names(&store.by_index("late", "b").expect("an index")), ["pod1", "pod4"]);
    assert_eq!(store.index_counts("late"), store.index_counts("values"));
    assert_eq!(store.indexers(), ["late", "values"]);
}

#[test]
fn indexers_are_added_all_or_none() {
    let store = store();
    let both = [("a".to_owned(), by_values()), ("values".to_owned(), by_values())].into();
    let refused = store.add_indexers(both).expect_err("a conflict");
    assert_eq!(refused.to_string(), "indexer conflict: values");
    assert_eq!(store.indexers(), ["values"]);
}

#[test]
fn unknown_index_is_an_error_except_for_its_values() {
    let store = store();
    let expected = StoreError::NoSuchIndex("nope".into());
    assert_eq!(expected.to_string(), "Index with name nope does not exist");
    assert_eq!(store.by_index("nope", "x").expect_err("an error"), expected);
    assert_eq!(store.index_keys("nope", "x").expect_err("an error"), expected);
    assert_eq!(store.index("nope", &pod("a", "1", "")).expect_err("an error"), expected);
    assert_eq!(store.index_counts("nope").expect_err("an error"), expected);
    assert!(store.list_index_func_values("nope").is_empty());
    assert_eq!(store.index_errors("nope"), 0);
}

#[test]
fn refused_object_is_stored_but_not_indexed() {
    let store = store();
    let out = || (store.index_errors("values"), store.get("a").is_some(), keys(&store, "x"));
    add(&store, "a", "1", "x");
    add(&store, "a", "2", "x,bad");
    assert_eq!(out(), (1, true, String::new()));
    add(&store, "a", "3", "bad");
    assert_eq!(out(), (1, true, String::new()));
    add(&store, "a", "4", "x");
    assert_eq!(out(), (0, true, "a".into()));
    add(&store, "a", "5", "bad");
    store.delete("a");
    assert_eq!(out(), (0, false, String::new()));
}

#[test]
fn index_function_runs_once_for_each_state() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let func = IndexFunc::returning(move |object| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(values_of(object))
    });
    let store = ThreadSafeStore::new([("counted".to_owned(), func)].into());
    let (old, new) = (pod("a", "1", "x"), pod("a", "2", "y"));
    store.add("a".into(), old).expect("added");
    store.update("a".into(), Arc::clone(&new)).expect("updated");
    store.update("a".into(), Arc::clone(&new)).expect("updated");
    store
        .replace(vec![("a".into(), Arc::clone(&new)), ("b".into(), pod("b", "3", "y"))], &"3".into())
        .expect("ok");
    store.delete("a");
    assert_eq!(runs.load(Ordering::Relaxed), 3);
    assert_eq!(store.index_counts("counted"), Ok(vec![("y".into(), 1)]));
}

#[test]
fn index_functions_read_a_body_once_before_compression() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let func = IndexFunc::returning(move |object| {
        assert!(!object.is_compressed());
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(values_of(object))
    });
    let indexers = [("counted".to_owned(), func.clone()), ("again".to_owned(), func)].into();
    let store = ThreadSafeStore::new(indexers).with_compressor(Arc::default());
    let object = numbered_pod(1, &[1, 2]);
    store.add("p1".into(), Arc::clone(&object)).expect("added");
    let stored = store.get("p1").expect("stored");
    assert!(stored.is_compressed() && !object.is_compressed());
    store
        .replace(vec![("p1".into(), stored), ("p2".into(), numbered_pod(2, &[3]))], &"2".into())
        .expect("ok");
    assert_eq!((runs.load(Ordering::Relaxed), store.index_errors("counted")), (4, 0));
    // For an index that is added later, each body is decompressed once for all functions.
    let late = || {
        IndexFunc::returning(|object| if object.is_compressed() { panic!() } else { Ok(values_of(object)) })
    };
    store.add_indexers([("late".to_owned(), late()), ("later".to_owned(), late())].into()).expect("added");
    assert_eq!((store.index_errors("late"), store.index_errors("later")), (0, 0));
    assert_eq!(store.index_counts("late"), store.index_counts("counted"));
}

#[test]
fn memory_of_bodies_is_exact() {
    let store = store().with_compressor(Arc::default());
    let text: usize = (0..50).map(|name| numbered_pod(name, &[1]).json_len()).sum();
    for name in 0..50 {
        let object = numbered_pod(name, &[1]);
        store.add(Arc::clone(object.key()), object).expect("added");
    }
    let memory = store.memory();
    let bodies = &memory.bodies;
    assert_eq!((bodies.objects, bodies.compressed, bodies.text_bytes, bodies.bases), (50, 50, text, 1));
    assert_eq!(bodies.body_bytes, store.list().iter().map(|object| object.stored_len()).sum::<usize>());
    assert!(bodies.stored_bytes() < text / 8, "{memory}");
    assert!(memory.object_bytes > 50 * size_of::<Object>() && memory.index_bytes > 50 * 4, "{memory}");
}

#[test]
fn key_is_replaced_with_its_object() {
    let store = store();
    let (old, new) = (pod("a", "1", "x"), pod("a", "2", "x"));
    store.add(Arc::clone(old.key()), Arc::clone(&old)).expect("added");
    store.add(Arc::clone(new.key()), Arc::clone(&new)).expect("added");
    let stored_key = store.list_keys().remove(0);
    assert!(Arc::ptr_eq(&stored_key, new.key()));
    assert_eq!((Arc::strong_count(&old), Arc::strong_count(old.key())), (1, 1));
}

#[test]
fn index_function_may_read_the_store_and_its_panic_is_a_refusal() {
    let store = Arc::new(store());
    let inner = Arc::downgrade(&store);
    let func = IndexFunc::returning(move |object| {
        let seen = inner.upgrade().map_or(0, |store| store.list().len());
        assert_ne!(object.name(), "panics");
        Ok(vec![seen.to_string()])
    });
    store.add_indexers([("reads".to_owned(), func)].into()).expect("added");
    add(&store, "a", "1", "x");
    add(&store, "panics", "2", "x");
    add(&store, "b", "3", "x");
    assert_eq!(store.index_counts("reads"), Ok(vec![("0".into(), 1), ("2".into(), 1)]));
    assert_eq!(store.index_errors("reads"), 1);
    assert_eq!(keys(&store, "x"), "a b panics");
    let refused = store.index("reads", &pod("panics", "", "")).expect_err("a refusal");
    assert_eq!(refused.to_string(), "index reads: the index function panicked");
}

/// Counts the `tracing` events of its thread.
struct Events(Arc<AtomicUsize>);

impl tracing::Subscriber for Events {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn refusal_is_reported_once_while_it_lasts() {
    let events = Arc::new(AtomicUsize::new(0));
    tracing::subscriber::with_default(Events(Arc::clone(&events)), || {
        let store = store();
        let seen = || events.load(Ordering::Relaxed);
        add(&store, "a", "1", "bad");
        add(&store, "a", "2", "bad,x");
        store.replace(vec![("a".into(), pod("a", "3", "bad"))], &"3".into()).expect("replaced");
        assert_eq!(seen(), 1);
        store.add_indexers([("late".to_owned(), by_values())].into()).expect("added");
        assert_eq!(seen(), 2);
        add(&store, "a", "4", "x");
        add(&store, "a", "5", "bad");
        assert_eq!(seen(), 4);
    });
}

#[test]
fn replace_is_atomic_for_readers() {
    let store = store();
    let sets = ["x", "y"].map(|value| {
        let names = (0..20).map(|number| format!("{value}{number}"));
        names.map(|name| (Key::from(&*name), pod(&name, "1", value))).collect::<Vec<_>>()
    });
    store.replace(sets[0].clone(), &"1".into()).expect("replaced");
    std::thread::scope(|threads| {
        let writer = threads.spawn(|| {
            for set in sets.iter().cycle().take(100) {
                store.replace(set.clone(), &"1".into()).expect("replaced");
            }
        });
        while !writer.is_finished() {
            let counts = store.index_counts("values").expect("an index");
            assert!(matches!(&counts[..], [(_, 20)]), "{counts:?}");
            assert_eq!(store.list().len(), 20);
        }
    });
}
