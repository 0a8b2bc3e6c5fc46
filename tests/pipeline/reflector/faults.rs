//! What goes wrong, and what the reflector makes of it.

use proptest::prelude::*;

use super::*;
use kdelta::testing::FakeClock;
use kdelta::testing::pod;

// G1
#[tokio::test(start_paused = true)]
async fn an_error_in_the_stream_closes_it_and_the_watch_resumes() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    source.add_silently(pod("a"));
    source.break_watches(&cut());
    until(|| !run.events.all()[1..].is_empty()).await;
    assert_eq!(source.open_watches(), 0);
    run.caught_up().await;
    pass(2).await;
    assert_eq!(run.events.all()[1..], ["Watch lost: cut", "retrying in 0.8s", "recovered at 1 after 0s"]);
    assert_eq!(asked(&source.requests()), ["list 0/500", "watch 1", "list /1", "watch 1"]);
    assert_eq!(run.store.content(), ["a@2"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_has_recovered_once_it_has_stood_for_a_second() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    source.break_watches(&cut());
    run.caught_up().await;
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert_eq!(run.events.all()[1..], ["Watch lost: cut", "retrying in 0.8s"]);
    pass(1).await;
    assert_eq!(run.events.all().last().expect("an event"), "recovered at 1 after 1s");
}

// G12, G13
#[tokio::test(start_paused = true)]
async fn too_many_requests_wait_as_the_server_says_and_need_no_list() {
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
        asked(&source.requests()),
        ["list 0/500", "watch 1", "watch 1", "watch 1", "watch 1", "watch 1"]
    );
}

// G12 in the stream
#[tokio::test(start_paused = true)]
async fn too_many_requests_in_the_stream_need_no_list_however_often() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    for _ in 0..5 {
        until(|| source.open_watches() == 1).await;
        source.break_watches(&too_many(None));
    }
    run.caught_up().await;
    assert_eq!(asked(&source.requests())[1..], ["watch 1"; 6]);
}

// K4
#[tokio::test]
async fn all_time_is_that_of_the_clock_handed_in() {
    let clock = FakeClock::new();
    let source = FakeSource::new();
    source.fail_list(refused());
    source.fail_list(refused());
    let run = start(&source, ReflectorOptions { clock: Arc::new(clock.clone()), ..plain() });
    assert_eq!(clock.advance_to_next().await, Duration::from_millis(800));
    while source.requests().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(clock.advance_to_next().await, Duration::from_millis(1600));
    // The watch waits for the end of its own timeout and margin, all at once.
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
async fn refused_connections_are_tried_at_growing_intervals() {
    for (jitter, refusals, low, high) in [(0.0, 5, 250, 260), (0.999, 5, 490, 510), (0.5, 40, 5600, 5700)] {
        let source = FakeSource::new();
        (0..refusals).for_each(|_| source.fail_list(refused()));
        let mut options = ReflectorOptions { jitter: Arc::new(move || jitter), ..plain() };
        options.backoff.start = Duration::from_millis(10);
        options.backoff.cap = Duration::from_millis(100);
        let before = tokio::time::Instant::now();
        let run = start(&source, options);
        run.caught_up().await;
        let passed = before.elapsed().as_millis();
        assert!((low..=high).contains(&passed), "{passed}");
    }
}

/// What stands between may cut a connection on which nothing happens, again and again.
#[tokio::test(start_paused = true)]
async fn a_quiet_watch_that_is_cut_now_and_then_is_not_waited_for_longer_each_time() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    for _ in 0..4 {
        run.caught_up().await;
        pass(30).await;
        source.break_watches(&cut());
        pass(1).await;
    }
    let waits: Vec<_> = run.events.all().into_iter().filter(|line| line.starts_with("retrying")).collect();
    assert_eq!(waits, ["retrying in 0.8s"; 4]);
    run.caught_up().await;
    for _ in 0..3 {
        run.caught_up().await;
        pass(10).await;
        source.break_watches(&cut());
    }
    run.caught_up().await;
    let waits: Vec<_> = run.events.all().into_iter().filter(|line| line.starts_with("retrying")).collect();
    let growing = ["retrying in 1.6s", "retrying in 3.2s", "retrying in 6.4s"];
    assert_eq!(waits[4..], growing, "one that never stands for long is");
}

