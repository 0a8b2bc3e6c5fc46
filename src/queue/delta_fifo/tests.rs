//! Tests of the queue that groups the deltas of each object.

use super::*;
use crate::object::DeletedFinalStateUnknown;
use crate::queue::testing::cases::Op::{Add, Delete, Pop, Replace, Resync, Update};
use crate::queue::testing::cases::{Known, Op, known, object, pop_all, pop_one, run};
use crate::queue::{pop, room};

fn queue_of(known: Option<Arc<Known>>, emit_delta_type_replaced: bool) -> DeltaFifo {
    let known_objects = known.map(|known| known as KnownObjects);
    DeltaFifo::new(
        DeltaFifoOptions::default()
            .known_objects(known_objects)
            .emit_delta_type_replaced(emit_delta_type_replaced),
    )
}

fn pops(known: Option<Arc<Known>>, emit_delta_type_replaced: bool, ops: &[Op]) -> Vec<String> {
    let queue = queue_of(known, emit_delta_type_replaced);
    run(&queue, ops);
    pop_all(&queue)
}

// C1
#[test]
fn replace_after_a_queued_delete_restores_the_object() {
    let ops = [Delete("foo", 1), Replace(&[("foo", 2)])];
    assert_eq!(pops(Some(known(&[("foo", 1)])), false, &ops), ["D(foo1),S(foo2)"]);
}

// C2
#[test]
fn replace_deletes_objects_that_are_only_queued() {
    const FOO: &[(&str, u32)] = &[("foo", 2)];
    for (replaced, ops, expected) in [
        (false, vec![Add("foo", 2), Replace(&[])], "A(foo2),D(T(foo,foo2))"),
        (true, vec![Add("foo", 2), Replace(FOO), Replace(&[])], "A(foo2),R(foo2),D(T(foo,foo2))"),
        (false, vec![Add("foo", 2), Delete("foo", 2), Replace(&[])], "A(foo2),D(foo2)"),
        (
            false,
            vec![Add("foo", 2), Replace(FOO), Replace(FOO), Replace(&[])],
            "A(foo2),S(foo2),S(foo2),D(T(foo,foo2))",
        ),
        (false, vec![Add("foo", 2), Replace(&[]), Replace(&[])], "A(foo2),D(T(foo,foo2))"),
        (
            false,
            vec![Add("foo", 2), Delete("foo", 2), Add("foo", 3), Replace(&[])],
            "A(foo2),D(foo2),A(foo3),D(T(foo,foo3))",
        ),
    ] {
        for known in [Some(known(&[])), None] {
            assert_eq!(pops(known, replaced, &ops), [expected]);
        }
    }
}

// C3, C7, C5, C6
#[test]
fn deltas_of_one_object_are_one_pop() {
    let ops = [Add("foo", 10), Update("foo", 12), Delete("foo", 15)];
    assert_eq!(pops(None, false, &ops), ["A(foo10),U(foo12),D(foo15)"]);
    assert_eq!(pops(None, false, &[Add("foo", 10), Replace(&[("foo", 15)])]), ["A(foo10),S(foo15)"]);
}

#[test]
fn delete_of_an_unknown_object_is_dropped() {
    let ops = [Add("foo", 10), Update("bar", 15), Add("qux", 17), Delete("qux", 18), Delete("baz", 20)];
    assert_eq!(pops(None, false, &ops), ["A(foo10)", "U(bar15)", "A(qux17),D(qux18)"]);
    let known = known(&[("foo", 5), ("bar", 6), ("baz", 7)]);
    let ops = [Add("foo", 10), Update("bar", 15), Delete("baz", 20)];
    assert_eq!(pops(Some(known), false, &ops), ["A(foo10)", "U(bar15)", "D(baz20)"]);
}

