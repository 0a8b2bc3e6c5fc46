//! Tests of the queue that keeps every delta in order.

use std::cell::Cell;

use super::*;
use crate::object::{DeletedFinalStateUnknown, meta_namespace_key};
use crate::queue::testing::cases::Op::{Add, Delete, Pop, Replace, Resync, Update};
use crate::queue::testing::cases::{Known, Op, known, object, object_text, pop_all, pop_one, run, text};
use crate::queue::{Item, PoppedItem};

fn queue_of(known: &Arc<Known>) -> OrderedFifo {
    OrderedFifo::new(Arc::clone(known) as KnownObjects, QueueOptions::default())
}

fn pops(known: &Arc<Known>, ops: &[Op]) -> Vec<String> {
    let queue = queue_of(known);
    run(&queue, ops);
    pop_all(&queue)
}

/// Pops all items, applies the deltas to the store, and returns the items as text, marks included.
fn drain_as_text(queue: &OrderedFifo, known: &Known) -> Vec<String> {
    let mut texts = Vec::new();
    while queue
        .try_pop(&mut |popped| match popped.item {
            Item::Deltas(deltas) => deltas.iter().for_each(|delta| {
                known.apply(delta);
                texts.push(format!("{} {}", text(delta), delta.origin));
            }),
            Item::ReplacedAll(all) => panic!("{all:?}"),
            Item::Mark(Mark::Synced { resource_version }) => {
                texts.push(format!("SYNCED {resource_version}"));
            }
            Item::Mark(Mark::Gap { from, to, .. }) => texts.push(format!("GAP {from} {to}")),
            Item::Mark(Mark::Bookmark { .. }) => panic!("only an informer makes it"),
            Item::Bookmark => {}
        })
        .expect("open")
    {}
    texts
}

#[test]
fn requeue_during_the_initial_list_does_not_prevent_sync() {
    let queue = queue_of(&known(&[]));
    queue.list_begin(Origin::List, false);
    for name in ["a", "b"] {
        assert!(queue.list_item(object(name, 1), Origin::List).is_none());
    }
    let mut requeue = |popped: PoppedItem| match popped.item {
        Item::Deltas(deltas) => vec![deltas],
        _ => Vec::new(),
    };
    assert_eq!(queue.try_pop_or_requeue(&mut requeue), Ok(true));
    queue.replace(Vec::new(), &"7".into(), Origin::List).expect("keys");
    assert!(!queue.has_synced(), "b was not popped");
    assert_eq!(queue.try_pop(&mut |_| ()), Ok(true));
    assert!(queue.has_synced());
}

thread_local! {
    static KEYS: Cell<usize> = const { Cell::new(0) };
}

fn counting(object: &Object) -> Result<Key, KeyError> {
    KEYS.set(KEYS.get() + 1);
    meta_namespace_key(object)
}

#[test]
fn requeue_cost_does_not_depend_on_the_queue_length() {
    const OBJECTS: usize = 500;
    let options = QueueOptions::default().key_func(counting);
    let queue = OrderedFifo::new(known(&[]) as KnownObjects, options);
    for number in 0..OBJECTS {
        queue.add(object(&format!("n{number}"), 1), Origin::Watch).expect("a key");
    }
    KEYS.set(0);
    let mut pops = 0;
    let mut fail_once = |popped: PoppedItem| {
        pops += 1;
        match popped.item {
            Item::Deltas(deltas) if pops <= OBJECTS => vec![deltas],
            _ => Vec::new(),
        }
    };
    while queue.try_pop_or_requeue(&mut fail_once).expect("open") {}
    assert_eq!(pops, 2 * OBJECTS);
    assert!(KEYS.get() <= 6 * OBJECTS, "{} keys", KEYS.get());
}

/// Requeues while more deltas are queued, which are counted too, until the queue was empty and is filled again.
#[test]
fn requeued_deltas_yield_to_newer_ones() {
    let queue = queue_of(&known(&[]));
    let requeue = || {
        let mut requeue_all = |popped: PoppedItem| match popped.item {
            Item::Deltas(deltas) => vec![deltas],
            _ => Vec::new(),
        };
        assert_eq!(queue.try_pop_or_requeue(&mut requeue_all), Ok(true));
    };
    for _ in 0..2 {
        run(&queue, &[Add("a", 1), Add("b", 2)]);
        requeue();
        run(&queue, &[Update("a", 3), Update("b", 4), Update("a", 5)]);
        requeue();
        assert_eq!(pop_one(&queue), Some(("A(a1)".into(), false)));
        requeue();
        requeue();
        assert_eq!(pop_all(&queue), ["U(a5)", "U(b4)"]);
    }
}

