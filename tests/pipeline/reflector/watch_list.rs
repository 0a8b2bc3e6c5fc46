//! Initial lists streamed through a watch.

use super::*;
use kdelta::listwatch::ResourceVersionMatch;
use kdelta::testing::{InitialEvents, pod};

fn streaming() -> ReflectorOptions {
    plain().watch_list(true)
}

fn pods(names: &[&str]) -> FakeSource {
    let source = FakeSource::new();
    for name in names {
        source.add(pod(name));
    }
    source
}

// G8, H3, H4 synced
#[tokio::test(start_paused = true)]
async fn one_watch_delivers_the_initial_list_and_continues() {
    let source = pods(&["a", "b"]);
    let run = start(&source, streaming());
    run.caught_up().await;
    source.modify(pod("a"));
    run.at("4").await;
    let options = WatchOptions::default()
        .resource_version(ResourceVersion::UNSET)
        .version_match(Some(ResourceVersionMatch::NotOlderThan))
        .send_initial_events(true)
        .allow_bookmarks(true)
        .timeout(Some(Duration::from_mins(5)));
    assert_eq!(source.requests(), [Request::Watch(options)]);
    assert_eq!(run.store.calls.all(), ["begin list", "replace [a@2 b@3] at 3 list", "update a@4 watch"]);
    assert_eq!(run.events.all(), ["list of 2 at 3 by watch"]);
}

// H1
#[tokio::test(start_paused = true)]
async fn unsupported_source_is_listed() {
    let source = pods(&["a"]);
    source.set_initial_events(InitialEvents::Unsupported);
    let run = start(&source, streaming());
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["list 0/500", "watch 2"]);
    assert_eq!(run.events.all(), ["list of 1 at 2 by list"]);
}

// H3, H4 no bookmark, annotation false
#[tokio::test(start_paused = true)]
async fn initial_list_needs_its_end_bookmark() {
    let source = pods(&["a"]);
    source.set_initial_events(InitialEvents::WithoutEnd);
    let run = start(&source, streaming());
    until(|| source.open_watches() == 1).await;
    // A bookmark that does not end the initial list (annotation "false").
    source.bookmark();
    advance(9).await;
    assert!(run.handle.last_sync_resource_version().is_unset());
    assert_eq!(run.store.content(), [""; 0]);
    source.end_initial_events();
    run.at("2").await;
    assert_eq!(run.store.content(), ["a@2"]);
}

#[tokio::test(start_paused = true)]
async fn missing_end_bookmark_times_out_after_the_last_object() {
    let source = pods(&["a"]);
    source.set_initial_events(InitialEvents::WithoutEnd);
    let run = start(&source, streaming());
    for name in ["b", "c", "d"] {
        advance(9).await;
        source.add(pod(name));
    }
    advance(9).await;
    assert_eq!(request_lines(&source.requests()), ["watch-list "]);
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["watch-list ", "list 0/500", "watch 5"]);
    let text = "no watch-list any more: no bookmark ended the initial state within 10s of its last object";
    assert_eq!(run.events.all(), [text, "list of 4 at 5 by list"]);

    // Remembered: the next initial list is a plain list.
    source.reset_watches();
    source.fail_watch(expired());
    run.caught_up().await;
    assert!(!request_lines(&source.requests())[3..].iter().any(|request| request.starts_with("watch-list")));
}

#[tokio::test(start_paused = true)]
async fn missing_watch_list_support_is_shared_between_reflectors() {
    let source = pods(&["a"]);
    source.set_initial_events(InitialEvents::WithoutEnd);
    let runs = [start(&source, streaming()), start(&source, streaming())];
    for run in &runs {
        run.at("2").await;
    }
    let reported =
        runs.iter().flat_map(|run| run.events.all()).filter(|line| line.starts_with("no watch-list"));
    assert_eq!(reported.count(), 1, "reported once");
    until(|| source.open_watches() == 2).await;
    let before = source.requests().len();
    start(&source, streaming()).at("2").await;
    assert_eq!(request_lines(&source.requests())[before..=before], ["list 0/500"], "and not tried again");
}

