//! A watch that goes on from a version, without a list.

use super::*;
use kdelta::testing::pod;

fn from(version: &str) -> ReflectorOptions {
    ReflectorOptions { resume_from: Some(version.into()), ..plain() }
}

#[tokio::test(start_paused = true)]
async fn what_happened_since_the_version_is_told_in_the_sources_words_and_nothing_is_listed() {
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
    assert_eq!(asked(&source.requests()), ["watch 3"]);
    run.stop().await.expect("a stop is no error");
}

#[tokio::test(start_paused = true)]
async fn it_survives_what_a_watch_survives_and_still_never_lists() {
    let source = FakeSource::new();
    source.add(pod("a"));
    for error in [refused(), Error::Internal(said("oops")), Error::TooLargeResourceVersion(said("not yet"))] {
        source.fail_watch(error);
    }
    let run = start(&source, from("2"));
    run.caught_up().await;
    for error in [cut(), Error::Decode("garbage".into())] {
        // Long enough for the watch to count as standing.
        pass(2).await;
        source.break_watches(&error);
        source.modify(pod("a"));
        run.caught_up().await;
    }
    assert!(asked(&source.requests()).iter().all(|request| request.starts_with("watch ")));
    assert_eq!(run.store.calls.all(), ["update a@3 watch", "update a@4 watch"]);
    assert_eq!(run.events.all().iter().filter(|event| event.starts_with("recovered")).count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_too_old_ends_it_at_any_time() {
    let source = FakeSource::new();
    source.fail_watch(expired());
    let error = start(&source, from("2")).task.await.expect("no panic").expect_err("too old");
    assert!(matches!(error, Error::Expired(_)), "{error:?}");

    source.add(pod("a"));
    let run = start(&source, from("1"));
    run.caught_up().await;
    source.break_watches(&expired());
    let handle = run.handle.clone();
    let error = run.task.await.expect("no panic").expect_err("too old");
    assert!(matches!(error, Error::Expired(_)), "{error:?}");
    assert_eq!(handle.last_sync_resource_version(), "2".into(), "which version that was");
}

#[tokio::test(start_paused = true)]
async fn before_its_first_watch_it_gives_up_as_any_other() {
    let source = FakeSource::new();
    source.fail_watch(refused());
    let options = ReflectorOptions { give_up: Some(Arc::new(|_| true)), ..from("1") };
    let run = start(&source, options.clone());
    run.task.await.expect("no panic").expect_err("refused");
    let run = start(&source, options);
    run.caught_up().await;
    source.break_watches(&cut());
    source.add(pod("a"));
    run.caught_up().await;
}
