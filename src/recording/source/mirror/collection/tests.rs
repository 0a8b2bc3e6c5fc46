use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::object::{Ingest, Object, Origin};

fn pods() -> Arc<ApiResource> {
    let [version, resource, kind] = ["v1", "pods", "Pod"].map(str::to_owned);
    Arc::new(ApiResource { group: String::new(), version, resource, kind, namespaced: true })
}

fn change(name: u8, version: u64, kind: ChangeKind) -> lines::Change {
    let pod = json!({"metadata": {"name": format!("p{name}"), "namespace": "n", "resourceVersion": version.to_string()}});
    let object = Object::from_json(pod.to_string().as_bytes(), &Ingest::of(pods().type_meta()));
    lines::Change {
        kind,
        object: Arc::new(object.expect("an object")),
        old: None,
        origin: Origin::Watch,
        final_state_unknown: false,
        resource: pods(),
        context: "".into(),
        received: Timestamp::UNIX_EPOCH,
    }
}

fn all() -> CollectionRange<'static> {
    CollectionRange::all(0, None)
}

fn state(page: &Page) -> BTreeMap<String, u64> {
    page.objects.iter().map(|one| (one.object.name().to_owned(), one.version())).collect()
}

proptest! {
    /// A client that lists at one position and applies the changes after it has the state of a later list, whatever
    /// the versions of the changes; and the state of a position stays the same.
    #[test]
    fn lists_and_changes_agree(
        first in prop::collection::btree_set(0u8..8, 0..8),
        changes in prop::collection::vec((0u8..8, 1u64..50, any::<bool>()), 0..40),
        read in 0usize..40,
        limit in 1usize..5,
    ) {
        let mut collection = Collection::new(pods());
        for name in first {
            collection.apply(0, &change(name, 3, ChangeKind::Added));
        }
        collection.serve(10);
        prop_assert_eq!(collection.position(), 10);
        let mut listed = collection.now(&all());
        for (at, (name, version, deleted)) in changes.into_iter().enumerate() {
            if at == read {
                listed = collection.now(&all());
            }
            let kind = if deleted { ChangeKind::Deleted } else { ChangeKind::Modified };
            collection.apply(0, &change(name, version, kind));
        }
        let again = collection.at(&all(), listed.version).expect("a list");
        prop_assert_eq!(state(&again), state(&listed));
        let (mut seen, mut position) = (state(&listed), listed.version);
        while position < collection.position() {
            let (changes, to) = collection.after(position, limit).expect("changes");
            prop_assert!(to > position);
            for change in changes {
                prop_assert!(change.position > position && change.new.version() <= change.position);
                position = change.position;
                let name = change.new.object.name().to_owned();
                prop_assert_eq!(change.old.as_ref().map(MirroredObject::version), seen.get(&name).copied());
                if change.deleted {
                    seen.remove(&name);
                } else {
                    seen.insert(name, change.new.version());
                }
            }
            position = to;
        }
        prop_assert_eq!(seen, state(&collection.now(&all())));
    }
}

#[test]
fn old_changes_expire() {
    let mut collection = Collection::new(pods());
    collection.apply(0, &change(0, 5, ChangeKind::Added));
    collection.serve(9);
    assert_eq!(collection.after(8, 9).map(|_| ()), Err(Compacted { oldest: 9 }), "before the initial state");
    for version in 0..=MAX_CHANGES as u64 {
        collection.apply(0, &change(1, version + 10, ChangeKind::Modified));
    }
    assert_eq!(collection.after(9, 9).map(|_| ()), Err(Compacted { oldest: 10 }));
    assert_eq!(collection.at(&all(), 9).map(|_| ()), Err(Compacted { oldest: 10 }));
    assert!(collection.after(collection.position() + 1, 9).is_err(), "a version of another history");
    let weight = collection.changes.iter().map(MirroredChange::weight).sum::<usize>();
    assert_eq!((collection.changes.len(), collection.bytes), (MAX_CHANGES, weight));
}

#[test]
fn bookmarks_advance_the_version_of_lists() {
    let mut collection = Collection::new(pods());
    collection.advance(3);
    assert_eq!(collection.position(), 1, "the initial state is not complete");
    collection.serve(9);
    collection.advance(20);
    collection.advance(15);
    let (changes, to) = collection.after(9, 5).expect("changes");
    assert_eq!((changes.len(), to, collection.now(&all()).version), (0, 20, 20));
}

#[test]
fn end_of_a_part_deletes_its_objects() {
    let mut collection = Collection::new(pods());
    collection.apply(0, &change(0, 5, ChangeKind::Added));
    collection.apply(1, &change(1, 6, ChangeKind::Added));
    collection.serve(7);
    collection.remove_part(1);
    let (changes, _) = collection.after(7, 5).expect("changes");
    assert_eq!(
        changes.iter().map(|one| (one.new.object.name(), one.deleted)).collect::<Vec<_>>(),
        [("p1", true)]
    );
    let position = collection.position();
    collection.end();
    assert!(!collection.is_served() && collection.now(&all()).objects.is_empty());
    collection.apply(2, &change(0, 5, ChangeKind::Added));
    collection.serve(6);
    assert!(collection.after(position, 5).is_err(), "the deletions in between are unknown");
}

#[test]
fn pages_have_the_state_of_the_first() {
    let mut collection = Collection::new(pods());
    for name in 0..5 {
        collection.apply(0, &change(name, 5, ChangeKind::Added));
    }
    collection.serve(7);
    let first = collection.now(&CollectionRange { limit: 2, ..all() });
    assert_eq!((first.version, first.objects.len(), first.more), (7, 2, 3));
    collection.apply(0, &change(3, 8, ChangeKind::Deleted));
    collection.apply(0, &change(9, 9, ChangeKind::Added));
    let after = first.objects[1].key();
    let rest = collection.at(&CollectionRange { after: Some(&after), ..all() }, 7).expect("a page");
    assert_eq!(state(&rest).into_keys().collect::<Vec<_>>(), ["p2", "p3", "p4"]);
}