// C8, C9, C10, D9
#[test]
fn resync_repeats_stored_objects_that_are_not_queued() {
    let foo = || Some(known(&[("foo", 5)]));
    assert_eq!(pops(foo(), false, &[Delete("foo", 10), Resync]), ["D(foo10)"]);
    assert_eq!(pops(foo(), false, &[Resync]), ["S(foo5)"]);
    assert_eq!(pops(foo(), false, &[Resync, Resync]), ["S(foo5)"]);
    assert_eq!(pops(foo(), false, &[Update("foo", 6), Resync]), ["U(foo6)"]);
    assert_eq!(pops(Some(known(&[])), false, &[Add("foo", 5), Delete("foo", 6)]), ["A(foo5),D(foo6)"]);
    assert_eq!(pops(None, false, &[Resync]), [""; 0]);
}

// C11, C12, C13
#[test]
fn replace_deletes_stored_and_queued_objects() {
    const FOO: &[(&str, u32)] = &[("foo", 5)];
    let three = || Some(known(&[("foo", 5), ("bar", 6), ("baz", 7)]));
    let bar_deleted = "D(T(bar,bar6))";
    for (known, ops, expected) in [
        (three(), vec![Delete("baz", 10), Replace(FOO)], vec!["D(baz10)", "S(foo5)", bar_deleted]),
        (
            three(),
            vec![Add("baz", 10), Replace(FOO)],
            vec!["A(baz10),D(T(baz,baz10))", "S(foo5)", bar_deleted],
        ),
        (
            three(),
            vec![Delete("bar", 6), Add("bar", 100), Replace(FOO)],
            vec!["D(bar6),A(bar100),D(T(bar,bar100))", "S(foo5)", "D(T(baz,baz7))"],
        ),
        (
            three(),
            vec![Replace(&[("bar", 100), ("foo", 5)]), Replace(FOO)],
            vec!["S(bar100),D(T(bar,bar100))", "S(foo5),S(foo5)", "D(T(baz,baz7))"],
        ),
        (None, vec![Add("baz", 10), Replace(FOO)], vec!["A(baz10),D(T(baz,baz10))", "S(foo5)"]),
    ] {
        assert_eq!(pops(known, false, &ops), expected);
    }
    let ops = [Delete("baz", 10), Replace(&[("foo", 6)])];
    assert_eq!(pops(three(), true, &ops), ["D(baz10)", "R(foo6)", bar_deleted]);
    assert_eq!(pops(Some(known(&[("foo", 5)])), true, &[Replace(FOO)]), ["R(foo5)"]);
}

/// One pop returns a list and the deltas queued before it.
#[test]
fn atomic_replace_is_one_pop_with_earlier_deltas() {
    const FOO: &[(&str, u32)] = &[("foo", 5)];
    let queue_of = |known| {
        DeltaFifo::new(
            DeltaFifoOptions::default()
                .known_objects(Some(known as KnownObjects))
                .queue(QueueOptions::default().atomic_replace(true)),
        )
    };
    let queue = queue_of(known(&[]));
    run(&queue, &[Replace(FOO), Replace(&[("foo", 6)])]);
    assert_eq!(pop_all(&queue), ["R(foo5),R(foo6)"], "the initial list is popped object by object");
    for (ops, expected) in [
        (vec![Delete("baz", 10), Replace(FOO)], vec!["RA[D(baz10) R(foo5) D(T(bar,bar6))]"]),
        (
            vec![Add("qux", 10), Replace(FOO), Replace(FOO)],
            vec!["RA[A(qux10),D(T(qux,qux10)) R(foo5),R(foo5) D(T(bar,bar6)) D(T(baz,baz7))]"],
        ),
        (
            vec![Update("bar", 8), Replace(FOO), Update("foo", 9), Add("new", 10)],
            vec!["RA[U(bar8),D(T(bar,bar8)) R(foo5),U(foo9) D(T(baz,baz7))]", "A(new10)"],
        ),
    ] {
        let queue = queue_of(known(&[("foo", 5), ("bar", 6), ("baz", 7)]));
        run(&queue, &[Update("foo", 5), Pop]);
        run(&queue, &ops);
        assert_eq!(pop_all(&queue), expected);
        assert!(queue.has_room() && queue.list_keys().is_empty());
    }
}

