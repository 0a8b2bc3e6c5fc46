//! A watch that resumes from a version without a list.

use super::*;
use kdelta::testing::pod;

fn from(version: &str) -> ReflectorOptions {
    plain().resume_from(Some(version.into()))
}

/// Returns the error of a task.
async fn ended(task: JoinHandle<Result<(), Error>>) -> Error {
    let ended = tokio::time::timeout(Duration::from_hours(1), task).await;
    ended.expect("it ends").expect("no panic").expect_err("it gives up")
}

#[tokio::test(start_paused = true)]
async fn resume_reports_changes_since_the_version_without_a_list() {
    let source = FakeSource::new();
    source.add(pod("old"));
    source.add(pod("known"));
    source.modify(pod("old"));
    source.delete("known");
    let run = start(&source, from("3"));
    run.caught_up().await;
    source.add(pod("new"));
    run.caught_up().await;
    assert_eq!(run.store.calls.all(), ["update old@4 watch", "delete known@5 watch", "add new@6 watch"]);
    assert_eq!(request_lines(&source.requests()), ["list /1", "watch 3"], "where it stands, and no more");
    run.stop().await.expect("a stop is no error");
}

#[tokio::test(start_paused = true)]
async fn resume_recovers_from_watch_failures_without_a_list() {
    let source = FakeSource::new();
    source.add(pod("a"));
    for error in [
        refused(),
        Error::Internal(status_with("oops")),
        Error::TooLargeResourceVersion(status_with("not yet")),
    ] {
        source.fail_watch(error);
    }
    let run = start(&source, from("2"));
    run.caught_up().await;
    for error in [cut(), Error::Internal(status_with("leader changed"))] {
        // Long enough for the watch to count as established.
        advance(2).await;
        source.break_watches(&error);
        source.modify(pod("a"));
        run.caught_up().await;
    }
    let request_lines = request_lines(&source.requests());
    assert!(
        request_lines.iter().all(|request| request.starts_with("watch ") || request == "list /1"),
        "{request_lines:?}"
    );
    assert_eq!(run.store.calls.all(), ["update a@3 watch", "update a@4 watch"]);
    assert_eq!(run.events.all().iter().filter(|event| event.starts_with("recovered")).count(), 3);
}

#[tokio::test(start_paused = true)]
async fn resume_fails_with_an_expired_version_at_any_time() {
    let source = FakeSource::new();
    source.skip_to(2);
    source.fail_watch(expired());
    let error = start(&source, from("2")).task.await.expect("no panic").expect_err("too old");
    assert!(matches!(error, Error::Expired(_)), "{error:?}");

    source.add(pod("a"));
    let run = start(&source, from("2"));
    run.caught_up().await;
    source.break_watches(&expired());
    let handle = run.handle.clone();
    let error = run.task.await.expect("no panic").expect_err("too old");
    assert!(matches!(error, Error::Expired(_)), "{error:?}");
    assert_eq!(handle.last_sync_resource_version(), "3".into(), "which version that was");
}

#[tokio::test(start_paused = true)]
async fn resume_fails_at_once_on_an_unreadable_event() {
    let source = FakeSource::new();
    source.add(pod("a"));
    let run = start(&source, from("1"));
    run.caught_up().await;
    advance(2).await;
    source.break_watches(&Error::Decode("garbage".into()));
    let error = ended(run.task).await;
    assert!(matches!(error, Error::Decode(_)), "{error:?}");
    assert_eq!(request_lines(&source.requests()), ["list /1", "watch 1"]);
    assert_eq!(run.handle.last_sync_resource_version(), "2".into(), "the last that was read");
}

#[tokio::test(start_paused = true)]
async fn resume_from_an_unreachable_version_fails_after_five_tries() {
    let source = FakeSource::new();
    source.add(pod("a"));
    let run = start(&source, from("2"));
    run.caught_up().await;
    let too_large = || Error::TooLargeResourceVersion(status_with("not yet"));
    for _ in 0..2 {
        // In the stream and at its start, four times in a row: then the watch stays open for longer than the longest
        // wait.
        (0..3).for_each(|_| source.fail_watch(too_large()));
        source.break_watches(&too_large());
        until(|| source.open_watches() == 1 && source.requests().len() % 4 == 2).await;
        advance(60).await;
    }
    (0..4).for_each(|_| source.fail_watch(too_large()));
    source.break_watches(&too_large());
    let error = ended(run.task).await;
    assert!(matches!(error, Error::TooLargeResourceVersion(_)), "{error:?}");
    assert_eq!(source.requests().len(), 2 + 4 + 4 + 4);
}

#[tokio::test(start_paused = true)]
async fn resume_gives_up_before_the_first_watch_like_a_list() {
    let source = FakeSource::new();
    source.fail_watch(refused());
    let options = from("1").give_up(Some(Arc::new(|_| true)));
    let run = start(&source, options.clone());
    run.task.await.expect("no panic").expect_err("refused");
    let run = start(&source, options);
    run.caught_up().await;
    source.break_watches(&cut());
    source.add(pod("a"));
    run.caught_up().await;
}

/// An intermediary may respond to the version check with a page of its own.
#[tokio::test(start_paused = true)]
async fn resume_continues_when_the_version_check_fails() {
    let source = FakeSource::new();
    source.add(pod("a"));
    let run = start(&source, from("2"));
    run.caught_up().await;
    let too_large = || Error::TooLargeResourceVersion(status_with("not yet"));
    for error in [Error::Decode("a page".into()), Error::NotFound(status_with("no list"))]
        .into_iter()
        .chain((0..6).map(|_| too_large()))
    {
        let _ = source.take_requests();
        advance(2).await;
        source.fail_list(error.clone());
        source.break_watches(&cut());
        run.caught_up().await;
        assert_eq!(request_lines(&source.requests()), ["list /1", "watch 2"], "{error:?}");
    }
    source.modify(pod("a"));
    run.caught_up().await;
    assert_eq!(run.store.calls.all(), ["update a@3 watch"]);
}
