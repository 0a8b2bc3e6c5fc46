//! Faults of a source and the reflector's reactions.

use proptest::prelude::*;

use super::*;
use kdelta::testing::FakeClock;
use kdelta::testing::pod;

// G1
#[tokio::test(start_paused = true)]
async fn stream_error_closes_the_watch_and_it_resumes() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    source.add_silently(pod("a"));
    source.break_watches(&cut());
    until(|| !run.events.all()[1..].is_empty()).await;
    assert_eq!(source.open_watches(), 0);
    run.caught_up().await;
    advance(2).await;
    assert_eq!(run.events.all()[1..], ["Watch lost: cut", "retrying in 0.8s", "recovered at 1 after 0s"]);
    assert_eq!(request_lines(&source.requests()), ["list 0/500", "watch 1", "list /1", "watch 1"]);
    assert_eq!(run.store.content(), ["a@2"]);
}

#[tokio::test(start_paused = true)]
async fn recovery_is_reported_after_a_second_of_watching() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    source.break_watches(&cut());
    run.caught_up().await;
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert_eq!(run.events.all()[1..], ["Watch lost: cut", "retrying in 0.8s"]);
    advance(1).await;
    assert_eq!(run.events.all().last().expect("an event"), "recovered at 1 after 1s");
}

// G12, G13
#[tokio::test(start_paused = true)]
async fn too_many_requests_waits_for_retry_after_without_a_list() {
    let source = FakeSource::new();
    for retry_after in [None, None, Some(7)] {
        source.fail_watch(too_many(retry_after));
    }
    let run = start(&source, plain());
    run.caught_up().await;
    source.break_watches(&too_many(Some(5)));
    run.caught_up().await;
    let waits: Vec<_> = run.events.all().into_iter().filter(|line| line.starts_with("retrying")).collect();
    assert_eq!(waits, ["retrying in 0.8s", "retrying in 1.6s", "retrying in 7s", "retrying in 5s"]);
    assert_eq!(
        request_lines(&source.requests()),
        ["list 0/500", "watch 1", "watch 1", "watch 1", "watch 1", "watch 1"]
    );
}

// G12 in the stream
#[tokio::test(start_paused = true)]
async fn too_many_requests_in_the_stream_never_cause_a_list() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    for _ in 0..5 {
        until(|| source.open_watches() == 1).await;
        source.break_watches(&too_many(None));
    }
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests())[1..], ["watch 1"; 6]);
}

// K4
#[tokio::test]
async fn all_waits_use_the_injected_clock() {
    let clock = FakeClock::new();
    let source = FakeSource::new();
    source.fail_list(refused());
    source.fail_list(refused());
    let run = start(&source, plain().clock(Arc::new(clock.clone())));
    assert_eq!(clock.advance_to_next().await, Duration::from_millis(800));
    while source.requests().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(clock.advance_to_next().await, Duration::from_millis(1600));
    // The watch waits for its own timeout plus the margin, all in one step.
    while source.open_watches() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(clock.advance_to_next().await, Duration::from_secs(330));
    while source.requests().len() < 5 {
        tokio::task::yield_now().await;
    }
    run.stop().await.expect("a stop is no error");
}

// G10, G11
#[tokio::test(start_paused = true)]
async fn refused_connections_back_off() {
    for (jitter, refusals, low, high) in [(0.0, 5, 250, 260), (0.999, 5, 490, 510), (0.5, 40, 5600, 5700)] {
        let source = FakeSource::new();
        (0..refusals).for_each(|_| source.fail_list(refused()));
        let mut options = plain().jitter(Arc::new(move || jitter));
        options.backoff.start = Duration::from_millis(10);
        options.backoff.cap = Duration::from_millis(100);
        let before = tokio::time::Instant::now();
        let run = start(&source, options);
        run.caught_up().await;
        let passed = before.elapsed().as_millis();
        assert!((low..=high).contains(&passed), "{passed}");
    }
}

/// An intermediary may cut idle connections again and again.
#[tokio::test(start_paused = true)]
async fn occasional_cuts_of_a_quiet_watch_do_not_grow_the_backoff() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    for _ in 0..4 {
        run.caught_up().await;
        advance(30).await;
        source.break_watches(&cut());
        advance(1).await;
    }
    let waits: Vec<_> = run.events.all().into_iter().filter(|line| line.starts_with("retrying")).collect();
    assert_eq!(waits, ["retrying in 0.8s"; 4]);
    run.caught_up().await;
    for _ in 0..3 {
        run.caught_up().await;
        advance(10).await;
        source.break_watches(&cut());
    }
    run.caught_up().await;
    let waits: Vec<_> = run.events.all().into_iter().filter(|line| line.starts_with("retrying")).collect();
    let growing = ["retrying in 1.6s", "retrying in 3.2s", "retrying in 6.4s"];
    assert_eq!(waits[4..], growing, "one that never stands for long is");
}

