//! Tests of the store: earlier versions, compaction and limits.

use std::time::Duration;

use serde_json::json;

use super::change_log::{MAX_LOG_LENGTH, MAX_LOG_SIZE};
use super::*;

fn filled(names: &[&str]) -> (Store, KindId) {
    let store = Store::new(1, 1);
    let kind = store.id("", "configmaps").expect("configmaps");
    for name in names {
        store.create(kind, json!({"metadata": {"name": name, "namespace": "n"}})).expect("new");
    }
    (store, kind)
}

fn names(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.items.iter().map(|item| &*item.name).collect()
}

#[test]
fn earlier_versions_are_reconstructed() {
    let (store, kind) = filled(&["a", "b", "c"]);
    let past_version = store.version();
    store.remove(kind, "n", "b").expect("b");
    store.create(kind, json!({"metadata": {"name": "d", "namespace": "n"}})).expect("new");
    let edit = |value: &mut Value| {
        value["data"] = json!({"x": "y"});
        Ok(Edit::Keep)
    };
    store.edit(kind, "n", "a", edit).expect("a");
    let all = CollectionRange::all(kind, None);
    assert_eq!(names(&store.now(&all)), ["a", "c", "d"]);
    let past = store.at(&all, past_version).expect("not compacted");
    assert_eq!(names(&past), ["a", "b", "c"]);
    assert_eq!(past.items[0].value().get("data"), None);
    let after = object_key("n", "a");
    let rest = CollectionRange { namespace: Some("n"), after: Some(&after), ..all };
    assert_eq!(names(&store.at(&rest, past_version).expect("then")), ["b", "c"]);
    for (limit, expected, more) in [(1, &["a"][..], 2), (2, &["a", "b"], 1), (3, &["a", "b", "c"], 0)] {
        let page = store.at(&CollectionRange { limit, ..all }, past_version).expect("then");
        assert_eq!((names(&page).as_slice(), page.more), (expected, more));
    }
    assert_eq!(names(&store.now(&CollectionRange::all(kind, Some("other")))), [""; 0]);
}

#[test]
fn changes_after_a_version_are_complete_until_compaction() {
    let (store, kind) = filled(&["a", "b"]);
    let (changes, to) = store.changes(kind, 1, 100).expect("all");
    assert_eq!((changes.len(), to), (2, store.version()));
    let (changes, to) = store.changes(kind, 1, 1).expect("one");
    assert_eq!((changes.len(), to), (1, 2));
    store.compact();
    assert_eq!(store.changes(kind, 1, 1).map(|_| ()), Err(Compacted { oldest: 3 }));
    assert_eq!(store.changes(kind, 3, 1).map(|(changes, to)| (changes.len(), to)), Ok((0, 3)));
    assert!(store.at(&CollectionRange::all(kind, None), 2).is_err());
}

#[test]
fn log_length_is_bounded() {
    let (store, kind) = filled(&["a"]);
    for round in 0..=MAX_LOG_LENGTH {
        let edit = |value: &mut Value| {
            value["data"] = json!(round);
            Ok(Edit::Keep)
        };
        store.edit(kind, "n", "a", edit).expect("a");
    }
    assert_eq!(store.changes(kind, 2, 1).map(|_| ()), Err(Compacted { oldest: 3 }));
}

#[test]
fn log_is_bounded_in_bytes() {
    let (store, kind) = filled(&["a"]);
    let rounds = MAX_LOG_SIZE / MIB;
    for round in 0..rounds {
        let edit = |value: &mut Value| {
            value["data"] = json!({"round": round.to_string(), "text": "x".repeat(MIB)});
            Ok(Edit::Keep)
        };
        store.edit(kind, "n", "a", edit).expect("a");
    }
    let size = store.lock().log.size();
    let compacted = store.lock().log.compacted();
    assert!(size <= MAX_LOG_SIZE, "{size}");
    // Each change keeps the object before and after it.
    let (remembered, _) = store.changes(kind, compacted, rounds).expect("the log");
    assert_eq!(remembered.len(), rounds / 2 - 1);
    store.compact();
    assert_eq!(store.lock().log.size(), 0);
}

#[test]
fn client_writes_fail_at_the_size_limit_until_deletions() {
    let (store, kind) = filled(&[]);
    let map =
        |name: &str| json!({"metadata": {"name": name, "namespace": "n"}, "data": {"text": "x".repeat(MIB)}});
    store.create(kind, map("before")).expect("new");
    store.allow_growth();
    for at in 0..MAX_GROWTH / MIB {
        store.check_room().expect("room");
        store.create(kind, map(&format!("a{at}"))).expect("new");
    }
    assert_eq!(store.check_room().map_err(|error| error.code), Err(507));
    store.remove(kind, "n", "a0");
    assert_eq!(store.check_room(), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn old_changes_are_compacted() {
    let (store, kind) = filled(&["a"]);
    let past_version = store.version();
    for round in 0..3 {
        tokio::time::advance(Duration::from_mins(2)).await;
        let edit = |value: &mut Value| {
            value["data"] = json!(round);
            Ok(Edit::Keep)
        };
        store.edit(kind, "n", "a", edit).expect("a");
    }
    assert_eq!(store.changes(kind, past_version - 1, 1).map(|_| ()), Err(Compacted { oldest: past_version }));
    assert_eq!(store.changes(kind, past_version, 10).map(|(changes, _)| changes.len()), Ok(3));
}

#[test]
fn edits_without_effect_create_no_version() {
    let (store, kind) = filled(&["a"]);
    let before = store.version();
    store.edit(kind, "n", "a", |_| Ok(Edit::Keep)).expect("a");
    assert_eq!(store.version(), before);
    assert!(store.edit(kind, "n", "x", |_| Ok(Edit::Keep)).is_err());
    assert!(store.create(kind, json!({"metadata": {"name": "a", "namespace": "n"}})).is_err());
}

#[test]
fn deletions_have_their_own_version() {
    let (store, kind) = filled(&["a"]);
    let removed = store.remove(kind, "n", "a").expect("a");
    assert_eq!(removed.version, store.version());
    assert_eq!(removed.value()["metadata"]["resourceVersion"], store.version().to_string());
    let (changes, _) = store.changes(kind, 2, 10).expect("changes");
    assert!(changes[0].deleted && changes[0].old.is_some());
}

#[test]
fn uids_are_uuids_and_repeat_with_the_seed() {
    let uid = Store::new(7, 1).uid();
    assert_eq!(uid, Store::new(7, 1).uid());
    assert_eq!((uid.len(), uid.as_bytes()[14]), (36, b'4'));
}
