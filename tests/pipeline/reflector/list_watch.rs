//! List and watch requests and their parameters.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use kdelta::listwatch::{ListMeta, ListWatch, ListerWatcher, PageStream, ResourceVersionMatch};
use kdelta::testing::pod;

// G8, H4 feature off
#[tokio::test(start_paused = true)]
async fn watch_starts_at_the_version_of_the_list() {
    let source = FakeSource::new();
    source.add(pod("foo"));
    let run = start(&source, plain());
    run.caught_up().await;
    source.modify(pod("foo"));
    source.add(pod("bar"));
    source.delete("bar");
    run.caught_up().await;
    let watch = WatchOptions::default()
        .resource_version("2".into())
        .allow_bookmarks(true)
        .timeout(Some(Duration::from_mins(5)));
    let list = ListOptions::default().resource_version("0".into()).limit(500);
    assert_eq!(source.requests(), [Request::List(list), Request::Watch(watch)]);
    let expected = [
        "begin list",
        "replace [foo@2] at 2 list",
        "update foo@3 watch",
        "add bar@4 watch",
        "delete bar@5 watch",
    ];
    assert_eq!(run.store.calls.all(), expected);
    assert_eq!(run.events.all(), ["list of 1 at 2 by list"]);
    run.stop().await.expect("a stop is no error");
}

// G26
#[tokio::test(start_paused = true)]
async fn last_sync_version_follows_events_and_bookmarks() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    assert!(run.handle.last_sync_resource_version().is_unset());
    run.caught_up().await;
    for version in [9, 19, 29] {
        source.skip_to(version);
        source.add(pod(&version.to_string()));
        run.at(&(version + 1).to_string()).await;
    }
    source.skip_to(40);
    source.bookmark();
    run.at("40").await;
    assert_eq!(run.store.calls.all().last().expect("a call"), "bookmark 40");
}

#[tokio::test(start_paused = true)]
async fn watch_resumes_silently_after_a_clean_end() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    advance_most_of_a_watch().await;
    source.skip_to(7);
    source.bookmark();
    run.at("7").await;
    source.add_silently(pod("missed"));
    source.drop_watches();
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["list 0/500", "watch 1", "watch 7"]);
    assert_eq!(run.events.all(), ["list of 0 at 1 by list"]);
    assert_eq!(run.store.content(), ["missed@8"]);
}

/// Servers delete all objects of an expired etcd lease, such as old events, in one version.
#[tokio::test(start_paused = true)]
async fn watch_that_ends_after_a_deletion_receives_the_others_of_its_version() {
    let source = FakeSource::new();
    for name in ["a", "b", "c"] {
        source.add(pod(name));
    }
    let run = start(&source, plain());
    run.caught_up().await;
    advance_most_of_a_watch().await;
    source.delete("a");
    run.caught_up().await;
    source.delete_in_last_version_silently("b");
    source.drop_watches();
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["list 0/500", "watch 4", "watch 4"]);
    assert_eq!(run.store.calls.all()[2..], ["delete a@5 watch", "delete b@5 watch"]);
    advance_most_of_a_watch().await;
    source.modify(pod("c"));
    run.caught_up().await;
    source.drop_watches();
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests())[3..], ["watch 6"]);
}

// G17
#[tokio::test(start_paused = true)]
async fn later_pages_have_a_token_and_no_version() {
    let source = FakeSource::new();
    source.set_pages_at_any(true);
    for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i"] {
        source.add(pod(name));
    }
    let run = start(&source, plain().page_size(Some(4)));
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["list 0/4", "list C1/4", "list C2/4", "watch 10"]);
    assert_eq!(run.store.content().len(), 9);
    assert_eq!(run.events.all(), ["list of 9 at 10 by list"]);
}

// G18, G20
#[tokio::test(start_paused = true)]
async fn relist_requests_the_last_version_unpaged() {
    let source = FakeSource::new();
    source.add(pod("a"));
    let run = start(&source, plain());
    run.caught_up().await;
    source.add_silently(pod("b"));
    source.reset_watches();
    run.caught_up().await;
    assert_eq!(
        request_lines(&source.requests()),
        ["list 0/500", "watch 2", "watch 2", "list 2/0", "watch 3"]
    );
}

/// With a version, a limit means exactly that version, which a server may be able to list long after its watch history
/// has expired.
#[tokio::test(start_paused = true)]
async fn paged_relist_uses_not_older_than() {
    let source = FakeSource::new();
    source.add(pod("a"));
    let run = start(&source, plain().page_size(Some(4)));
    run.caught_up().await;
    source.add_silently(pod("b"));
    source.reset_watches();
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["list 0/4", "watch 2", "watch 2", "list 2/4", "watch 3"]);
    let Request::List(options) = &source.requests()[3] else { panic!("a list") };
    assert_eq!(options.version_match, Some(ResourceVersionMatch::NotOlderThan));
}

