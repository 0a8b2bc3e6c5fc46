//! A source that is not as far as it was: restored from a backup, or another one in its place.

use super::*;
use kdelta::listwatch::ListerWatcher;
use kdelta::object::KeyGetter;
use kdelta::store::{Cache, Store};
use kdelta::testing::{InitialEvents, pod};

/// Pods a and b at the versions 2 and 3, and a reflector that has seen them change up to version 6.
async fn at_six(options: ReflectorOptions) -> Running {
    let source = FakeSource::new();
    source.add(pod("a"));
    source.add(pod("b"));
    let run = start(&source, options);
    run.caught_up().await;
    source.modify(pod("a"));
    source.delete("b");
    source.add(pod("c"));
    run.caught_up().await;
    run
}

#[tokio::test(start_paused = true)]
async fn versions_that_went_back_are_noticed_said_and_listed() {
    let run = at_six(plain()).await;
    let _before = (run.source.take_requests(), run.events.take(), run.store.calls.take());
    run.source.restore(3, &cut());
    run.source.add_silently(pod("d"));
    run.caught_up().await;
    assert_eq!(asked(&run.source.requests()), ["list /1", "list /500", "watch 4"]);
    let said = run.events.all();
    assert_eq!(
        said,
        [
            "Watch lost: cut",
            "retrying in 0.8s",
            "went back from 6 to 4",
            "retrying in 0.8s",
            "relist of 3 at 4 by list"
        ]
    );
    assert_eq!(
        run.store.calls.all(),
        ["begin relist", "in doubt", "gap 6 to 4, 1.6s", "replace [a@2 b@3 d@4] at 4 relist"]
    );
    run.source.modify(pod("a"));
    run.caught_up().await;
    assert_eq!(run.store.content(), ["a@5", "b@3", "d@4"]);
}

#[tokio::test(start_paused = true)]
async fn a_state_through_a_watch_is_asked_for_without_the_version_that_is_gone() {
    let run = at_six(ReflectorOptions { watch_list: true, ..plain() }).await;
    let _ = run.source.take_requests();
    run.source.restore(3, &refused());
    run.caught_up().await;
    assert_eq!(asked(&run.source.requests()), ["list /1", "watch-list "]);
    assert_eq!(run.store.content(), ["a@2", "b@3"]);
}

