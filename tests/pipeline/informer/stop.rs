//! The end of an informer: its causes, and blocked handlers.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use tokio_util::sync::CancellationToken;

use kdelta::informer::{NotificationFn, QueueKind, SharedIndexInformer};
use kdelta::listwatch::{Error, ListOptions, ListWatch, PageStream};
use kdelta::reflector::{Observer, ReflectorOptions};
use kdelta::testing::{FakeWatch, pod};

use super::{
    KINDS, Recorder, Replay, Running, advance, notifications, of_kind, source_of, source_state, stored, until,
};

// I13, I14, I18
#[tokio::test(start_paused = true)]
async fn stopped_informer_stays_stopped() {
    let source = source_of(&["a"]);
    let informer = of_kind(&source, QueueKind::Delta);
    let handler = Arc::new(Recorder::default());
    informer.add_event_handler(Arc::clone(&handler)).expect("not stopped");
    assert!(!informer.is_stopped() && !informer.has_synced());
    let running = Running::synced(informer.clone()).await;
    assert!(!informer.is_stopped());
    running.stop().await;
    assert!(informer.is_stopped() && informer.has_synced());
    assert_eq!(Arc::strong_count(&handler), 1, "a task is left");
    assert_eq!(handler.take(), ["+a@2! list"]);
    let error = informer.add_event_handler(Recorder::default()).expect_err("stopped");
    assert!(error.to_string().ends_with("was not added to shared informer because it has stopped already"));
    assert!(informer.subscribe(1, None).is_err());
    let before = source.requests();
    assert!(informer.run(CancellationToken::new()).await.is_ok());
    assert_eq!(source.requests(), before);
}

#[tokio::test(start_paused = true)]
async fn wait_for_sync_returns_false_after_a_stop_without_sync() {
    let source = source_of(&[]);
    source.hold(true);
    let informer = of_kind(&source, QueueKind::Delta);
    let registration = informer.add_event_handler(Recorder::default()).expect("not stopped");
    let running = Running::start(informer.clone());
    advance(10).await;
    let waits = tokio::spawn({
        let informer = informer.clone();
        async move { informer.synced().await }
    });
    tokio::task::yield_now().await;
    running.stop().await;
    assert!(!waits.await.expect("no panic"));
    assert!(!registration.synced().await && !informer.has_synced());
}

#[tokio::test(start_paused = true)]
async fn run_returns_the_reflectors_error() {
    let source = source_of(&[]);
    source.fail_list(Error::Refused("nobody there".into()));
    let options = ReflectorOptions::default().give_up(Some(Arc::new(|_| true)));
    let informer = SharedIndexInformer::builder(source).reflector(options).build();
    let mut subscription = informer.subscribe(1, None).expect("not stopped");
    let error = informer.run(CancellationToken::new()).await.expect_err("given up");
    assert_eq!(error.to_string(), "nobody there");
    assert!(subscription.recv().await.is_none() && informer.is_stopped());
}

#[tokio::test(start_paused = true)]
async fn run_propagates_a_panic_of_the_source() {
    let list = |options: ListOptions| async move {
        assert!(options.limit > 1_000_000, "oh");
        Ok::<_, Error>(PageStream::default())
    };
    let watch = |_| async { Err::<FakeWatch, _>(Error::Refused("nobody there".into())) };
    let informer = SharedIndexInformer::builder(ListWatch::new(list, watch)).build();
    let registration = informer.add_event_handler(Recorder::default()).expect("not stopped");
    let running = Running::start(informer.clone());
    assert!(running.run.await.expect_err("a panic").is_panic());
    assert!(informer.is_stopped() && !registration.synced().await);
}

