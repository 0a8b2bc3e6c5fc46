//! Notifications, their order, and the content of the store at that time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use kdelta::informer::{HandlerOptions, InformerError, Notification, OnSlow, QueueKind, SharedIndexInformer};
use kdelta::listwatch::Error;
use kdelta::object::{Ingest, Object};
use kdelta::queue::Transformer;
use kdelta::reflector::ReflectorEvent;
use kdelta::store::{IndexFunc, Indexers};
use kdelta::testing::{FakeSource, InitialEvents, pod};

use super::{
    KINDS, Recorder, Running, advance, notifications, of_kind, source_of, source_state, stored, until,
};

#[tokio::test(start_paused = true)]
async fn ordered_informer_reports_changes_with_marks() {
    let source = source_of(&["a", "b"]);
    let informer = of_kind(&source, QueueKind::Ordered);
    let mut subscription = informer.subscribe(10, None).expect("not stopped");
    let running = Running::start(informer.clone());
    assert_eq!(notifications(&mut subscription).await, ["+a@2! list", "+b@3! list", "SYNCED 3"]);
    assert!(subscription.has_synced());
    source.add(pod("c"));
    source.modify(pod("a"));
    source.delete("b");
    assert_eq!(notifications(&mut subscription).await, ["+c@4 watch", "a@2>5 watch", "-b@6 watch"]);
    let a = informer.get_store().get_by_key("a").expect("stored");
    source.delete_silently("c");
    source.add_silently(pod("d"));
    source.reset_watches();
    assert_eq!(notifications(&mut subscription).await, ["GAP 6 8", "-c@4? relist", "+d@8 relist"]);
    let same = informer.get_store().get_by_key("a").expect("stored");
    assert!(Arc::ptr_eq(&a, &same), "a list brought a second copy of what was stored");
    for version in [informer.last_sync_resource_version(), informer.last_store_sync_resource_version()] {
        assert_eq!(version, "8".into());
    }
    let mut late = informer.subscribe(1, None).expect("not stopped");
    let mut lines = notifications(&mut late).await;
    assert_eq!(lines.pop().as_deref(), Some("SYNCED 8"));
    lines.sort();
    assert_eq!(lines, ["+a@5! list", "+d@8! list"]);
    source.bookmark();
    until("the bookmark is applied", || informer.last_store_sync_resource_version() == source.version())
        .await;
    running.stop().await;
    assert!(subscription.recv().await.is_none());
}