// G6
#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_at_once_is_an_error_and_the_third_in_a_row_relists() {
    let source = FakeSource::new();
    (0..3).for_each(|_| source.end_watch_at_once());
    let run = start(&source, plain());
    run.caught_up().await;
    pass(30).await;
    assert_eq!(
        asked(&source.requests()),
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
async fn a_watch_that_goes_silent_beyond_its_timeout_is_opened_again() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    pass(200).await;
    source.bookmark();
    pass(129).await;
    assert_eq!(source.requests().len(), 2);
    pass(2).await;
    assert_eq!(asked(&source.requests()), ["list 0/500", "watch 1", "list /1", "watch 1"]);
    pass(1).await;
    assert_eq!(
        run.events.all()[1..],
        ["Watch lost: the watch was silent for 129s", "recovered at 1 after 1s"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_version_too_old_in_the_stream_or_at_its_start_relists_and_says_the_gap() {
    for in_stream in [true, false] {
        let source = FakeSource::new();
        source.set_expired_in_stream(in_stream);
        source.add(pod("gone"));
        source.add(pod("kept"));
        let run = start(&source, plain());
        run.caught_up().await;
        source.bookmark();
        pass_most_of_a_watch().await;
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
async fn a_gap_lasts_from_the_loss_to_the_list() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    source.bookmark();
    pass(121).await;
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
async fn a_source_that_sends_bookmarks_is_not_silent_for_long() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    source.bookmark();
    pass(200).await;
    assert_eq!(run.events.all().len(), 1, "one bookmark promises nothing");
    source.drop_watches();
    run.caught_up().await;
    source.bookmark();
    pass(60).await;
    source.bookmark();
    pass(170).await;
    assert_eq!(run.events.all().len(), 1);
    source.add_silently(pod("a"));
    pass(15).await;
    run.caught_up().await;
    pass(1).await;
    assert_eq!(run.events.all()[1], "Watch lost: the watch was silent for 180s");
    assert_eq!(run.store.content(), ["a@2"]);
}

#[tokio::test(start_paused = true)]
async fn a_stalled_watch_is_noticed_however_often_the_store_repeats_itself() {
    // More often than each of the limits on silence: that of bookmarks, and that after the timeout of the watch.
    for (period, sends_bookmarks, silence) in [(60, true, 180), (25, true, 180), (20, false, 330)] {
        let source = FakeSource::new();
        let resync_period = Some(Duration::from_secs(period));
        let run = start(&source, ReflectorOptions { resync_period, ..plain() });
        run.caught_up().await;
        if sends_bookmarks {
            source.bookmark();
            pass(1).await;
            source.bookmark();
        }
        pass(silence - 5).await;
        assert_eq!(run.events.all().len(), 1, "{period}: too early");
        pass(10).await;
        let lost = format!("Watch lost: the watch was silent for {silence}s");
        assert_eq!(run.events.all().get(1), Some(&lost), "{period}");
    }
}

#[tokio::test]
async fn after_a_sleep_of_hours_the_watch_is_made_anew_and_the_gap_told() {
    let clock = FakeClock::new();
    let source = FakeSource::new();
    source.add(pod("gone"));
    let run = start(&source, ReflectorOptions { clock: Arc::new(clock.clone()), ..plain() });
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
        // What comes after may wait a little.
        clock.advance(Duration::from_millis(10));
        tokio::task::yield_now().await;
    }
    assert_eq!(run.store.content(), ["new@4"]);
    let events = run.events.all();
    let found = |what: &str| events.iter().any(|line| line.starts_with(what));
    assert!(found("Watch lost: the watch was silent") && found("relisting from 2"), "{events:#?}");
}

#[tokio::test(start_paused = true)]
async fn lists_whose_watches_never_work_are_made_ever_more_rarely() {
    let source = FakeSource::new();
    (0..5).for_each(|_| source.fail_watch(Error::Internal(said("broken"))));
    let run = start(&source, plain());
    run.caught_up().await;
    let waits: Vec<_> = run.events.all().into_iter().filter(|line| line.starts_with("retrying")).collect();
    let seconds = ["0.8", "1.6", "3.2", "6.4", "12.8"].map(|seconds| format!("retrying in {seconds}s"));
    assert_eq!(waits, seconds);
    assert_eq!(source.requests().len(), 12);
}

// G28
#[tokio::test(start_paused = true)]
async fn an_object_the_server_can_no_longer_read_goes_with_the_relist() {
    let source = FakeSource::new();
    for name in ["a", "b"] {
        source.add(pod(name));
    }
    let run = start(&source, plain());
    run.caught_up().await;
    source.add(pod("foo"));
    run.at("4").await;
    source.delete_silently("foo");
    source.break_watches(&Error::Internal(said("StoreReadError")));
    run.caught_up().await;
    assert!(run.store.calls.all().contains(&"replace [a@2 b@3] at 5 relist".to_owned()));
    assert_eq!(run.handle.last_sync_resource_version(), "5".into());
}

// G9
#[tokio::test(start_paused = true)]
async fn every_relist_leaves_exactly_what_is_listed() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    source.add(pod("foo"));
    source.add(pod("bar"));
    source.delete("foo");
    source.add(pod("qux"));
    run.caught_up().await;
    assert_eq!(run.store.content(), ["bar@3", "qux@5"]);
    pass_most_of_a_watch().await;
    source.fail_list(cut());
    source.fail_watch(Error::NotFound(said("gone")));
    source.add_silently(pod("baz"));
    source.reset_watches();
    run.caught_up().await;
    assert_eq!(run.store.content(), ["bar@3", "baz@6", "qux@5"]);
    assert_eq!(asked(&source.requests())[2..], ["watch 5", "list 5/0", "list 5/0", "watch 6"]);
}

#[tokio::test(start_paused = true)]
async fn before_the_first_sync_an_error_may_end_the_run() {
    let options = || ReflectorOptions {
        give_up: Some(Arc::new(|error| matches!(error, Error::Refused(_)))),
        watch_list: true,
        ..plain()
    };
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
async fn a_resource_that_can_not_be_watched_ends_the_run_after_its_list() {
    let source = FakeSource::new();
    source.add(pod("a"));
    source.fail_watch(Error::NotSupported(said("the server does not allow this method")));
    let run = start(&source, plain());
    let error = run.task.await.expect("no panic").expect_err("no watch");
    assert!(matches!(error, Error::NotSupported(_)));
    assert_eq!(run.store.content(), ["a@2"]);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_breaks_or_goes_silent_is_made_again() {
    let source = FakeSource::new();
    source.add(pod("a"));
    source.add(pod("b"));
    source.fail_list_after(1, cut());
    let store = Notebook { streams: true, ..Notebook::default() };
    let run = start_into(&source, store, plain());
    run.caught_up().await;
    assert_eq!(run.store.calls.all()[..3], ["begin list", "item a@2 list", "begin list"]);
    assert_eq!(run.store.content(), ["a@2", "b@3"]);

    let source = FakeSource::new();
    source.hold(true);
    let run = start(&source, plain());
    pass(91).await;
    source.hold(false);
    run.caught_up().await;
    assert_eq!(run.events.all()[0], "List lost: the list was silent for 90s");
}

#[tokio::test(start_paused = true)]
async fn a_table_is_no_object() {
    let source = FakeSource::new();
    let mut table = pod("a");
    table["apiVersion"] = "meta.k8s.io/v1".into();
    table["kind"] = "Table".into();
    source.add(table);
    let run = start(&source, plain());
    until(|| !run.events.all().is_empty()).await;
    assert_eq!(run.events.all()[0], "List lost: meta.k8s.io/v1, Kind=Table is no object to reflect");
}

/// One thing that may happen to a source and those who watch it.
#[derive(Debug, Clone)]
enum Happening {
    Change(u8),
    /// Changes that are missed, then the end of the watch, cleanly or not.
    Cut(Vec<u8>, bool),
    /// The same, and the log is forgotten.
    Forget(Vec<u8>),
    FailList(u8),
    FailWatch(u8),
    Bookmark,
    Pass(u16),
}

fn happening() -> impl Strategy<Value = Happening> {
    let changes = || prop::collection::vec(any::<u8>(), 0..5);
    prop_oneof![
        4 => any::<u8>().prop_map(Happening::Change),
        2 => (changes(), any::<bool>()).prop_map(|(changes, clean)| Happening::Cut(changes, clean)),
        1 => changes().prop_map(Happening::Forget),
        1 => any::<u8>().prop_map(Happening::FailList),
        1 => any::<u8>().prop_map(Happening::FailWatch),
        1 => Just(Happening::Bookmark),
        2 => (0u16..3000).prop_map(Happening::Pass),
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
        1 => Error::TooLargeResourceVersion(said("too large")),
        2 => too_many(Some(2)),
        3 => Error::Internal(said("internal")),
        4 => refused(),
        5 => Error::Decode("garbage".into()),
        6 => Error::Invalid(said("invalid")),
        _ => cut(),
    }
}

async fn happen(source: &FakeSource, happening: Happening) {
    match happening {
        Happening::Change(what) => change(source, what, true),
        Happening::Cut(changes, clean) => {
            change_silently(source, &changes);
            if clean { source.drop_watches() } else { source.break_watches(&cut()) }
        }
        Happening::Forget(changes) => {
            change_silently(source, &changes);
            source.reset_watches();
        }
        Happening::FailList(what) if what % 2 == 0 => source.fail_list_after(1, some_error(what / 2)),
        Happening::FailList(what) => source.fail_list(some_error(what / 2)),
        Happening::FailWatch(what) => source.fail_watch(some_error(what)),
        Happening::Bookmark => source.bookmark(),
        Happening::Pass(millis) => tokio::time::sleep(Duration::from_millis(millis.into())).await,
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_store_ends_with_what_the_source_holds(
        happenings in prop::collection::vec(happening(), 0..30),
        watch_list in any::<bool>(),
        streams in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        runtime.block_on(async {
            let source = FakeSource::new();
            let store = Notebook { streams, ..Notebook::default() };
            let run = start_into(&source, store, ReflectorOptions { watch_list, ..plain() });
            for happening in happenings {
                happen(&source, happening).await;
            }
            run.caught_up().await;
            let there: Vec<_> = source.objects().iter().map(|object| short(object)).collect();
            assert_eq!(run.store.content(), there);
            run.stop().await.expect("it went on");
        });
    }
}
