//! Tests of the merging, compression and bounds of unread notifications.

use std::time::Duration;

use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::informer::delivery::listener::coalescing;
use crate::informer::testing::fixtures::{Reader, labelled, pod};
use crate::object::{DeletedFinalStateUnknown, Ingest, Origin, TypeMeta};

fn added(object: &Arc<Object>, is_in_initial_list: bool) -> Notification {
    let origin = if is_in_initial_list { Origin::List } else { Origin::Watch };
    Notification::Added { object: Arc::clone(object), is_in_initial_list, origin }
}

fn updated(old: &Arc<Object>, new: &Arc<Object>) -> Notification {
    let origin = if old.same_state(new) { Origin::Resync } else { Origin::Watch };
    Notification::Updated { old: Arc::clone(old), new: Arc::clone(new), origin }
}

fn deleted(object: &Arc<Object>) -> Notification {
    Notification::Deleted { object: DeletedObject::Known(Arc::clone(object)), origin: Origin::Watch }
}

fn read_all(pending: &Pending) -> Vec<String> {
    let mut lines = Vec::new();
    while let Next::One(notification) = pending.take() {
        lines.push(notification.to_string());
    }
    lines
}

fn merged(notifications: Vec<Notification>) -> (Vec<String>, u64) {
    let (pending, progress) = (Pending::default(), Progress::default());
    for notification in notifications {
        if notification.is_initial() {
            progress.expect(1);
        }
        pending.put(notification, &progress);
    }
    (read_all(&pending), progress.coalesced())
}

/// Returns an object that shares most of its text with the others.
fn large(name: &str, version: usize) -> Arc<Object> {
    let text = "some words that come again and again, ".repeat(2000);
    let json = format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"{version}"}},"text":"{text}"}}"#);
    let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
    Arc::new(Object::from_json(json.as_bytes(), &ingest).expect("an object"))
}

#[test]
fn notifications_are_compressed_only_for_a_reader_that_is_far_behind() {
    const OBJECTS: usize = 500;
    let (pending, progress) = (Pending::new(Some(Arc::new(Compressor::new()))), Progress::default());
    for at in 0..OBJECTS {
        let old = large(&format!("n{at}"), 1);
        let notification = if at % 5 == 0 { deleted(&old) } else { updated(&old, &large(old.name(), 2)) };
        pending.put(notification, &progress);
    }
    let (mut bytes, mut versions) = (0, Vec::new());
    while let Next::One(notification) = pending.take() {
        bytes += notification.weight();
        versions.push(notification.to_string());
    }
    assert!(bytes < 2 * UNCOMPRESSED_BYTES, "{bytes} of {} bytes", OBJECTS * large("n", 1).weight());
    assert_eq!(versions.len(), OBJECTS);
    assert_eq!(versions[..2], ["-n0@1 watch", "n1@1>2 watch"]);
    // The reader has caught up, so the next object stays uncompressed.
    pending.put(added(&large("n", 3), false), &progress);
    let Next::One(Notification::Added { object, .. }) = pending.take() else { panic!("an add") };
    assert!(!object.is_compressed());
}

#[test]
fn notifications_are_merged_per_object_and_counted() {
    let [a1, a2, a3, b1] = [pod("a", 1), pod("a", 2), pod("a", 3), pod("b", 1)];
    let recreated = labelled("a", "other", 9, "");
    for (notifications, expected, coalesced) in [
        (vec![added(&a1, true), updated(&a1, &a2), updated(&a2, &a3)], vec!["+a@3! list"], 2),
        (vec![added(&a1, true), added(&b1, true), updated(&a1, &a2)], vec!["+a@2! list", "+b@1! list"], 1),
        (vec![updated(&a1, &a2), updated(&a2, &a3)], vec!["a@1>3 watch"], 1),
        (vec![updated(&a1, &a2), updated(&a2, &a2)], vec!["a@1>2 watch"], 1),
        (vec![updated(&a1, &a1), updated(&a1, &a2)], vec!["a@1>2 watch"], 1),
        (vec![updated(&a1, &a1), updated(&a1, &a1)], vec!["a@1>1 resync"], 1),
        (vec![added(&a1, false), deleted(&a2)], vec![], 2),
        (vec![updated(&a1, &a2), deleted(&a3)], vec!["-a@3 watch"], 1),
        (vec![deleted(&a2), added(&recreated, false)], vec!["-a@2 watch", "+a@9 watch"], 0),
        (vec![deleted(&a2), added(&recreated, false), deleted(&recreated)], vec!["-a@2 watch"], 2),
    ] {
        let expected: Vec<_> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(merged(notifications), (expected, coalesced));
    }
}

