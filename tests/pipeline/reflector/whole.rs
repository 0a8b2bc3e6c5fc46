//! A first list that is asked for in one piece.

use super::*;
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

type Fault = Box<dyn Fn(&FakeSource)>;

#[tokio::test(start_paused = true)]
async fn one_that_fails_in_whatever_way_is_not_asked_for_again() {
    let unavailable = || Error::Unavailable { status: said("60 s are over"), retry_after: None };
    let faults: [Fault; 6] = [
        Box::new(|source| source.fail_list_after(2, cut())),
        Box::new(|source| source.fail_list_after(0, Error::Timeout("too slow".into()))),
        Box::new(|source| source.fail_list_after(2, Error::Decode("no JSON".into()))),
        Box::new(|source| source.fail_list(refused())),
        Box::new(|source| source.fail_list(too_many(Some(1)))),
        Box::new(move |source| source.fail_list(unavailable())),
    ];
    for fault in faults {
        for (watch_list, other) in [(true, "watch-list "), (false, "list /500")] {
            let source = three();
            fault(&source);
            let run = start(&source, ReflectorOptions { watch_list, ..whole() });
            run.caught_up().await;
            assert_eq!(asked(&source.requests())[..2], ["list /0", other]);
            assert_eq!(run.store.content(), ["a@2", "b@3", "c@4"]);
        }
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