#[tokio::test(start_paused = true)]
async fn panicking_observer_does_not_end_the_run() {
    let source = source_of(&["a"]);
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let observer: Observer = Arc::new(move |_| {
        counted.fetch_add(1, Relaxed);
        panic!("the observer is broken");
    });
    let options = ReflectorOptions::default().observer(Some(observer));
    let informer = SharedIndexInformer::builder(source.clone()).reflector(options).build();
    let running = Running::synced(informer.clone()).await;
    until("it watches", || source.open_watches() == 1).await;
    source.add_silently(pod("b"));
    source.reset_watches();
    until("the relist is stored", || stored(&informer).len() == 2).await;
    assert!(calls.load(Relaxed) > 2, "it is called again");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn dropping_the_run_future_ends_all_tasks() {
    let source = source_of(&[]);
    let informer = of_kind(&source, QueueKind::Delta);
    let handler = Arc::new(Recorder::default());
    informer.add_event_handler(Arc::clone(&handler)).expect("not stopped");
    let running = Running::synced(informer.clone()).await;
    until("it watches", || source.open_watches() == 1).await;
    running.run.abort();
    assert!(running.run.await.is_err());
    until("the tasks are gone", || Arc::strong_count(&handler) == 1 && source.open_watches() == 0).await;
    assert!(informer.is_stopped());
}

#[tokio::test(start_paused = true)]
async fn wait_for_sync_ends_when_a_sync_is_impossible() {
    let source = source_of(&["a"]);
    let informer = of_kind(&source, QueueKind::Delta);
    let running = Running::synced(informer.clone()).await;
    let late = informer.add_event_handler(NotificationFn(|_| ())).expect("not stopped");
    informer.remove_event_handler(&late);
    assert!(!late.synced().await);
    running.stop().await;

    let informer = of_kind(&source, QueueKind::Delta);
    let orphan = informer.add_event_handler(Recorder::default()).expect("not stopped");
    drop(informer);
    assert!(!orphan.synced().await);
}

#[tokio::test(start_paused = true)]
async fn slow_reader_applies_backpressure_and_loses_nothing() {
    for kind in KINDS {
        let source = source_of(&["first"]);
        let informer = SharedIndexInformer::builder(source.clone()).queue(kind).queue_capacity(4).build();
        let mut slow = informer.subscribe(2, None).expect("not stopped");
        let running = Running::synced(informer.clone()).await;
        until("it watches", || source.open_watches() == 1).await;
        for at in 0..100 {
            source.add(pod(&format!("p{at}")));
        }
        advance(10).await;
        // Two in the channel, one being sent, and the queue; the rest is not read from the source.
        assert!(stored(&informer).len() <= 4, "{}", stored(&informer).len());
        let received = informer.last_sync_resource_version();
        assert!(received.compare(&"12".into()).is_ok_and(Ordering::is_lt), "{received}");
        let lines = notifications(&mut slow).await;
        assert_eq!(lines.iter().filter(|line| line.starts_with('+')).count(), 101);
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn stop_does_not_wait_for_readers_and_keeps_queued_notifications() {
    for kind in KINDS {
        let names: Vec<_> = (0..50).map(|at| format!("p{at}")).collect();
        let source = source_of(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let informer = of_kind(&source, kind);
        let mut unread = informer.subscribe(1, None).expect("not stopped");
        let running = Running::start(informer.clone());
        until("queued", || informer.last_sync_resource_version() == source.version()).await;
        running.stop().await;
        assert_eq!(Replay::replay_to_end(&mut unread).await, source_state(&source));
        assert_eq!(stored(&informer), source_state(&source));
        assert!(unread.has_synced());
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_subscription_does_not_block_others() {
    let source = source_of(&[]);
    let informer = of_kind(&source, QueueKind::Ordered);
    let unread = informer.subscribe(1, None).expect("not stopped");
    let running = Running::synced(informer.clone()).await;
    for at in 0..10 {
        source.add(pod(&format!("p{at}")));
    }
    advance(1).await;
    assert!(stored(&informer).len() < 10);
    drop(unread);
    until("stored", || stored(&informer).len() == 10).await;
    running.stop().await;
}