#[test]
fn marks_keep_their_position_and_gaps_merge() {
    let gap = |from: &str, to: &str| {
        let lasted = Duration::from_secs(2);
        Notification::Mark(Mark::Gap { from: from.into(), to: to.into(), lasted })
    };
    let synced = Notification::Mark(Mark::Synced { resource_version: "1".into() });
    let all =
        vec![added(&pod("a", 1), true), synced, gap("1", "5"), added(&pod("b", 5), false), gap("6", "9")];
    let expected = ["+a@1! list", "SYNCED 1", "GAP 1 9", "+b@5 watch"].map(str::to_owned);
    assert_eq!(merged(all), (expected.to_vec(), 1));
}

#[test]
fn objects_added_and_deleted_between_reads_use_no_space() {
    let (pending, progress) = (Pending::default(), Progress::default());
    for number in 0..1000 {
        let object = pod(&format!("p{number}"), number + 1);
        progress.expect(1);
        pending.put(added(&object, true), &progress);
        pending.put(deleted(&object), &progress);
    }
    let state = pending.lock();
    assert_eq!((state.unread.is_empty(), progress.is_done()), (true, true));
}

/// The reader checks and then waits while the sender puts a notification: no wake-up may be lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_on_another_thread_receives_every_merged_notification() {
    for _ in 0..50 {
        let (listener, mut inbox) = coalescing(None);
        let sending = tokio::spawn(async move {
            let stopping = CancellationToken::new();
            let mut before = pod("a", 1);
            listener.send(added(&before, false), &stopping).await;
            for version in 2..=200 {
                let next = pod("a", version);
                listener.send(updated(&before, &next), &stopping).await;
                before = next;
                if version % 10 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            listener.progress.coalesced()
        });
        let (mut reader, mut read) = (Reader::default(), 0);
        while let Some(notification) = inbox.next().await {
            reader.read(notification);
            read += 1;
        }
        assert_eq!(reader.lines(), ["a@200"]);
        assert_eq!(read + sending.await.expect("no panic"), 200);
    }
}

proptest! {
    #[test]
    fn replayed_notifications_yield_the_state_whenever_they_are_read(
        steps in proptest::collection::vec((0..3_usize, 0..5_u8), 0..80),
    ) {
        let (pending, progress) = (Pending::default(), Progress::default());
        let mut state: [Option<Arc<Object>>; 3] = Default::default();
        let mut reader = Reader::default();
        for (version, (at, operation)) in (1..).zip(steps) {
            let name = ["a", "b", "c"][at];
            let next = |uid: &str| labelled(name, uid, version, "");
            match (state[at].clone(), operation) {
                (_, 4) => {
                    if let Next::One(notification) = pending.take() {
                        reader.read(notification);
                    }
                }
                (None, _) => {
                    let object = next(&version.to_string());
                    pending.put(added(&object, false), &progress);
                    state[at] = Some(object);
                }
                (Some(old), 0) => {
                    pending.put(deleted(&old), &progress);
                    state[at] = None;
                }
                (Some(old), 1) => pending.put(updated(&old, &old), &progress),
                (Some(old), 2) => {
                    // Deleted and created again, unseen.
                    let tombstone = DeletedFinalStateUnknown { key: old.key().clone(), object: Some(old) };
                    let object = DeletedObject::FinalStateUnknown(tombstone);
                    pending.put(Notification::Deleted { object, origin: Origin::Relist }, &progress);
                    let object = next(&version.to_string());
                    pending.put(added(&object, false), &progress);
                    state[at] = Some(object);
                }
                (Some(old), _) => {
                    let uid = old.uid().to_string();
                    let object = next(&uid);
                    pending.put(updated(&old, &object), &progress);
                    state[at] = Some(object);
                }
            }
            let slots = pending.lock().unread.len();
            prop_assert!(slots <= 3, "{slots} slots for three objects");
        }
        while let Next::One(notification) = pending.take() {
            reader.read(notification);
        }
        let expected: Vec<_> = state.iter().flatten().map(|object| crate::informer::testing::fixtures::text_of(object)).collect();
        prop_assert_eq!(reader.lines(), expected);
    }
}