/// One pop returns a whole list at its position in the order.
// E1, E2
#[test]
fn atomic_replace_is_one_pop_in_order() {
    const FOO: &[(&str, u32)] = &[("foo", 15)];
    for (known, ops, expected) in [
        (known(&[]), vec![Add("foo", 10), Replace(FOO)], vec!["A(foo10)", "RA[R(foo15)]"]),
        (
            known(&[("bar", 1)]),
            vec![Add("foo", 10), Replace(FOO), Update("foo", 16), Replace(&[])],
            vec!["A(foo10)", "RA[D(T(bar,bar1)) R(foo15)]", "U(foo16)", "RA[D(T(foo,foo16))]"],
        ),
        (
            known(&[]),
            vec![Add("a", 1), Replace(&[("a", 2), ("b", 3), ("a", 4)])],
            vec!["A(a1)", "RA[R(a4) R(b3)]"],
        ),
        // A resync skips an object with queued deltas.
        (
            known(&[("a", 1)]),
            vec![Replace(FOO), Replace(FOO), Resync],
            vec!["RA[D(T(a,a1)) R(foo15)]", "RA[R(foo15)]"],
        ),
    ] {
        let options = QueueOptions::default().atomic_replace(true);
        let queue = OrderedFifo::new(Arc::clone(&known) as KnownObjects, options);
        queue.list_begin(Origin::List, false);
        let initial = known.0.lock().expect("no panic").values().cloned().collect();
        queue.replace(initial, &"1".into(), Origin::List).expect("keys");
        assert!(pop_all(&queue).iter().all(|popped| !popped.starts_with("RA")), "the initial list streams");
        run(&queue, &ops);
        assert_eq!(pop_all(&queue), expected);
        assert!(queue.has_room());
    }
}

#[test]
fn failed_list_is_requeued_object_by_object() {
    let options = QueueOptions::default().atomic_replace(true);
    let queue = OrderedFifo::new(known(&[]) as KnownObjects, options);
    run(&queue, &[Replace(&[]), Replace(&[("a", 1), ("b", 1)]), Update("b", 2)]);
    assert_eq!(queue.try_pop(&mut |popped| assert!(matches!(popped.item, Item::Mark(_)))), Ok(true));
    let mut fail = |popped: PoppedItem| match popped.item {
        Item::ReplacedAll(all) => all,
        other => panic!("{other:?}"),
    };
    assert_eq!(queue.try_pop_or_requeue(&mut fail), Ok(true));
    assert_eq!(pop_all(&queue), ["U(b2)", "R(a1)"]);
}

// D1, D2, D3, D5, D6, D7, D9
#[test]
fn each_delta_is_one_pop() {
    const FOO: &[(&str, u32)] = &[("foo", 2)];
    let deleted = "D(T(foo,foo2))";
    for (known, ops, expected) in [
        (known(&[("foo", 1)]), vec![Delete("foo", 1), Replace(FOO)], vec!["D(foo1)", "R(foo2)"]),
        (known(&[]), vec![Add("foo", 2), Replace(&[])], vec!["A(foo2)", deleted]),
        (known(&[]), vec![Add("foo", 2), Replace(FOO), Replace(&[])], vec!["A(foo2)", "R(foo2)", deleted]),
        (known(&[]), vec![Add("foo", 2), Delete("foo", 2), Replace(&[])], vec!["A(foo2)", "D(foo2)"]),
        (
            known(&[]),
            vec![Add("foo", 2), Replace(FOO), Replace(FOO), Replace(&[])],
            vec!["A(foo2)", "R(foo2)", "R(foo2)", deleted],
        ),
        (known(&[]), vec![Add("foo", 2), Replace(&[]), Replace(&[])], vec!["A(foo2)", deleted]),
        (
            known(&[]),
            vec![Add("foo", 2), Delete("foo", 2), Add("foo", 3), Replace(&[])],
            vec!["A(foo2)", "D(foo2)", "A(foo3)", "D(T(foo,foo3))"],
        ),
        (
            known(&[]),
            vec![Add("foo", 10), Update("foo", 12), Delete("foo", 15)],
            vec!["A(foo10)", "U(foo12)", "D(foo15)"],
        ),
        (known(&[]), vec![Update("bar", 15), Delete("baz", 20)], vec!["U(bar15)", "D(baz20)"]),
        (known(&[]), vec![Add("foo", 10), Replace(&[("foo", 15)])], vec!["A(foo10)", "R(foo15)"]),
        (known(&[("foo", 5)]), vec![Delete("foo", 10), Resync], vec!["D(foo10)"]),
        (known(&[("foo", 5)]), vec![Resync, Resync], vec!["S(foo5)"]),
        (known(&[("foo", 5)]), vec![Update("foo", 6), Resync], vec!["U(foo6)"]),
    ] {
        assert_eq!(pops(&known, &ops), expected);
    }
}