/// A source that lost track and is asked for a state no older than the last comes to the same.
#[tokio::test(start_paused = true)]
async fn versions_that_went_back_are_said_also_where_a_list_finds_out() {
    let run = at_six(plain()).await;
    let _before = (run.source.take_requests(), run.events.take());
    run.source.restore(3, &expired());
    run.caught_up().await;
    assert_eq!(asked(&run.source.requests()), ["list 6/0", "list /500", "watch 3"]);
    assert_eq!(
        run.events.all(),
        [
            "Watch lost: too old",
            "retrying in 0.8s",
            "relisting from 6",
            "went back from 6 to 3",
            "relist of 2 at 3 by list"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn versions_that_went_back_are_said_once_however_often_the_store_refuses_the_list() {
    let source = FakeSource::new();
    source.add(pod("a"));
    source.add(pod("b"));
    let run = start_into(&source, Notebook { refused: "bad", ..Notebook::default() }, plain());
    run.caught_up().await;
    source.restore(1, &expired());
    source.add_silently(pod("bad"));
    let count = |part: &str| run.events.all().iter().filter(|event| event.contains(part)).count();
    until(|| count("the store refused") == 3).await;
    assert_eq!(count("went back"), 1, "{:?}", run.events.all());
}

#[tokio::test(start_paused = true)]
async fn where_a_source_stands_is_asked_only_after_it_was_out_of_sight() {
    for error in [too_many(None), Error::Forbidden(said("no"))] {
        let run = at_six(plain()).await;
        let _ = run.source.take_requests();
        pass_most_of_a_watch().await;
        run.source.drop_watches();
        run.caught_up().await;
        run.source.break_watches(&error);
        run.caught_up().await;
        assert_eq!(asked(&run.source.requests()), ["watch 6", "watch 6"], "{error:?}");
    }
    for error in [cut(), refused(), Error::Timeout("silent".into()), Error::Unauthorized(said("who?"))] {
        let run = at_six(plain()).await;
        let _ = run.source.take_requests();
        pass(2).await;
        run.source.break_watches(&error);
        run.caught_up().await;
        pass_most_of_a_watch().await;
        run.source.drop_watches();
        run.caught_up().await;
        assert_eq!(asked(&run.source.requests()), ["list /1", "watch 6", "watch 6"], "{error:?}");
    }
}

/// A server that shuts down ends its watches in order, and behind a balancer another one answers at once.
#[tokio::test(start_paused = true)]
async fn where_a_source_stands_is_asked_after_a_watch_was_ended_before_its_time() {
    let run = at_six(plain()).await;
    let _ = run.source.take_requests();
    for seconds in [2, 100, 280] {
        pass(seconds).await;
        run.source.drop_watches();
        run.caught_up().await;
        assert_eq!(asked(&run.source.take_requests()), ["list /1", "watch 6"], "{seconds}");
    }
    assert_eq!(run.events.all()[1..], ["retrying in 0.8s"], "nothing is lost, and only the first was short");
}

#[tokio::test(start_paused = true)]
async fn after_a_watch_that_was_ended_in_order_the_next_is_asked_for_without_waiting_for_an_answer() {
    let run = at_six(plain()).await;
    let _before = (run.source.take_requests(), run.store.calls.take());
    run.source.hold(true);
    run.source.drop_watches();
    until(|| asked(&run.source.requests()) == ["list /1", "watch 6"]).await;
    run.source.add(pod("d"));
    run.source.hold(false);
    run.caught_up().await;
    assert_eq!(run.store.calls.all(), ["add d@7 watch"]);
}

#[tokio::test(start_paused = true)]
async fn of_a_source_that_went_back_nothing_is_read_before_that_is_known() {
    let run = at_six(plain()).await;
    let _before = (run.source.take_requests(), run.store.calls.take());
    run.source.drop_watches();
    run.source.restore(3, &cut());
    run.source.add_silently(pod("d"));
    run.caught_up().await;
    assert_eq!(asked(&run.source.requests()), ["list /1", "list /500", "watch 4"]);
    let calls = run.store.calls.all();
    assert_eq!(calls[..2], ["begin relist", "in doubt"], "{calls:?}");
    assert_eq!(run.source.open_watches(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_does_not_say_where_it_stands_is_watched_all_the_same() {
    let run = at_six(plain()).await;
    let _ = run.source.take_requests();
    run.source.fail_list(Error::Forbidden(said("no list")));
    run.source.break_watches(&cut());
    run.caught_up().await;
    assert_eq!(asked(&run.source.requests()), ["list /1", "watch 6"]);
}

#[tokio::test(start_paused = true)]
async fn where_a_source_stands_is_asked_until_it_answers() {
    let run = at_six(plain()).await;
    let _before = (run.source.take_requests(), run.events.take());
    for error in [refused(), Error::Internal(said("starting")), too_many(Some(3))] {
        run.source.fail_list(error);
    }
    run.source.restore(3, &cut());
    run.caught_up().await;
    assert_eq!(asked(&run.source.requests())[..5], ["list /1", "list /1", "list /1", "list /1", "list /500"]);
    assert!(run.events.all().contains(&"went back from 6 to 3".to_owned()), "{:?}", run.events.all());
}

/// Until it has come to that version, a source says nothing to a watch from it; so nobody may go on from there.
#[tokio::test(start_paused = true)]
async fn a_watch_that_goes_on_from_a_version_to_come_ends_at_once_with_both_versions() {
    let source = FakeSource::new();
    source.add(pod("a"));
    let from = |version: &str| ReflectorOptions { resume_from: Some(version.into()), ..plain() };
    let error = start(&source, from("7")).task.await.expect("no panic").expect_err("to come");
    assert!(matches!(error, Error::TooLargeResourceVersion(_)), "{error:?}");
    assert_eq!(error.to_string(), "Too large resource version: 7, current: 2");
    assert_eq!(asked(&source.take_requests()), ["list /1"]);

    let run = start(&source, from("2"));
    run.caught_up().await;
    source.add(pod("b"));
    source.add(pod("c"));
    run.caught_up().await;
    source.restore(2, &cut());
    let error = run.task.await.expect("no panic").expect_err("it went back");
    assert_eq!(error.to_string(), "Too large resource version: 4, current: 2");
}

/// A restored source gives its versions a second time, also to the same object.
#[tokio::test(start_paused = true)]
async fn a_state_is_not_taken_for_another_one_of_the_same_version() {
    let source = FakeSource::new();
    source.set_initial_events(InitialEvents::Unsupported);
    let labelled = |value: &str| {
        let mut pod = pod("a");
        pod["metadata"]["labels"] = serde_json::json!({"in": value});
        pod
    };
    source.add(pod("a"));
    source.modify(labelled("one history"));
    source.add(pod("b"));
    let store = Arc::new(Cache::new());
    let reflector = Reflector::new(source.clone(), Arc::clone(&store), plain());
    let _running = tokio::spawn(reflector.run(CancellationToken::new()));
    until(|| store.list().len() == 2 && source.open_watches() == 1).await;
    source.restore(2, &cut());
    source.modify_silently(labelled("another history"));
    until(|| store.list().len() == 1).await;
    let stored = store.get_by_key("a").expect("it is there");
    assert_eq!(stored.resource_version(), &"3".into());
    assert_eq!(stored.json(), source.objects()[0].json());
}

/// Whether the next list is said to be one whose versions may name other states.
fn doubts(run: &Running) -> usize {
    run.store.calls.take().iter().filter(|call| *call == "in doubt").count()
}

#[tokio::test(start_paused = true)]
async fn versions_are_doubted_once_the_source_was_out_of_sight_and_only_then() {
    for watch_list in [false, true] {
        let run = at_six(ReflectorOptions { watch_list, ..plain() }).await;
        run.source.break_watches(&expired());
        run.caught_up().await;
        assert_eq!(doubts(&run), 0, "the first list, and one after the other");
        pass(2).await;
        run.source.break_watches(&cut());
        run.caught_up().await;
        run.source.modify(pod("a"));
        run.caught_up().await;
        run.source.break_watches(&expired());
        run.caught_up().await;
        assert_eq!(doubts(&run), 1, "since the last list");
        run.source.modify(pod("a"));
        run.caught_up().await;
        run.source.break_watches(&expired());
        run.caught_up().await;
        assert_eq!(doubts(&run), 0, "that one settled it");
        run.source.modify(pod("a"));
        run.caught_up().await;
        run.source.restore(3, &Error::TooLargeResourceVersion(said("to come")));
        run.caught_up().await;
        assert_eq!(doubts(&run), 1, "a version that has not come");
    }
}

/// A source that keeps what those have seen of it who ask how far it has come.
struct Asked {
    source: FakeSource,
    /// A std mutex: it is held for one push.
    seen: Arc<Mutex<Vec<ResourceVersion>>>,
}

impl ListerWatcher for Asked {
    type List = <FakeSource as ListerWatcher>::List;
    type Watch = <FakeSource as ListerWatcher>::Watch;

    async fn list(&self, options: &ListOptions) -> Result<Self::List, Error> {
        self.source.list(options).await
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        self.source.watch(options).await
    }

    async fn progress(&self, seen: &ResourceVersion) -> Result<ResourceVersion, Error> {
        self.seen.lock().expect("no panic").push(seen.clone());
        self.source.progress(seen).await
    }
}

/// The memory of a server will do for who was told something by it a moment ago, and for nobody else.
#[tokio::test(start_paused = true)]
async fn only_a_source_that_was_in_sight_is_told_what_was_seen_of_it() {
    for (resume_from, ends, expected) in [
        (None, None, "2"),
        (None, Some(cut()), ""),
        (Some("2".into()), None, " 2"),
        (Some("2".into()), Some(refused()), " "),
    ] {
        let source = FakeSource::new();
        source.add(pod("a"));
        let seen = Arc::default();
        let asked = Asked { source: source.clone(), seen: Arc::clone(&seen) };
        let options = ReflectorOptions { resume_from, ..plain() };
        let task = tokio::spawn(
            Reflector::new(asked, Arc::new(Notebook::default()), options).run(CancellationToken::new()),
        );
        until(|| source.open_watches() == 1).await;
        pass(2).await;
        match &ends {
            Some(error) => source.break_watches(error),
            None => source.drop_watches(),
        }
        until(|| source.open_watches() == 1).await;
        let seen: Vec<_> = seen.lock().expect("no panic").iter().map(ToString::to_string).collect();
        assert_eq!(seen.join(" "), expected, "{ends:?}");
        task.abort();
    }
}
