//! A first list that is asked for in one piece.

use super::*;
use kdelta::reflector::GiveUp;
use kdelta::testing::{InitialEvents, pod};

fn whole() -> ReflectorOptions {
    let first_version = ResourceVersion::UNSET;
    ReflectorOptions { whole_list_first: true, watch_list: true, first_version, ..plain() }
}

fn three() -> FakeSource {
    let source = FakeSource::new();
    for name in ["a", "b", "c"] {
        source.add(pod(name));
    }
    source
}

#[tokio::test(start_paused = true)]
async fn only_the_first_state_comes_in_one_list() {
    let source = three();
    let run = start(&source, whole());
    run.caught_up().await;
    source.delete_silently("b");
    source.reset_watches();
    source.fail_watch(expired());
    until(|| run.store.calls.all().last().is_some_and(|call| call.ends_with("relist"))).await;
    let requests = asked(&source.requests());
    assert_eq!(requests[..3], ["list /0", "watch 4", "watch 4"]);
    assert_eq!(requests.last().expect("a request"), "watch-list 4");
    assert_eq!(run.store.content(), ["a@2", "c@4"]);
}

/// All that a source can answer.
fn refusals() -> [Error; 11] {
    let (status, retry_after) = (said("no"), Some(Duration::from_secs(9)));
    [
        expired(),
        Error::TooLargeResourceVersion(said("no")),
        Error::TooManyRequests { status: status.clone(), retry_after },
        Error::Unavailable { status, retry_after },
        Error::Internal(said("no")),
        Error::Unauthorized(said("no")),
        Error::Forbidden(said("no")),
        Error::NotFound(said("no")),
        Error::NotSupported(said("no")),
        Error::Invalid(said("no")),
        // The answer may have been on its way.
        cut(),
    ]
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_in_one_piece_is_asked_for_in_another_way_at_once() {
    for error in refusals() {
        for (watch_list, other) in [(true, "watch-list "), (false, "list /500")] {
            let source = three();
            source.fail_list(error.clone());
            let give_up: Option<GiveUp> = Some(Arc::new(|_| true));
            let before = tokio::time::Instant::now();
            let run = start(&source, ReflectorOptions { watch_list, give_up, ..whole() });
            run.caught_up().await;
            assert!(before.elapsed() < Duration::from_millis(100), "{error:?}");
            assert_eq!(asked(&source.requests())[..2], ["list /0", other]);
            assert_eq!(run.store.content(), ["a@2", "b@3", "c@4"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_breaks_off_is_asked_for_in_another_way_unless_that_ends_the_run() {
    for error in [cut(), Error::Timeout("too slow".into()), Error::Decode("no JSON".into())] {
        let source = three();
        source.fail_list_after(2, error.clone());
        let run = start(&source, whole());
        run.caught_up().await;
        assert_eq!(asked(&source.requests()), ["list /0", "watch-list "]);
        assert_eq!(run.events.all()[0], format!("no whole list: {error}"));
        assert_eq!(run.store.content(), ["a@2", "b@3", "c@4"]);
    }
    for error in [Error::Timeout("too slow".into()), refused(), Error::Tls("a stranger".into())] {
        let source = three();
        source.fail_list(error.clone());
        let give_up: Option<GiveUp> = Some(Arc::new(|_| true));
        let run = start(&source, ReflectorOptions { give_up, ..whole() });
        assert_eq!(run.task.await.expect("no panic").expect_err("it ends").to_string(), error.to_string());
        assert_eq!(source.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn after_it_what_a_source_can_not_do_is_got_round_as_ever() {
    let source = three();
    source.fail_list_after(1, cut());
    source.set_initial_events(InitialEvents::WithoutEnd);
    let run = start(&source, whole());
    run.caught_up().await;
    assert_eq!(asked(&source.requests()), ["list /0", "watch-list ", "list /500", "watch 4"]);
    assert_eq!(run.store.content(), ["a@2", "b@3", "c@4"]);
}

#[tokio::test(start_paused = true)]
async fn where_the_size_of_pages_is_set_it_holds() {
    let source = three();
    let run = start(&source, ReflectorOptions { page_size: Some(2), watch_list: false, ..whole() });
    run.caught_up().await;
    assert_eq!(asked(&source.requests()), ["list /2", "list C1/2", "watch 4"]);
}