#[tokio::test(start_paused = true)]
async fn unwatchable_list_version_causes_a_most_recent_list() {
    let source = FakeSource::new();
    // Every version match behaves as exact here, as in servers before 1.19.
    let listing = source.clone();
    let list = move |options: ListOptions| {
        let request_lines = options.resource_version;
        let number = if request_lines.is_any() || request_lines.is_unset() {
            listing.version()
        } else {
            request_lines
        };
        let meta = ListMeta { resource_version: number, continue_token: String::new() };
        async { Ok(PageStream::new(Vec::new(), meta)) }
    };
    let watching = source.clone();
    let watch = move |options: WatchOptions| {
        let source = watching.clone();
        async move { source.watch(&options).await }
    };
    let reflector = Reflector::new(ListWatch::new(list, watch), Arc::new(RecordingStore::default()), plain());
    let (handle, stop) = (reflector.handle(), CancellationToken::new());
    let task = tokio::spawn(reflector.run(stop.clone()));
    until(|| source.open_watches() == 1).await;
    source.skip_to(9);
    source.reset_watches();
    until(|| source.open_watches() == 1).await;
    assert_eq!(handle.last_sync_resource_version(), "9".into());
    stop.cancel();
    task.await.expect("no panic").expect("a stop is no error");
}

// G19
#[tokio::test(start_paused = true)]
async fn source_that_pages_at_version_zero_is_paged_afterwards() {
    let source = FakeSource::new();
    source.set_pages_at_any(true);
    for number in 0..501 {
        source.add(pod(&format!("pod-{number:03}")));
    }
    let run = start(&source, plain());
    run.caught_up().await;
    source.reset_watches();
    source.fail_watch(expired());
    until(|| run.store.calls.all().last().is_some_and(|call| call.ends_with("relist"))).await;
    let requests = request_lines(&source.requests());
    assert_eq!(requests[..2], ["list 0/500", "list C1/500"]);
    assert_eq!(requests[4..6], ["list 502/500", "list C2/500"]);
}

#[tokio::test(start_paused = true)]
async fn first_list_uses_the_configured_version() {
    let source = FakeSource::new();
    let run = start(&source, plain().first_version(ResourceVersion::UNSET));
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["list /500", "watch 1"]);
}

#[tokio::test(start_paused = true)]
async fn expired_continue_token_causes_one_list_without_a_limit() {
    let source = FakeSource::new();
    for name in ["a", "b", "c"] {
        source.add(pod(name));
    }
    let options = plain().first_version(ResourceVersion::UNSET).page_size(Some(2));
    let store = RecordingStore { streams: true, ..RecordingStore::default() };
    store.full.send_replace(true);
    let run = start_into(&source, store, options);
    until(|| source.requests().len() == 1).await;
    source.expire_continue_tokens();
    run.store.full.send_replace(false);
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["list /2", "list C1/2", "list /0", "watch 4"]);
    assert_eq!(run.events.all(), ["list of 3 at 4 by list"]);
    let calls = run.store.calls.all();
    assert_eq!(calls[..4], ["begin list", "item a@2 list", "item b@3 list", "begin list"]);
    assert_eq!(calls.last().expect("a call"), "replace [] at 4 list");
    assert_eq!(run.store.content(), ["a@2", "b@3", "c@4"]);
}

// G23
#[tokio::test(start_paused = true)]
async fn unavailable_version_is_dropped_at_once_for_one_list() {
    for error in [expired(), Error::TooLargeResourceVersion(status_with("too large"))] {
        let source = FakeSource::new();
        let run = start(&source, plain());
        run.caught_up().await;
        for version in ["20", "30"] {
            let _ = source.take_requests();
            let last = run.handle.last_sync_resource_version();
            source.skip_to(version.parse().expect("a number"));
            source.fail_list(error.clone());
            source.reset_watches();
            run.caught_up().await;
            let expected = [
                format!("watch {last}"),
                format!("list {last}/0"),
                "list /500".into(),
                format!("watch {version}"),
            ];
            assert_eq!(request_lines(&source.requests()), expected);
            // The watch delivers a version, so the next gap is closed at once.
            source.bookmark();
            advance_most_of_a_watch().await;
        }
        assert!(!run.events.all().iter().any(|line| line.starts_with("List lost")));
    }
}