// D8
#[test]
fn replace_deletes_before_it_adds() {
    const FOO: &[(&str, u32)] = &[("foo", 5)];
    let three = || known(&[("foo", 5), ("bar", 6), ("baz", 7)]);
    for (known, ops, expected) in [
        (three(), vec![Delete("baz", 10), Replace(FOO)], vec!["D(baz10)", "D(T(bar,bar6))", "R(foo5)"]),
        (
            three(),
            vec![Add("baz", 10), Replace(FOO)],
            vec!["A(baz10)", "D(T(baz,baz10))", "D(T(bar,bar6))", "R(foo5)"],
        ),
        (
            three(),
            vec![Delete("bar", 6), Add("bar", 100), Replace(FOO)],
            vec!["D(bar6)", "A(bar100)", "D(T(bar,bar100))", "D(T(baz,baz7))", "R(foo5)"],
        ),
        (
            three(),
            vec![Replace(&[("bar", 100), ("foo", 5)]), Replace(FOO)],
            vec!["D(T(baz,baz7))", "R(bar100)", "R(foo5)", "D(T(bar,bar100))", "R(foo5)"],
        ),
        (known(&[]), vec![Add("baz", 10), Replace(FOO)], vec!["A(baz10)", "D(T(baz,baz10))", "R(foo5)"]),
    ] {
        assert_eq!(pops(&known, &ops), expected);
    }
}

// B5
#[test]
fn queue_is_synced_once_the_first_list_is_popped() {
    const TWO: &[(&str, u32)] = &[("a", 1), ("b", 2)];
    const SAME: &[(&str, u32)] = &[("a", 1), ("a", 2)];
    for (ops, expected) in [
        (vec![], false),
        (vec![Add("a", 1)], true),
        (vec![Replace(&[])], true),
        (vec![Replace(TWO)], false),
        (vec![Replace(TWO), Pop], false),
        (vec![Replace(TWO), Pop, Pop], true),
        (vec![Replace(SAME), Pop], false),
        (vec![Replace(SAME), Pop, Pop], true),
    ] {
        let queue = queue_of(&known(&[]));
        run(&queue, &ops);
        assert_eq!(queue.has_synced(), expected);
    }
}

// D10
#[test]
fn tombstones_of_the_first_list_are_part_of_it() {
    let queue = queue_of(&known(&[("foo", 5), ("bar", 6), ("baz", 7)]));
    run(&queue, &[Replace(&[("foo", 5)])]);
    for expected in ["D(T(bar,bar6))", "D(T(baz,baz7))", "R(foo5)"] {
        assert!(!queue.has_synced());
        assert_eq!(pop_one(&queue), Some((expected.to_owned(), true)));
    }
    assert!(queue.has_synced());
}

// D11
#[test]
fn deltas_keep_the_order_of_the_source() {
    let queue = queue_of(&known(&[]));
    run(&queue, &[Add("foo", 10), Add("bar", 1), Add("foo", 11), Add("foo", 13), Add("zab", 30), Pop]);
    run(&queue, &[Add("foo", 14)]);
    assert_eq!(pop_all(&queue), ["A(bar1)", "A(foo11)", "A(foo13)", "A(zab30)", "A(foo14)"]);
}

// D4
#[test]
fn objects_are_transformed_once() {
    let known = known(&[]);
    let transformer: Transformer =
        Arc::new(|given| Ok(object(given.name(), given.resource_version().to_string().parse::<u32>()? + 1)));
    let options = QueueOptions::default().transformer(Some(transformer));
    let queue = OrderedFifo::new(Arc::clone(&known) as KnownObjects, options);
    run(&queue, &[Add("foo", 10), Update("foo", 12), Delete("foo", 15)]);
    let tombstone = DeletedFinalStateUnknown { key: "bar".into(), object: Some(object("bar", 11)) };
    queue.delete(DeletedObject::FinalStateUnknown(tombstone), Origin::Relist).expect("a key");
    run(&queue, &[Replace(&[("foo", 16)])]);
    assert_eq!(
        drain_as_text(&queue, &known),
        [
            "A(foo11) watch",
            "U(foo13) watch",
            "D(foo16) watch",
            "D(T(bar,bar11)) relist",
            "R(foo17) list",
            "SYNCED 1"
        ]
    );
    run(&queue, &[Resync]);
    assert_eq!(drain_as_text(&queue, &known), ["S(foo17) resync"]);
}