// B5
#[test]
fn queue_is_synced_once_the_first_list_is_popped() {
    const TWO: &[(&str, u32)] = &[("a", 1), ("b", 2)];
    for (ops, expected) in [
        (vec![], false),
        (vec![Add("a", 1)], true),
        (vec![Replace(&[])], true),
        (vec![Replace(TWO)], false),
        (vec![Replace(TWO), Pop], false),
        (vec![Replace(TWO), Pop, Pop], true),
        (vec![Replace(&[("a", 1), ("a", 2)]), Pop], true),
    ] {
        let queue = queue_of(None, true);
        run(&queue, &ops);
        assert_eq!(queue.has_synced(), expected);
    }
}

// C15
#[test]
fn tombstones_of_the_first_list_are_part_of_it() {
    let queue = queue_of(Some(known(&[("foo", 5), ("bar", 6), ("baz", 7)])), false);
    run(&queue, &[Replace(&[("foo", 5)])]);
    for expected in ["S(foo5)", "D(T(bar,bar6))", "D(T(baz,baz7))"] {
        assert!(!queue.has_synced());
        assert_eq!(pop_one(&queue), Some((expected.to_owned(), true)));
    }
    assert!(queue.has_synced());
}

// B4, C16
#[test]
fn updated_object_keeps_its_position() {
    let queue = queue_of(None, true);
    run(&queue, &[Add("foo", 10), Add("bar", 1), Add("foo", 11), Add("foo", 13), Add("zab", 30)]);
    assert_eq!(queue.list_keys().len(), 3);
    assert_eq!(pop_one(&queue).map(|(deltas, _)| deltas), Some("A(foo10),A(foo11),A(foo13)".to_owned()));
    run(&queue, &[Add("foo", 14)]);
    assert_eq!(pop_all(&queue), ["A(bar1)", "A(zab30)", "A(foo14)"]);
}

#[test]
fn observed_delete_replaces_an_inferred_one() {
    let queue = queue_of(None, true);
    let tombstone = || {
        let object = Some(object("foo", 1));
        DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key: "foo".into(), object })
    };
    run(&queue, &[Add("foo", 1)]);
    queue.delete(tombstone(), Origin::Relist).expect("a key");
    run(&queue, &[Delete("foo", 2)]);
    queue.delete(tombstone(), Origin::Relist).expect("a key");
    assert_eq!(pop_all(&queue), ["A(foo1),D(foo2)"]);
    assert!(queue.has_room());
}

#[test]
fn requeued_deltas_yield_to_newer_ones() {
    let queue = queue_of(None, true);
    let pop = || {
        let mut popped = None;
        queue.try_pop(&mut |next| popped = Some(next.item)).expect("open");
        match popped {
            Some(Item::Deltas(deltas)) => deltas,
            other => panic!("{other:?}"),
        }
    };
    run(&queue, &[Add("foo", 1), Update("foo", 2), Add("bar", 3)]);
    assert_eq!(queue.add_if_not_present(pop()), Ok(true));
    assert_eq!(queue.list_keys(), ["bar".into(), "foo".into()]);
    let bar = pop();
    run(&queue, &[Update("bar", 4)]);
    assert_eq!(queue.add_if_not_present(bar), Ok(false));
    assert_eq!(pop_all(&queue), ["A(foo1),U(foo2)", "U(bar4)"]);
    assert!(queue.add_if_not_present(Deltas::default()).is_err());
}