#[tokio::test(start_paused = true)]
async fn failed_list_without_a_version_backs_off() {
    let source = FakeSource::new();
    source.fail_list(expired());
    source.fail_list(expired());
    let run = start(&source, plain());
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["list 0/500", "list /500", "list /500", "watch 1"]);
    assert_eq!(run.events.all()[..2], ["List lost: too old", "retrying in 0.8s"]);
}

// G16, I3 of the rule that an error of the store ends nothing
#[tokio::test(start_paused = true)]
async fn store_resyncs_once_per_period_while_watching() {
    let source = FakeSource::new();
    let due = Arc::new(AtomicUsize::new(0));
    let request_lines = Arc::clone(&due);
    let options = plain()
        .resync_period(Some(Duration::from_secs(10)))
        .should_resync(Some(Arc::new(move || request_lines.fetch_add(1, Ordering::Relaxed) != 1)));
    let store = RecordingStore { refused: "resync", ..RecordingStore::default() };
    let run = start_into(&source, store, options);
    run.caught_up().await;
    advance(45).await;
    assert_eq!(due.load(Ordering::Relaxed), 4);
    let resyncs = |run: &Running| run.store.calls.all().iter().filter(|call| *call == "resync").count();
    assert_eq!(resyncs(&run), 3);
    assert_eq!(run.events.all()[1..], ["refused: no room for a resync"; 3]);
    for _ in 0..3 {
        source.fail_watch(refused());
    }
    source.break_watches(&cut());
    // 0.8 + 1.6 + 3.2 + 6.4 s without a watch: a resync due meanwhile waits for it.
    advance(11).await;
    assert_eq!(resyncs(&run), 3);
    run.caught_up().await;
    assert_eq!(resyncs(&run), 4);
}

#[tokio::test(start_paused = true)]
async fn rejected_watch_event_is_reported_and_skipped() {
    let source = FakeSource::new();
    let store = RecordingStore { refused: "bad", ..RecordingStore::default() };
    let run = start_into(&source, store, plain());
    run.caught_up().await;
    source.add(pod("bad"));
    source.add(pod("good"));
    run.at("3").await;
    assert_eq!(run.events.all()[1..], ["refused: no room for bad"]);
    assert_eq!(run.store.content(), ["good@3"]);
}

#[tokio::test(start_paused = true)]
async fn rejected_list_is_reported_and_retried() {
    let lost = "the store refused the list at 2: no room for bad";
    for (watch_list, phase) in [(false, "List"), (true, "WatchList")] {
        let source = FakeSource::new();
        source.add(pod("bad"));
        let store = RecordingStore { refused: "bad", ..RecordingStore::default() };
        let run = start_into(&source, store, plain().watch_list(watch_list));
        until(|| run.events.all().len() == 4).await;
        let lost = format!("{phase} lost: {lost}");
        assert_eq!(run.events.take(), [&lost, "retrying in 0.8s", &lost, "retrying in 1.6s"]);
        assert!(run.handle.last_sync_resource_version().is_unset());
        source.delete("bad");
        source.add(pod("good"));
        run.caught_up().await;
        assert_eq!(run.store.content(), ["good@4"]);
        let [listed] = &run.events.take()[..] else { panic!("one event") };
        assert!(listed.starts_with("list of 1 at 4 by "), "{listed}");
        // A rejected relist keeps the stored objects, and each later list reports the gap again.
        source.add_silently(pod("bad"));
        source.break_watches(&expired());
        until(|| run.events.all().iter().any(|event| event.contains("refused"))).await;
        assert_eq!(run.handle.last_sync_resource_version(), "4".into());
        assert_eq!(run.store.content(), ["good@4"]);
        source.delete_silently("bad");
        run.caught_up().await;
        assert_eq!(run.store.content(), ["good@4"]);
        let events = run.events.take();
        assert_eq!(
            events.iter().filter(|event| event.starts_with("relist of 1 at 6 ")).count(),
            1,
            "{events:?}"
        );
        let gaps: Vec<_> =
            run.store.calls.take().into_iter().filter(|call| call.starts_with("gap ")).collect();
        assert!(
            gaps[0].starts_with("gap 4 to 5, ") && gaps[gaps.len() - 1].starts_with("gap 4 to 6, "),
            "{gaps:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn full_store_applies_backpressure() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    // The pending read delivers one event; the next is not read, however long that takes.
    advance(1).await;
    run.store.full.send_replace(true);
    source.add(pod("a"));
    source.add(pod("b"));
    run.at("2").await;
    advance(4000).await;
    assert_eq!(run.store.content(), ["a@2"]);
    run.store.full.send_replace(false);
    run.at("3").await;
    assert_eq!(request_lines(&source.requests()), ["list 0/500", "watch 1"]);
}