#[tokio::test(start_paused = true)]
async fn live_events_do_not_extend_the_deadline() {
    let source = pods(&["a"]);
    source.set_initial_events(InitialEvents::Ignored);
    let run = start(&source, streaming());
    until(|| source.open_watches() == 1).await;
    for _ in 0..12 {
        advance(1).await;
        source.modify(pod("a"));
    }
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests())[..2], ["watch-list ", "list 0/500"]);
}

// H4 any start error
#[tokio::test(start_paused = true)]
async fn start_error_falls_back_to_a_list_once() {
    for error in [
        Error::Internal(status_with("dummy")),
        Error::Forbidden(status_with("no watch")),
        Error::Decode("html".into()),
    ] {
        let source = pods(&["a"]);
        source.fail_watch(error.clone());
        let run = start(&source, streaming());
        run.caught_up().await;
        assert_eq!(request_lines(&source.requests()), ["watch-list ", "list 0/500", "watch 2"]);
        assert_eq!(run.events.all(), [format!("no watch-list: {error}"), "list of 1 at 2 by list".into()]);
        source.add(pod("b"));
        run.at("3").await;
        advance_most_of_a_watch().await;
        source.reset_watches();
        source.fail_watch(expired());
        run.caught_up().await;
        assert_eq!(request_lines(&source.requests())[3..], ["watch 3", "watch-list 3"]);
    }
}

// H4 Invalid
#[tokio::test(start_paused = true)]
async fn unsupported_watch_list_is_remembered() {
    let source = pods(&["a"]);
    source.set_initial_events(InitialEvents::Refused(Error::Invalid(status_with(
        "sendInitialEvents is forbidden",
    ))));
    let run = start(&source, streaming());
    run.caught_up().await;
    source.add(pod("b"));
    run.at("3").await;
    advance_most_of_a_watch().await;
    source.reset_watches();
    source.fail_watch(expired());
    run.caught_up().await;
    assert_eq!(
        request_lines(&source.requests()),
        ["watch-list ", "list 0/500", "watch 2", "watch 3", "list 3/0", "watch 3"]
    );
}

// H4 429 twice at start
#[tokio::test(start_paused = true)]
async fn busy_or_unreachable_source_is_retried() {
    for error in [too_many(None), refused()] {
        let source = pods(&["a"]);
        source.fail_watch(error.clone());
        source.fail_watch(error);
        let run = start(&source, streaming());
        run.caught_up().await;
        assert_eq!(request_lines(&source.requests()), ["watch-list "; 3]);
        assert_eq!(run.store.content(), ["a@2"]);
    }
}

// H4 stream ends before sync
#[tokio::test(start_paused = true)]
async fn watch_broken_before_its_bookmark_restarts_once_and_then_lists() {
    for times in [1, 2] {
        let source = pods(&["a"]);
        source.set_initial_events(InitialEvents::WithoutEnd);
        let run = start(&source, streaming());
        for _ in 0..times {
            until(|| source.open_watches() == 1).await;
            source.set_initial_events(if times == 1 {
                InitialEvents::Sent
            } else {
                InitialEvents::WithoutEnd
            });
            source.break_watches(&cut());
        }
        run.caught_up().await;
        let expected: &[&str] = if times == 1 {
            &["watch-list "; 2]
        } else {
            &["watch-list ", "watch-list ", "list 0/500", "watch 2"]
        };
        assert_eq!(request_lines(&source.requests()), expected);
        assert_eq!(run.store.content(), ["a@2"]);
    }
}