/// A server restored from a backup assigns its versions a second time.
#[tokio::test(start_paused = true)]
async fn relist_compares_content_when_versions_may_repeat() {
    let labelled = |value: &str| {
        let mut pod = pod("a");
        pod["metadata"]["labels"] = serde_json::json!({"in": value});
        pod
    };
    for kind in KINDS {
        let source = source_of(&["a", "kept"]);
        let informer = of_kind(&source, kind);
        let mut subscription = informer.subscribe(10, None).expect("not stopped");
        let running = Running::start(informer.clone());
        notifications(&mut subscription).await;
        source.modify(labelled("one history"));
        source.add(pod("b"));
        notifications(&mut subscription).await;
        source.restore(3, &Error::Transport("cut".into()));
        source.modify_silently(labelled("another history"));
        let mut lines = notifications(&mut subscription).await;
        lines.retain(|line| !line.starts_with("GAP"));
        lines.sort();
        assert_eq!(lines, ["-b@5? relist", "a@4>4 relist"], "{kind:?}");
        let source_state = informer.get_store().get_by_key("a").expect("stored");
        assert_eq!(source_state.json(), source.objects()[0].json());
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn delta_informer_reports_changes_without_marks() {
    let source = source_of(&["a", "b"]);
    let informer = of_kind(&source, QueueKind::Delta);
    let mut subscription = informer.subscribe(10, None).expect("not stopped");
    let running = Running::start(informer);
    assert_eq!(notifications(&mut subscription).await, ["+a@2! list", "+b@3! list"]);
    source.delete_silently("a");
    // Recreated under the same name: another object.
    source.delete_silently("b");
    source.add_silently(pod("b"));
    source.add_silently(pod("d"));
    source.reset_watches();
    let lines = notifications(&mut subscription).await;
    assert_eq!(lines, ["-b@3? relist", "+b@6 relist", "+d@7 relist", "-a@2? relist"]);
    assert_eq!(running.informer.last_store_sync_resource_version(), "7".into());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn interrupted_list_is_completed_by_the_next() {
    let source = source_of(&["a", "b"]);
    source.fail_list_after(1, Error::Transport("cut".into()));
    let informer = of_kind(&source, QueueKind::Ordered);
    let mut subscription = informer.subscribe(10, None).expect("not stopped");
    let running = Running::start(informer);
    let first = subscription.recv().await.expect("runs");
    assert_eq!(first.to_string(), "+a@2! list");
    assert!(!running.informer.has_synced());
    source.delete("a");
    assert_eq!(notifications(&mut subscription).await, ["+b@3! list", "-a@2? list", "SYNCED 4"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn streaming_list_may_contain_changes() {
    for (kind, expected) in [
        (QueueKind::Ordered, &["+a@2! list", "+b@3! list", "-a@4 list", "b@3>5 list", "SYNCED 5"][..]),
        (QueueKind::Delta, &["+b@5! list"]),
    ] {
        let source = source_of(&["a", "b"]);
        source.set_initial_events(InitialEvents::WithoutEnd);
        let informer = of_kind(&source, kind);
        let mut subscription = informer.subscribe(10, None).expect("not stopped");
        let running = Running::start(informer.clone());
        advance(1).await;
        source.delete("a");
        source.modify(pod("b"));
        advance(1).await;
        assert!(!informer.has_synced());
        source.end_initial_events();
        assert!(informer.synced().await);
        source.add(pod("c"));
        let mut lines = notifications(&mut subscription).await;
        assert_eq!(lines.pop().as_deref(), Some("+c@6 watch"));
        assert_eq!(lines, expected);
        assert_eq!(stored(&informer), source_state(&source));
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn subscription_implements_stream_and_ends() {
    for on_slow in [OnSlow::Block { capacity: 1, bytes: 1 }, OnSlow::Coalesce] {
        let source = source_of(&["a", "b"]);
        let informer = of_kind(&source, QueueKind::Ordered);
        let options = HandlerOptions::default().on_slow(on_slow);
        let mut stream = informer.subscribe_with_options(options).expect("not stopped").take(4);
        let running = Running::start(informer);
        let mut lines: Vec<_> =
            stream.by_ref().take(3).map(|notifications| notifications.to_string()).collect().await;
        source.delete("a");
        lines.extend(stream.next().await.map(|notifications| notifications.to_string()));
        assert_eq!(lines, ["+a@2! list", "+b@3! list", "SYNCED 3", "-a@4 watch"]);
        running.stop().await;
        assert!(stream.into_inner().next().await.is_none());
    }
}

// A16
#[tokio::test(start_paused = true)]
async fn indexers_update_and_can_be_added_while_running() {
    let source = source_of(&["one", "two"]);
    let by_first = || IndexFunc::returning(|object: &Object| Ok(vec![object.name()[..1].to_owned()]));
    let informer = SharedIndexInformer::builder(source.clone())
        .indexers(Indexers::from([("first".to_owned(), by_first())]))
        .build();
    let running = Running::synced(informer.clone()).await;
    let indexer = informer.get_indexer();
    assert_eq!(indexer.index_keys("first", "o").expect("an index"), ["one".into()]);
    source.add(pod("other"));
    until("indexed", || indexer.index_keys("first", "o").is_ok_and(|keys| keys.len() == 2)).await;
    let again = Indexers::from([("again".to_owned(), by_first())]);
    informer.add_indexers(again.clone()).expect("no conflict");
    assert_eq!(indexer.index_keys("again", "o").expect("an index"), ["one".into(), "other".into()]);
    assert!(matches!(informer.add_indexers(again.clone()), Err(InformerError::Store(_))));
    running.stop().await;
    assert_eq!(informer.add_indexers(again), Err(InformerError::IndexersAfterStop));
}

/// Sets `seen` in an object, and counts objects that had it.
fn seeing(again: &Arc<AtomicUsize>) -> Transformer {
    let again = Arc::clone(again);
    Arc::new(move |object| {
        let mut value: serde_json::Value = object.parse()?;
        if !value["seen"].is_null() {
            again.fetch_add(1, Ordering::Relaxed);
        }
        value["seen"] = true.into();
        let ingest = Ingest::of(Arc::clone(object.type_meta()));
        Ok(Arc::new(Object::from_json(value.to_string().as_bytes(), &ingest)?))
    })
}

fn is_seen(object: &Object) -> bool {
    object.parse::<serde_json::Value>().is_ok_and(|value| value["seen"] == true)
}

// F9
#[tokio::test(start_paused = true)]
async fn transform_applies_to_stored_and_reported_objects() {
    for kind in KINDS {
        let source = source_of(&["pod1"]);
        let informer = SharedIndexInformer::builder(source.clone())
            .queue(kind)
            .transform(seeing(&Arc::default()))
            .build();
        let mut subscription = informer.subscribe(10, None).expect("not stopped");
        let running = Running::synced(informer.clone()).await;
        source.add(pod("pod2"));
        source.modify(pod("pod2"));
        source.delete("pod1");
        let mut count = 0;
        while let Ok(Some(next)) = tokio::time::timeout(Duration::from_secs(1), subscription.recv()).await {
            let objects = match next {
                Notification::Added { object, .. } => vec![object],
                Notification::Updated { old, new, .. } => vec![old, new],
                Notification::Deleted { object, .. } => object.object().into_iter().cloned().collect(),
                Notification::Mark(_) => continue,
            };
            assert!(objects.iter().all(|object| is_seen(object)));
            count += 1;
        }
        assert_eq!(count, 4);
        assert!(informer.get_store().list().iter().all(|object| is_seen(object)));
        running.stop().await;
    }
}

// F10
#[tokio::test(start_paused = true)]
async fn stored_objects_are_not_transformed_again() {
    let source = source_of(&["a", "b", "c"]);
    let again = Arc::default();
    let informer = SharedIndexInformer::builder(source.clone())
        .resync_check_period(Some(Duration::from_secs(1)))
        .transform(seeing(&again))
        .build();
    let recorder = Recorder::default();
    informer.add_event_handler(recorder.clone()).expect("not stopped");
    let running = Running::synced(informer.clone()).await;
    advance(10).await;
    source.modify_silently(pod("b"));
    source.reset_watches();
    until("listed again", || stored(&informer) == source_state(&source)).await;
    assert!(recorder.take().len() > 30);
    assert_eq!(again.load(Ordering::Relaxed), 0);
    running.stop().await;
}

// F6, F7, I3, I12
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_changes_and_registrations_are_consistent() {
    for kind in KINDS {
        let source = FakeSource::new();
        let informer = of_kind(&source, kind);
        assert!(!informer.has_synced());
        let mut first = informer.subscribe(16, None).expect("not stopped");
        let running = Running::start(informer.clone());
        let mut work = tokio::task::JoinSet::new();
        for writer in 0..3_usize {
            let source = source.clone();
            work.spawn(async move {
                for at in 0..100_usize {
                    let key = format!("w{writer}/p{}", at / 4 % 3);
                    match at % 4 {
                        0 => source.add(pod(&key)),
                        3 => source.delete(&key),
                        _ => source.modify(pod(&key)),
                    }
                    tokio::task::yield_now().await;
                }
            });
        }
        for _ in 0..20 {
            let informer = informer.clone();
            work.spawn(async move {
                for _ in 0..10 {
                    let registration = informer.add_event_handler(Recorder::default()).expect("not stopped");
                    tokio::task::yield_now().await;
                    informer.remove_event_handler(&registration);
                    let mut late = informer.subscribe(1, None).expect("not stopped");
                    let _first = late.try_recv();
                }
            });
        }
        let reading = tokio::spawn(async move { super::Replay::replay_to_end(&mut first).await });
        work.join_all().await;
        source.add(pod("last"));
        assert!(informer.synced().await);
        while stored(&informer) != source_state(&source) {
            tokio::task::yield_now().await;
        }
        running.stop().await;
        assert_eq!(reading.await.expect("no panic"), source_state(&source));
    }
}

#[tokio::test(start_paused = true)]
async fn informer_setters_override_the_builder_before_start() {
    let source = source_of(&["a"]);
    let informer = SharedIndexInformer::builder(source.clone())
        .transform(Arc::new(|_| Err("replaced before the start".into())))
        .build();
    let again = Arc::new(AtomicUsize::new(0));
    informer.set_transform(seeing(&again)).expect("not started");
    let lost = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&lost);
    informer.set_watch_error_handler(Arc::new(|_| panic!("replaced before the start"))).expect("not started");
    informer
        .set_watch_error_handler(Arc::new(move |event| {
            count.fetch_add(usize::from(matches!(event, ReflectorEvent::Lost { .. })), Ordering::Relaxed);
        }))
        .expect("not started");
    source.fail_list(Error::Refused("nobody there".into()));
    let running = Running::synced(informer.clone()).await;
    assert!(informer.get_store().list().iter().all(|object| is_seen(object)));
    assert_eq!(lost.load(Ordering::Relaxed), 1);
    let error = informer.set_transform(seeing(&again)).expect_err("started");
    assert_eq!(error.to_string(), "informer has already started");
    assert!(informer.set_watch_error_handler(Arc::new(|_| ())).is_err());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn bookmarks_are_reported_on_request() {
    let source = source_of(&["a"]);
    let builder = SharedIndexInformer::builder(source.clone()).queue(QueueKind::Ordered);
    let informer = builder.bookmarks(true).build();
    let mut subscription = informer.subscribe(10, None).expect("not stopped");
    let running = Running::start(informer);
    assert_eq!(notifications(&mut subscription).await, ["+a@2! list", "SYNCED 2"]);
    source.skip_to(7);
    source.bookmark();
    source.add(pod("b"));
    assert_eq!(notifications(&mut subscription).await, ["BOOKMARK 7", "+b@8 watch"]);
    // The difference after a gap has no versions of its own.
    source.delete_silently("a");
    source.reset_watches();
    assert_eq!(notifications(&mut subscription).await, ["GAP 8 9", "-a@2? relist", "BOOKMARK 9"]);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn stored_objects_are_delivered_on_request() {
    let source = source_of(&["a"]);
    let large = |text: &str| {
        let mut object = pod("a");
        object["spec"] = serde_json::json!({"text": text.repeat(200)});
        object
    };
    source.modify(large("first"));
    let informer = SharedIndexInformer::builder(source.clone()).deliver_stored(true).build();
    let mut subscription = informer.subscribe(10, None).expect("not stopped");
    let running = Running::start(informer.clone());
    for text in ["first", "second"] {
        let delivered = loop {
            match subscription.next().await.expect("a notification") {
                Notification::Added { object: new, .. } | Notification::Updated { new, .. } => break new,
                _ => {}
            }
        };
        let stored = informer.get_store().get_by_key("a").expect("stored");
        assert!(Arc::ptr_eq(&delivered, &stored) && stored.is_compressed(), "{text}");
        assert!(String::from_utf8_lossy(&delivered.json()).contains(&text.repeat(200)), "{text}");
        source.modify(large("second"));
    }
    running.stop().await;
}