// B6
#[tokio::test]
async fn close_wakes_consumers_and_queued_deltas_are_still_popped() {
    let queue = Arc::new(queue_of(None, true));
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let queue = Arc::clone(&queue);
        waiting.spawn(async move {
            let mut popped = 0;
            while pop(&*queue, &mut |_| popped += 1).await.is_ok() {}
            popped
        });
    }
    tokio::task::yield_now().await;
    run(&*queue, &[Add("a", 1), Add("b", 1)]);
    queue.close();
    assert_eq!(waiting.join_all().await.into_iter().sum::<i32>(), 2);
    run(&*queue, &[Add("c", 1)]);
    assert_eq!(pop(&*queue, &mut |_| ()).await, Ok(()));
    let error = pop(&*queue, &mut |_| ()).await.expect_err("closed");
    assert_eq!(error.to_string(), "manipulating with closed queue");
}

#[tokio::test]
async fn producer_is_woken_when_half_of_the_queue_is_free() {
    let queue =
        Arc::new(DeltaFifo::new(DeltaFifoOptions::default().queue(QueueOptions::default().capacity(2))));
    run(&*queue, &[Replace(&[("a", 1), ("b", 1), ("c", 1)])]);
    assert!(!queue.has_room());
    let waiting = tokio::spawn({
        let queue = Arc::clone(&queue);
        async move { room(&*queue).await }
    });
    tokio::task::yield_now().await;
    run(&*queue, &[Pop, Pop]);
    waiting.await.expect("no panic");
    run(&*queue, &[Add("d", 1)]);
    assert!(!queue.has_room());
    queue.close();
    room(&*queue).await;
}

#[tokio::test]
async fn producer_is_woken_despite_deltas_that_always_fail() {
    let queue =
        Arc::new(DeltaFifo::new(DeltaFifoOptions::default().queue(QueueOptions::default().capacity(4))));
    run(&*queue, &[Add("a", 1), Add("b", 1), Add("c", 1), Add("d", 1)]);
    let waiting = tokio::spawn({
        let queue = Arc::clone(&queue);
        async move { room(&*queue).await }
    });
    tokio::task::yield_now().await;
    for _ in 0..8 {
        let popped = queue.try_pop_or_requeue(&mut |popped| match popped.item {
            Item::Deltas(deltas) if deltas[0].object().is_some_and(|object| object.name() != "d") => {
                vec![deltas]
            }
            _ => Vec::new(),
        });
        assert_eq!(popped, Ok(true));
    }
    assert!(queue.has_room());
    tokio::task::yield_now().await;
    assert!(waiting.is_finished(), "three of four deltas stay queued");
}

#[test]
fn queue_without_capacity_holds_one_delta() {
    let queue = DeltaFifo::new(DeltaFifoOptions::default().queue(QueueOptions::default().capacity(0)));
    assert!(queue.has_room());
    run(&queue, &[Add("a", 1)]);
    assert!(!queue.has_room());
}

#[test]
fn version_is_reported_once_earlier_deltas_are_popped() {
    let queue = queue_of(None, true);
    let next = || {
        let mut version = None;
        let some = queue.try_pop(&mut |popped| version = popped.up_to).expect("open");
        some.then(|| version.map(|version| version.to_string()))
    };
    run(&queue, &[Add("a", 1), Add("b", 2), Update("a", 3)]);
    // The third delta was popped with the first, but the second has not been popped yet.
    assert_eq!(next(), Some(Some("1".to_owned())));
    run(&queue, &[Add("c", 4)]);
    assert_eq!(next(), Some(Some("3".to_owned())));
    // A queue that never becomes empty.
    for version in 5..20 {
        run(&queue, &[Add(["c", "d"][version as usize % 2], version)]);
        assert_eq!(next(), Some(Some((version - 1).to_string())));
    }
    assert_eq!(next(), Some(Some("19".to_owned())));
    assert_eq!(next(), None);
    run(&queue, &[Replace(&[("a", 20), ("b", 20)])]);
    assert_eq!(next(), Some(None));
    assert_eq!(next(), Some(Some("1".to_owned())), "the version of the list");
    queue.bookmark(&"7".into());
    queue.bookmark(&"8".into());
    assert_eq!(next(), Some(Some("8".to_owned())));
    assert_eq!(next(), None);
}
