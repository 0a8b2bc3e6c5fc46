//! Informers that run until they have synced.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use kdelta::informer::{
    HandlerOptions, NotificationFn, OnSlow, QueueKind, ResourceEventHandler, SharedIndexInformer,
};
use kdelta::listwatch::{Error, Status};
use kdelta::object::ResourceVersion;
use kdelta::reflector::ReflectorOptions;
use kdelta::testing::{FakeSource, InitialEvents, Request, pod};

use super::{KINDS, Recorder, advance, of_kind, source_of, source_state, stored, until};

/// Runs the informer until it has synced; fails the test if it does not end.
async fn synced(informer: &SharedIndexInformer) -> Result<bool, Error> {
    let run = informer.run_until_synced(CancellationToken::new());
    tokio::time::timeout(Duration::from_hours(1), run).await.expect("an end")
}

/// Returns true for watches that do not deliver the initial state.
fn is_live_watch(request: &Request) -> bool {
    matches!(request, Request::Watch(options) if !options.send_initial_events)
}

fn unavailable() -> Error {
    Error::Unavailable { status: Status::default(), retry_after: None }
}

#[tokio::test(start_paused = true)]
async fn list_is_stored_and_delivered_and_no_watch_follows() {
    for kind in KINDS {
        let source = source_of(&["a", "b"]);
        let informer = of_kind(&source, kind);
        let handler = Recorder::default();
        let registration = informer.add_event_handler(handler.clone()).expect("not stopped");
        let mut subscription = informer.subscribe(1, None).expect("not stopped");
        assert!(synced(&informer).await.expect("no error"), "{kind:?}");
        assert_eq!(stored(&informer), source_state(&source));
        let initial: &[&str] = match kind {
            QueueKind::Delta => &["+a@2! list", "+b@3! list"],
            _ => &["+a@2! list", "+b@3! list", "SYNCED 3"],
        };
        assert_eq!(handler.take(), initial, "{kind:?}");
        assert!(registration.has_synced() && informer.has_synced() && informer.is_stopped());
        assert_eq!(informer.last_store_sync_resource_version(), source.version());
        assert!(matches!(&source.requests()[..], [Request::List(_)]), "{kind:?}: {:?}", source.requests());
        let mut lines = Vec::new();
        while let Some(notification) = subscription.recv().await {
            lines.push(notification.to_string());
        }
        assert_eq!(lines, initial, "{kind:?}: the subscription is read to its end afterwards");
    }
}

#[tokio::test(start_paused = true)]
async fn watch_that_delivers_the_initial_state_is_closed_at_its_bookmark() {
    for kind in KINDS {
        let source = source_of(&["a"]);
        source.set_initial_events(InitialEvents::WithoutEnd);
        let informer = of_kind(&source, kind);
        let running = tokio::spawn(informer.run_until_synced(CancellationToken::new()));
        until("the watch", || source.open_watches() == 1).await;
        source.add(pod("b"));
        advance(1).await;
        assert!(!running.is_finished(), "{kind:?}: before the bookmark");
        source.end_initial_events();
        let ended = tokio::time::timeout(Duration::from_mins(1), running).await.expect("an end");
        assert!(ended.expect("no panic").expect("no error"));
        source.add(pod("late"));
        assert_eq!(stored(&informer), ["a@2", "b@3"], "{kind:?}");
        assert_eq!(source.open_watches(), 0, "{kind:?}");
        assert!(matches!(&source.requests()[..], [Request::Watch(options)] if options.send_initial_events));
    }
}

#[tokio::test(start_paused = true)]
async fn empty_source_syncs() {
    for kind in KINDS {
        let informer = of_kind(&source_of(&[]), kind);
        assert!(synced(&informer).await.expect("no error"));
        assert!(informer.has_synced() && stored(&informer).is_empty(), "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn failures_are_retried_as_in_a_run() {
    for kind in KINDS {
        let source = FakeSource::new();
        source.add(pod("a"));
        // The initial state is refused in a watch, and its list fails twice, once after an object.
        source.set_initial_events(InitialEvents::Refused(Error::Internal(Status::default())));
        source.fail_list(unavailable());
        source.fail_list_after(1, unavailable());
        let informer = of_kind(&source, kind);
        assert!(synced(&informer).await.expect("no error"));
        assert_eq!(stored(&informer), ["a@2"], "{kind:?}");
        assert!(!source.requests().iter().any(is_live_watch), "{kind:?}: {:?}", source.requests());
    }
}

#[tokio::test(start_paused = true)]
async fn final_error_is_returned() {
    let source = source_of(&["a"]);
    source.fail_list(Error::Forbidden(Status::default()));
    let options = ReflectorOptions::default().give_up(Some(Arc::new(|_| true)));
    let informer = SharedIndexInformer::builder(source).reflector(options).build();
    let error = synced(&informer).await.expect_err("the list is forbidden");
    assert!(matches!(error, Error::Forbidden(_)), "{error:?}");
    assert!(!informer.has_synced() && informer.is_stopped() && !informer.synced().await);
}

#[tokio::test(start_paused = true)]
async fn stop_before_the_sync_is_no_sync() {
    let source = source_of(&["a"]);
    source.hold(true);
    let informer = of_kind(&source, KINDS[0]);
    let stop = CancellationToken::new();
    let running = tokio::spawn(informer.run_until_synced(stop.clone()));
    advance(10).await;
    stop.cancel();
    assert!(!running.await.expect("no panic").expect("no error"));
    assert!(informer.is_stopped() && !informer.has_synced());
}

#[tokio::test(start_paused = true)]
async fn informer_runs_once() {
    let source = source_of(&["a"]);
    let informer = of_kind(&source, KINDS[0]);
    assert!(synced(&informer).await.expect("no error"));
    let requests = source.take_requests();
    assert_eq!(requests.len(), 1);
    assert!(!synced(&informer).await.expect("no error"), "it was run already");
    assert!(informer.run(CancellationToken::new()).await.is_ok());
    assert!(source.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn slow_handler_receives_the_whole_initial_state() {
    for kind in KINDS {
        let source = FakeSource::new();
        source.set_initial_events(InitialEvents::Unsupported);
        (0..3000).for_each(|number| source.add(pod(&format!("{number:04}"))));
        let informer = of_kind(&source, kind);
        let handler = Recorder::default();
        let recorder = handler.clone();
        let slow = HandlerOptions::default().on_slow(OnSlow::Block { capacity: 1, bytes: 1 });
        let record = NotificationFn(move |notification| {
            recorder.on_notification(notification);
        });
        informer.add_event_handler_with_options(record, slow).expect("not stopped");
        assert!(synced(&informer).await.expect("no error"));
        let added = handler.take().into_iter().filter(|line| line.starts_with('+')).count();
        assert_eq!((added, stored(&informer).len()), (3000, 3000), "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn resumed_reflector_ends_once_its_watch_is_established() {
    let source = source_of(&["a"]);
    let options = ReflectorOptions::default().resume_from(Some(ResourceVersion::new("2")));
    let informer = SharedIndexInformer::builder(source.clone()).reflector(options).build();
    assert!(synced(&informer).await.is_ok());
    assert_eq!((stored(&informer), source.open_watches()), (Vec::new(), 0));
    assert_eq!(source.requests().iter().filter(|request| is_live_watch(request)).count(), 1);
}