#[test]
fn failed_transformation_keeps_the_object() {
    let transformer: Transformer = Arc::new(|given| match given.name() {
        "foo" => Err("no foo".into()),
        "bar" => panic!("no bar"),
        _ => Ok(object("other", 1)),
    });
    let options = QueueOptions::default().transformer(Some(transformer));
    let queue = OrderedFifo::new(known(&[]) as KnownObjects, options);
    run(&queue, &[Add("foo", 10), Add("bar", 11), Add("baz", 12), Add("other", 13)]);
    assert_eq!(pop_all(&queue), ["A(foo10)", "A(bar11)", "A(baz12)", "A(other1)"]);
}

#[test]
fn initial_list_streams() {
    let (known, none) = (known(&[]), Vec::new());
    let queue = queue_of(&known);
    queue.list_begin(Origin::List, false);
    assert!(queue.list_item(object("a", 1), Origin::List).is_none());
    assert_eq!(drain_as_text(&queue, &known), ["R(a1) list"]);
    assert!(!queue.has_synced());
    assert!(queue.list_item(object("b", 2), Origin::List).is_none());
    // A watch that sends the initial list may report changes before the list is complete.
    queue.delete(DeletedObject::Known(object("a", 3)), Origin::List).expect("a key");
    assert!(queue.list_item(object("b", 4), Origin::List).is_none());
    queue.replace(none, &"4".into(), Origin::List).expect("keys");
    assert!(!queue.has_synced());
    assert_eq!(drain_as_text(&queue, &known), ["R(b2) list", "D(a3) list", "R(b4) list", "SYNCED 4"]);
    assert!(queue.has_synced());
}

#[test]
fn objects_of_a_broken_list_are_deleted_after_the_next() {
    let known = known(&[]);
    let queue = queue_of(&known);
    queue.list_begin(Origin::List, false);
    for (name, state) in [("a", 1), ("b", 2)] {
        assert!(queue.list_item(object(name, state), Origin::List).is_none());
    }
    assert_eq!(drain_as_text(&queue, &known), ["R(a1) list", "R(b2) list"]);
    assert!(queue.list_item(object("c", 3), Origin::List).is_none());
    queue.list_begin(Origin::List, false);
    assert!(queue.list_item(object("b", 2), Origin::List).is_none());
    queue.replace(vec![object("d", 4)], &"9".into(), Origin::List).expect("keys");
    assert_eq!(
        drain_as_text(&queue, &known),
        ["R(c3) list", "R(b2) list", "D(T(c,c3)) list", "D(T(a,a1)) list", "R(d4) list", "SYNCED 9"]
    );
}

#[test]
fn later_list_is_one_step_and_shares_stored_objects() {
    let known = known(&[("a", 1), ("b", 2)]);
    let queue = queue_of(&known);
    run(&queue, &[Replace(&[("a", 1), ("b", 2)])]);
    drain_as_text(&queue, &known);
    queue.list_begin(Origin::Relist, false);
    let back = queue.list_item(object("a", 1), Origin::Relist).expect("returned");
    assert!(Arc::ptr_eq(&back, &known.0.lock().expect("no panic")["a"]));
    let changed = queue.list_item(object("c", 7), Origin::Relist).expect("returned");
    assert_eq!(object_text(&changed), "c7");
    assert_eq!(drain_as_text(&queue, &known), [""; 0]);
    let gap = Mark::Gap { from: "1".into(), to: "9".into(), lasted: std::time::Duration::from_secs(3) };
    queue.mark(gap);
    queue.replace(vec![back, changed], &"9".into(), Origin::Relist).expect("keys");
    assert_eq!(
        drain_as_text(&queue, &known),
        ["GAP 1 9", "D(T(b,b2)) relist", "R(a1) relist", "R(c7) relist"]
    );
}

#[test]
fn versions_are_reported_in_order() {
    let known = known(&[]);
    let queue = queue_of(&known);
    queue.bookmark(&"4".into());
    queue.bookmark(&"5".into());
    run(&queue, &[Add("a", 6), Delete("b", 7)]);
    queue.replace(vec![object("a", 6), object("c", 3)], &"9".into(), Origin::Relist).expect("keys");
    let mut versions = Vec::new();
    while queue.try_pop(&mut |popped| versions.push(popped.up_to.map(|version| version.to_string())))
        == Ok(true)
    {}
    let versions: Vec<_> = versions.iter().map(|version| version.as_deref().unwrap_or("-")).collect();
    assert_eq!(versions, ["5", "6", "7", "-", "-", "9"]);
}