/// A Kubernetes server cleanly ends the watch of a slow reader when more changes happen than it buffers.
#[tokio::test(start_paused = true)]
async fn initial_state_whose_watch_ends_cleanly_is_listed_at_once() {
    let source = pods(&["a"]);
    source.set_initial_events(InitialEvents::WithoutEnd);
    let run = start(&source, streaming());
    until(|| source.open_watches() == 1).await;
    source.add_silently(pod("b"));
    let before = tokio::time::Instant::now();
    source.drop_watches();
    run.caught_up().await;
    assert!(before.elapsed().as_millis() < 100, "no back-off: the source is there");
    assert_eq!(request_lines(&source.requests()), ["watch-list ", "list 0/500", "watch 3"]);
    let text = "no watch-list: the watch ended before its initial state did";
    assert_eq!(run.events.all(), [text, "list of 2 at 3 by list"]);
    assert_eq!(run.store.content(), ["a@2", "b@3"]);
}

// H4 stream ends after sync
#[tokio::test(start_paused = true)]
async fn watch_ended_after_its_bookmark_resumes_at_the_last_version() {
    let source = pods(&["a", "b"]);
    let run = start(&source, streaming());
    run.caught_up().await;
    source.add(pod("c"));
    run.at("4").await;
    advance_most_of_a_watch().await;
    source.drop_watches();
    source.add_silently(pod("d"));
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["watch-list ", "watch 4"]);
    assert_eq!(run.store.content(), ["a@2", "b@3", "c@4", "d@5"]);
}

// H4 expired at re-watch
#[tokio::test(start_paused = true)]
async fn gap_is_closed_by_a_streaming_list_not_older_than_the_last_version() {
    let source = pods(&["a", "b"]);
    let run = start(&source, streaming());
    run.caught_up().await;
    source.bookmark();
    advance_most_of_a_watch().await;
    source.delete_silently("a");
    source.reset_watches();
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["watch-list ", "watch 3", "watch-list 3"]);
    assert_eq!(run.store.calls.all()[3..], ["begin relist", "gap 3 to 4, 0.0s", "replace [b@3] at 4 relist"]);
    assert_eq!(run.events.all().last().expect("an event"), "relist of 1 at 4 by watch");
}

// H4 expired or too large at start
#[tokio::test(start_paused = true)]
async fn unavailable_version_is_dropped() {
    let source = pods(&["a"]);
    source.fail_watch(Error::TooLargeResourceVersion(status_with("too large")));
    let run = start(&source, streaming().first_version("9".into()));
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["watch-list 9", "watch-list "]);
}

/// Changes objects while the initial list arrives, including objects that arrived already.
fn changes(source: &FakeSource) {
    source.modify(pod("a"));
    source.add(pod("c"));
    source.modify(pod("c"));
    source.delete("c");
    source.delete("b");
    source.end_initial_events();
}

// H4 changes during init
#[tokio::test(start_paused = true)]
async fn state_at_the_bookmark_is_the_list() {
    let source = pods(&["a", "b"]);
    source.set_initial_events(InitialEvents::WithoutEnd);
    let run = start(&source, streaming());
    until(|| source.open_watches() == 1).await;
    changes(&source);
    run.caught_up().await;
    assert_eq!(run.store.calls.all(), ["begin list", "replace [a@4] at 8 list"]);
}

#[tokio::test(start_paused = true)]
async fn streaming_store_gets_changes_during_the_initial_list() {
    let source = pods(&["a", "b"]);
    source.set_initial_events(InitialEvents::WithoutEnd);
    let store = RecordingStore { streams: true, ..RecordingStore::default() };
    let run = start_into(&source, store, streaming());
    until(|| source.open_watches() == 1).await;
    changes(&source);
    run.caught_up().await;
    let expected = [
        "begin list",
        "item a@2 list",
        "item b@3 list",
        "item a@4 list",
        "item c@5 list",
        "item c@6 list",
        "delete c@7 list",
        "delete b@8 list",
        "replace [] at 8 list",
    ];
    assert_eq!(run.store.calls.all(), expected);
    assert_eq!(run.store.content(), ["a@4"]);
    assert_eq!(run.events.all(), ["list of 1 at 8 by watch"]);
}