// G6
#[tokio::test(start_paused = true)]
async fn third_watch_in_a_row_that_ends_at_once_causes_a_relist() {
    let source = FakeSource::new();
    (0..3).for_each(|_| source.end_watch_at_once());
    let run = start(&source, plain());
    run.caught_up().await;
    advance(30).await;
    assert_eq!(
        request_lines(&source.requests()),
        ["list 0/500", "watch 1", "watch 1", "watch 1", "list 1/0", "watch 1"]
    );
    let lost = "Watch lost: the watch ended at once, without an event";
    assert_eq!(
        run.events.all()[1..],
        [
            lost,
            "retrying in 0.8s",
            lost,
            "retrying in 1.6s",
            lost,
            "retrying in 0.8s",
            "relisting from 1",
            "relist of 0 at 1 by list"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn watch_silent_past_its_timeout_is_reopened() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    advance(200).await;
    source.bookmark();
    advance(129).await;
    assert_eq!(source.requests().len(), 2);
    advance(2).await;
    assert_eq!(request_lines(&source.requests()), ["list 0/500", "watch 1", "list /1", "watch 1"]);
    advance(1).await;
    assert_eq!(
        run.events.all()[1..],
        ["Watch lost: the watch was silent for 129s", "recovered at 1 after 1s"]
    );
}

#[tokio::test(start_paused = true)]
async fn expired_version_causes_a_relist_with_a_gap() {
    for in_stream in [true, false] {
        let source = FakeSource::new();
        source.set_expired_in_stream(in_stream);
        source.add(pod("gone"));
        source.add(pod("kept"));
        let run = start(&source, plain());
        run.caught_up().await;
        source.bookmark();
        advance_most_of_a_watch().await;
        run.store.calls.take();
        source.delete_silently("gone");
        source.add_silently(pod("new"));
        source.reset_watches();
        run.caught_up().await;
        let calls = ["begin relist", "gap 3 to 5, 0.0s", "replace [kept@3 new@5] at 5 relist"];
        assert_eq!(run.store.calls.all(), calls);
        let phase = if in_stream { "Watch" } else { "Open" };
        assert_eq!(
            run.events.all()[1..],
            [
                format!("{phase} lost: too old resource version: 3 (5)"),
                "relisting from 3".into(),
                "relist of 2 at 5 by list".into()
            ]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn gap_duration_spans_loss_to_list() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    source.bookmark();
    advance(121).await;
    source.fail_list(refused());
    source.fail_list(refused());
    source.add_silently(pod("a"));
    source.reset_watches();
    run.caught_up().await;
    assert!(run.store.calls.all().contains(&"gap 1 to 2, 2.4s".to_owned()));
    let events = run.events.all();
    assert_eq!(events.iter().filter(|line| line.starts_with("relisting")).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn missing_bookmarks_shorten_the_silence_limit() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    source.bookmark();
    advance(200).await;
    assert_eq!(run.events.all().len(), 1, "one bookmark promises nothing");
    source.drop_watches();
    run.caught_up().await;
    source.bookmark();
    advance(60).await;
    source.bookmark();
    advance(170).await;
    assert_eq!(run.events.all().len(), 1);
    source.add_silently(pod("a"));
    advance(15).await;
    run.caught_up().await;
    advance(1).await;
    assert_eq!(run.events.all()[1], "Watch lost: the watch was silent for 180s");
    assert_eq!(run.store.content(), ["a@2"]);
}

#[tokio::test(start_paused = true)]
async fn store_resyncs_do_not_delay_stall_detection() {
    // More often than each silence limit: the one for bookmarks, and the one after the watch's timeout.
    for (period, sends_bookmarks, silence) in [(60, true, 180), (25, true, 180), (20, false, 330)] {
        let source = FakeSource::new();
        let resync_period = Some(Duration::from_secs(period));
        let run = start(&source, plain().resync_period(resync_period));
        run.caught_up().await;
        if sends_bookmarks {
            source.bookmark();
            advance(1).await;
            source.bookmark();
        }
        advance(silence - 5).await;
        assert_eq!(run.events.all().len(), 1, "{period}: too early");
        advance(10).await;
        let lost = format!("Watch lost: the watch was silent for {silence}s");
        assert_eq!(run.events.all().get(1), Some(&lost), "{period}");
    }
}

#[tokio::test]
async fn watch_reopens_and_reports_a_gap_after_hours_of_sleep() {
    let clock = FakeClock::new();
    let source = FakeSource::new();
    source.add(pod("gone"));
    let run = start(&source, plain().clock(Arc::new(clock.clone())));
    while source.open_watches() == 0 {
        tokio::task::yield_now().await;
    }
    source.delete_silently("gone");
    source.add_silently(pod("new"));
    source.fail_watch(expired());
    clock.advance(Duration::from_hours(8));
    for _ in 0..1000 {
        if run.store.content() == ["new@4"] {
            break;
        }
        // Later steps may take a moment.
        clock.advance(Duration::from_millis(10));
        tokio::task::yield_now().await;
    }
    assert_eq!(run.store.content(), ["new@4"]);
    let events = run.events.all();
    let found = |what: &str| events.iter().any(|line| line.starts_with(what));
    assert!(found("Watch lost: the watch was silent") && found("relisting from 2"), "{events:#?}");
}

#[tokio::test(start_paused = true)]
async fn lists_back_off_while_watches_fail() {
    let source = FakeSource::new();
    (0..5).for_each(|_| source.fail_watch(Error::Internal(status_with("broken"))));
    let run = start(&source, plain());
    run.caught_up().await;
    let waits: Vec<_> = run.events.all().into_iter().filter(|line| line.starts_with("retrying")).collect();
    let seconds = ["0.8", "1.6", "3.2", "6.4", "12.8"].map(|seconds| format!("retrying in {seconds}s"));
    assert_eq!(waits, seconds);
    assert_eq!(source.requests().len(), 12);
}

// G28
#[tokio::test(start_paused = true)]
async fn unreadable_object_is_deleted_by_the_relist() {
    let source = FakeSource::new();
    for name in ["a", "b"] {
        source.add(pod(name));
    }
    let run = start(&source, plain());
    run.caught_up().await;
    source.add(pod("foo"));
    run.at("4").await;
    source.delete_silently("foo");
    source.break_watches(&Error::Internal(status_with("StoreReadError")));
    run.caught_up().await;
    assert!(run.store.calls.all().contains(&"replace [a@2 b@3] at 5 relist".to_owned()));
    assert_eq!(run.handle.last_sync_resource_version(), "5".into());
}

// G9
#[tokio::test(start_paused = true)]
async fn relist_leaves_exactly_the_listed_objects() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    source.add(pod("foo"));
    source.add(pod("bar"));
    source.delete("foo");
    source.add(pod("qux"));
    run.caught_up().await;
    assert_eq!(run.store.content(), ["bar@3", "qux@5"]);
    advance_most_of_a_watch().await;
    source.fail_list(cut());
    source.fail_watch(Error::NotFound(status_with("gone")));
    source.add_silently(pod("baz"));
    source.reset_watches();
    run.caught_up().await;
    assert_eq!(run.store.content(), ["bar@3", "baz@6", "qux@5"]);
    assert_eq!(request_lines(&source.requests())[2..], ["watch 5", "list 5/0", "list 5/0", "watch 6"]);
}

#[tokio::test(start_paused = true)]
async fn fatal_error_before_the_first_sync_ends_the_run() {
    let options =
        || plain().give_up(Some(Arc::new(|error| matches!(error, Error::Refused(_))))).watch_list(true);
    let source = FakeSource::new();
    source.fail_watch(cut());
    source.fail_watch(refused());
    let run = start(&source, options());
    assert_eq!(run.task.await.expect("no panic").expect_err("given up").to_string(), "refused");

    let source = FakeSource::new();
    let run = start(&source, options());
    run.caught_up().await;
    source.fail_watch(refused());
    source.break_watches(&refused());
    run.caught_up().await;
    run.stop().await.expect("it went on");
}

#[tokio::test(start_paused = true)]
async fn unwatchable_resource_ends_the_run_after_its_list() {
    let source = FakeSource::new();
    source.add(pod("a"));
    source.fail_watch(Error::NotSupported(status_with("the server does not allow this method")));
    let run = start(&source, plain());
    let error = run.task.await.expect("no panic").expect_err("no watch");
    assert!(matches!(error, Error::NotSupported(_)));
    assert_eq!(run.store.content(), ["a@2"]);
}

#[tokio::test(start_paused = true)]
async fn broken_or_silent_list_is_retried() {
    let source = FakeSource::new();
    source.add(pod("a"));
    source.add(pod("b"));
    source.fail_list_after(1, cut());
    let store = RecordingStore { streams: true, ..RecordingStore::default() };
    let run = start_into(&source, store, plain());
    run.caught_up().await;
    assert_eq!(run.store.calls.all()[..3], ["begin list", "item a@2 list", "begin list"]);
    assert_eq!(run.store.content(), ["a@2", "b@3"]);

    let source = FakeSource::new();
    source.hold(true);
    let run = start(&source, plain());
    advance(91).await;
    source.hold(false);
    run.caught_up().await;
    assert_eq!(run.events.all()[0], "List lost: the list was silent for 90s");
}

#[tokio::test(start_paused = true)]
async fn table_event_is_an_error() {
    let source = FakeSource::new();
    let mut table = pod("a");
    table["apiVersion"] = "meta.k8s.io/v1".into();
    table["kind"] = "Table".into();
    source.add(table);
    let run = start(&source, plain());
    until(|| !run.events.all().is_empty()).await;
    assert_eq!(
        run.events.all()[0],
        "List lost: a reflector can't store a Table of meta.k8s.io/v1: request objects"
    );
}

/// A random event of a source and its watches.
#[derive(Debug, Clone)]
enum SourceEvent {
    Change(u8),
    /// Missed changes, then the end of the watch, clean or not.
    Cut(Vec<u8>, bool),
    /// The same, and the source loses its history.
    Forget(Vec<u8>),
    FailList(u8),
    FailWatch(u8),
    Bookmark,
    Pass(u16),
}

fn source_event() -> impl Strategy<Value = SourceEvent> {
    let changes = || prop::collection::vec(any::<u8>(), 0..5);
    prop_oneof![
        4 => any::<u8>().prop_map(SourceEvent::Change),
        2 => (changes(), any::<bool>()).prop_map(|(changes, clean)| SourceEvent::Cut(changes, clean)),
        1 => changes().prop_map(SourceEvent::Forget),
        1 => any::<u8>().prop_map(SourceEvent::FailList),
        1 => any::<u8>().prop_map(SourceEvent::FailWatch),
        1 => Just(SourceEvent::Bookmark),
        2 => (0u16..3000).prop_map(SourceEvent::Pass),
    ]
}

/// Adds, modifies or deletes one of four objects.
fn change(source: &FakeSource, what: u8, aloud: bool) {
    let name = ["a", "b", "c", "d"][usize::from(what % 4)];
    let there = source.objects().iter().any(|object| object.name() == name);
    match (there, what / 4 % 3, aloud) {
        (false, _, true) => source.add(pod(name)),
        (false, _, false) => source.add_silently(pod(name)),
        (true, 0, true) => source.delete(name),
        (true, 0, false) => source.delete_silently(name),
        (true, _, true) => source.modify(pod(name)),
        (true, _, false) => source.modify_silently(pod(name)),
    }
}

fn change_silently(source: &FakeSource, changes: &[u8]) {
    for what in changes {
        change(source, *what, false);
    }
}

fn some_error(what: u8) -> Error {
    match what % 8 {
        0 => expired(),
        1 => Error::TooLargeResourceVersion(status_with("too large")),
        2 => too_many(Some(2)),
        3 => Error::Internal(status_with("internal")),
        4 => refused(),
        5 => Error::Decode("garbage".into()),
        6 => Error::Invalid(status_with("invalid")),
        _ => cut(),
    }
}

async fn happen(source: &FakeSource, source_event: SourceEvent) {
    match source_event {
        SourceEvent::Change(what) => change(source, what, true),
        SourceEvent::Cut(changes, clean) => {
            change_silently(source, &changes);
            if clean { source.drop_watches() } else { source.break_watches(&cut()) }
        }
        SourceEvent::Forget(changes) => {
            change_silently(source, &changes);
            source.reset_watches();
        }
        SourceEvent::FailList(what) if what % 2 == 0 => source.fail_list_after(1, some_error(what / 2)),
        SourceEvent::FailList(what) => source.fail_list(some_error(what / 2)),
        SourceEvent::FailWatch(what) => source.fail_watch(some_error(what)),
        SourceEvent::Bookmark => source.bookmark(),
        SourceEvent::Pass(millis) => tokio::time::sleep(Duration::from_millis(millis.into())).await,
    }
}

proptest! {
    #[test]
    fn store_converges_to_the_source_under_random_events(
        happenings in prop::collection::vec(source_event(), 0..30),
        watch_list in any::<bool>(),
        streams in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        runtime.block_on(async {
            let source = FakeSource::new();
            let store = RecordingStore { streams, ..RecordingStore::default() };
            let run = start_into(&source, store, plain().watch_list(watch_list));
            for source_event in happenings {
                happen(&source, source_event).await;
            }
            run.caught_up().await;
            let there: Vec<_> = source.objects().iter().map(|object| short(object)).collect();
            assert_eq!(run.store.content(), there);
            run.stop().await.expect("it went on");
        });
    }
}
