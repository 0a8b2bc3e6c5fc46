//! A source whose version went back: restored from a backup, or replaced by another one.

use super::*;
use kdelta::listwatch::{ListMeta, ListStream, ListerWatcher};
use kdelta::object::KeyGetter;
use kdelta::store::{Cache, Store};
use kdelta::testing::{InitialEvents, pod};

/// Starts a reflector of the pods a and b at the versions 2 and 3, which has seen changes up to version 6.
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
async fn version_rollback_is_reported_and_relisted() {
    let run = at_six(plain()).await;
    let _before = (run.source.take_requests(), run.events.take(), run.store.calls.take());
    run.source.restore(3, &cut());
    run.source.add_silently(pod("d"));
    run.caught_up().await;
    assert_eq!(request_lines(&run.source.requests()), ["list /1", "list /500", "watch 4"]);
    let reported_events = run.events.all();
    assert_eq!(
        reported_events,
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
async fn streaming_relist_after_a_rollback_has_no_version() {
    let run = at_six(plain().watch_list(true)).await;
    let _ = run.source.take_requests();
    run.source.restore(3, &refused());
    run.caught_up().await;
    assert_eq!(request_lines(&run.source.requests()), ["list /1", "watch-list "]);
    assert_eq!(run.store.content(), ["a@2", "b@3"]);
}

/// The same for a source that loses its history and is listed with a not-older-than version.
#[tokio::test(start_paused = true)]
async fn version_rollback_found_by_a_list_is_reported() {
    let run = at_six(plain()).await;
    let _before = (run.source.take_requests(), run.events.take());
    run.source.restore(3, &expired());
    run.caught_up().await;
    assert_eq!(request_lines(&run.source.requests()), ["list 6/0", "list /500", "watch 3"]);
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
async fn version_rollback_is_reported_once_when_the_store_rejects_lists() {
    let source = FakeSource::new();
    source.add(pod("a"));
    source.add(pod("b"));
    let run = start_into(&source, RecordingStore { refused: "bad", ..RecordingStore::default() }, plain());
    run.caught_up().await;
    source.restore(1, &expired());
    source.add_silently(pod("bad"));
    let count = |part: &str| run.events.all().iter().filter(|event| event.contains(part)).count();
    until(|| count("the store refused") == 3).await;
    assert_eq!(count("went back"), 1, "{:?}", run.events.all());
}

#[tokio::test(start_paused = true)]
async fn version_check_follows_outages_only() {
    for error in [too_many(None), Error::Forbidden(status_with("no"))] {
        let run = at_six(plain()).await;
        let _ = run.source.take_requests();
        advance_most_of_a_watch().await;
        run.source.drop_watches();
        run.caught_up().await;
        run.source.break_watches(&error);
        run.caught_up().await;
        assert_eq!(request_lines(&run.source.requests()), ["watch 6", "watch 6"], "{error:?}");
    }
    for error in [cut(), refused(), Error::Timeout("silent".into()), Error::Unauthorized(status_with("who?"))]
    {
        let run = at_six(plain()).await;
        let _ = run.source.take_requests();
        advance(2).await;
        run.source.break_watches(&error);
        run.caught_up().await;
        advance_most_of_a_watch().await;
        run.source.drop_watches();
        run.caught_up().await;
        assert_eq!(request_lines(&run.source.requests()), ["list /1", "watch 6", "watch 6"], "{error:?}");
    }
}

/// A server that shuts down ends its watches cleanly, and behind a load balancer another one responds at once.
#[tokio::test(start_paused = true)]
async fn version_check_follows_an_early_watch_end() {
    let run = at_six(plain()).await;
    let _ = run.source.take_requests();
    for seconds in [2, 100, 280] {
        advance(seconds).await;
        run.source.drop_watches();
        run.caught_up().await;
        assert_eq!(request_lines(&run.source.take_requests()), ["list /1", "watch 6"], "{seconds}");
    }
    assert_eq!(run.events.all()[1..], ["retrying in 0.8s"], "nothing is lost, and only the first was short");
}

#[tokio::test(start_paused = true)]
async fn watch_after_a_clean_end_does_not_wait_for_the_version_check() {
    let run = at_six(plain()).await;
    let _before = (run.source.take_requests(), run.store.calls.take());
    run.source.hold(true);
    run.source.drop_watches();
    until(|| request_lines(&run.source.requests()) == ["list /1", "watch 6"]).await;
    run.source.add(pod("d"));
    run.source.hold(false);
    run.caught_up().await;
    assert_eq!(run.store.calls.all(), ["add d@7 watch"]);
}

#[tokio::test(start_paused = true)]
async fn watch_is_not_read_before_the_version_check() {
    let run = at_six(plain()).await;
    let _before = (run.source.take_requests(), run.store.calls.take());
    run.source.drop_watches();
    run.source.restore(3, &cut());
    run.source.add_silently(pod("d"));
    run.caught_up().await;
    assert_eq!(request_lines(&run.source.requests()), ["list /1", "list /500", "watch 4"]);
    let calls = run.store.calls.all();
    assert_eq!(calls[..2], ["begin relist", "in doubt"], "{calls:?}");
    assert_eq!(run.source.open_watches(), 1);
}

#[tokio::test(start_paused = true)]
async fn watch_continues_without_a_version_check_result() {
    let run = at_six(plain()).await;
    let _ = run.source.take_requests();
    run.source.fail_list(Error::Forbidden(status_with("no list")));
    run.source.break_watches(&cut());
    run.caught_up().await;
    assert_eq!(request_lines(&run.source.requests()), ["list /1", "watch 6"]);
}

#[tokio::test(start_paused = true)]
async fn version_check_is_retried_until_it_succeeds() {
    let run = at_six(plain()).await;
    let _before = (run.source.take_requests(), run.events.take());
    for error in [refused(), Error::Internal(status_with("starting")), too_many(Some(3))] {
        run.source.fail_list(error);
    }
    run.source.restore(3, &cut());
    run.caught_up().await;
    assert_eq!(
        request_lines(&run.source.requests())[..5],
        ["list /1", "list /1", "list /1", "list /1", "list /500"]
    );
    assert!(run.events.all().contains(&"went back from 6 to 3".to_owned()), "{:?}", run.events.all());
}

/// A source does not respond to a watch from a version it has not reached, so resuming there must fail.
#[tokio::test(start_paused = true)]
async fn resume_from_a_future_version_fails_with_both_of_them() {
    let source = FakeSource::new();
    source.add(pod("a"));
    let from = |version: &str| plain().resume_from(Some(version.into()));
    let error = start(&source, from("7")).task.await.expect("no panic").expect_err("to come");
    assert!(matches!(error, Error::TooLargeResourceVersion(_)), "{error:?}");
    assert_eq!(error.to_string(), "Too large resource version: 7, current: 2");
    assert_eq!(request_lines(&source.take_requests()), ["list /1"]);

    let run = start(&source, from("2"));
    run.caught_up().await;
    source.add(pod("b"));
    source.add(pod("c"));
    run.caught_up().await;
    source.restore(2, &cut());
    let error = run.task.await.expect("no panic").expect_err("it went back");
    assert_eq!(error.to_string(), "Too large resource version: 4, current: 2");
}

/// A restored source assigns its versions a second time, possibly to the same object.
#[tokio::test(start_paused = true)]
async fn equal_versions_after_a_rollback_are_compared_by_content() {
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

/// Returns how many lists the store received as lists whose versions may repeat.
fn doubts(run: &Running) -> usize {
    run.store.calls.take().iter().filter(|call| *call == "in doubt").count()
}

#[tokio::test(start_paused = true)]
async fn versions_are_doubted_after_outages_only() {
    for watch_list in [false, true] {
        let run = at_six(plain().watch_list(watch_list)).await;
        run.source.break_watches(&expired());
        run.caught_up().await;
        assert_eq!(doubts(&run), 0, "the first list, and one after the other");
        advance(2).await;
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
        run.source.restore(3, &Error::TooLargeResourceVersion(status_with("to come")));
        run.caught_up().await;
        assert_eq!(doubts(&run), 1, "a version that has not come");
    }
}

/// A source that records the versions passed to its version checks.
struct CheckRecorder {
    source: FakeSource,
    /// A std mutex, locked for one push.
    seen: Arc<Mutex<Vec<ResourceVersion>>>,
}

impl ListerWatcher for CheckRecorder {
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

/// The server's watch cache suffices for a caller that just received an event from it, and for no other.
#[tokio::test(start_paused = true)]
async fn version_check_passes_the_last_version_only_without_an_outage() {
    for (resume_from, ends, expected) in [
        (None, None, "2"),
        (None, Some(cut()), ""),
        (Some("2".into()), None, " 2"),
        (Some("2".into()), Some(refused()), " "),
    ] {
        let source = FakeSource::new();
        source.add(pod("a"));
        let seen = Arc::default();
        let request_lines = CheckRecorder { source: source.clone(), seen: Arc::clone(&seen) };
        let options = plain().resume_from(resume_from);
        let task = tokio::spawn(
            Reflector::new(request_lines, Arc::new(RecordingStore::default()), options)
                .run(CancellationToken::new()),
        );
        until(|| source.open_watches() == 1).await;
        advance(2).await;
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

/// A source whose first list is a state that was received from another source, at this version.
struct ReplacedSource {
    source: FakeSource,
    /// A std mutex, locked to take the version.
    known: Mutex<Option<ResourceVersion>>,
}

struct KnownList(<FakeSource as ListerWatcher>::List, Option<ListMeta>);

impl ListStream for KnownList {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        self.0.next().await
    }

    fn meta(&self) -> &ListMeta {
        self.1.as_ref().unwrap_or(self.0.meta())
    }
}

impl ListerWatcher for ReplacedSource {
    type List = KnownList;
    type Watch = <FakeSource as ListerWatcher>::Watch;

    async fn list(&self, options: &ListOptions) -> Result<Self::List, Error> {
        let list = self.source.list(options).await?;
        let known = self.known.lock().expect("no panic").take();
        Ok(KnownList(
            list,
            known.map(|resource_version| ListMeta { resource_version, ..ListMeta::default() }),
        ))
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        self.source.watch(options).await
    }

    async fn progress(&self, seen: &ResourceVersion) -> Result<ResourceVersion, Error> {
        self.source.progress(seen).await
    }
}

/// A server sends nothing on a watch from a version that it has not reached.
#[tokio::test(start_paused = true)]
async fn first_watch_from_a_known_state_is_preceded_by_a_version_check() {
    for (known, expected) in [
        ("2", &["begin list", "replace [a@2] at 2 list"][..]),
        (
            "9",
            &[
                "begin list",
                "replace [a@2] at 9 list",
                "begin relist",
                "in doubt",
                "gap 9 to 2, 0.8s",
                "replace [a@2] at 2 relist",
            ],
        ),
    ] {
        let source = FakeSource::new();
        source.add(pod("a"));
        let replaced = ReplacedSource { source: source.clone(), known: Mutex::new(Some(known.into())) };
        let store = Arc::new(RecordingStore::default());
        let options = plain().first_list_is_known(true);
        let task =
            tokio::spawn(Reflector::new(replaced, Arc::clone(&store), options).run(CancellationToken::new()));
        until(|| source.open_watches() == 1 && store.calls.all().len() >= expected.len()).await;
        advance(2).await;
        assert_eq!(store.calls.all(), expected, "{known}");
        task.abort();
    }
}
