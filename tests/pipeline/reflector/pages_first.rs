//! An initial list that is paged before other methods are tried, with prefetched pages.

use super::*;
use kdelta::listwatch::{ListMeta, ListStream, ListWatch, ListerWatcher};
use kdelta::reflector::GiveUp;
use kdelta::testing::{InitialEvents, pod};

fn pages_first() -> ReflectorOptions {
    let first_version = ResourceVersion::UNSET;
    plain().pages_first(true).watch_list(true).first_version(first_version)
}

fn three() -> FakeSource {
    let source = FakeSource::new();
    for name in ["a", "b", "c"] {
        source.add(pod(name));
    }
    source
}

#[tokio::test(start_paused = true)]
async fn only_the_initial_list_is_paged_first() {
    let source = three();
    let run = start(&source, pages_first());
    run.caught_up().await;
    source.delete_silently("b");
    source.reset_watches();
    source.fail_watch(expired());
    until(|| run.store.calls.all().last().is_some_and(|call| call.ends_with("relist"))).await;
    let requests = request_lines(&source.requests());
    assert_eq!(requests[..3], ["list /500", "watch 4", "watch 4"]);
    assert_eq!(requests.last().expect("a request"), "watch-list 4");
    assert_eq!(run.store.content(), ["a@2", "c@4"]);
}

/// Errors that another list method may avoid.
fn refusals() -> [Error; 8] {
    [
        expired(),
        Error::TooLargeResourceVersion(status_with("no")),
        Error::Internal(status_with("no")),
        Error::Forbidden(status_with("no")),
        Error::NotFound(status_with("no")),
        Error::NotSupported(status_with("no")),
        Error::Invalid(status_with("no")),
        // The response may have been in flight.
        cut(),
    ]
}

#[tokio::test(start_paused = true)]
async fn rejected_paged_list_falls_back_to_a_streaming_list_at_once() {
    for error in refusals() {
        for (watch_list, other) in [(true, "watch-list "), (false, "list /500")] {
            let source = three();
            source.fail_list(error.clone());
            let give_up: Option<GiveUp> = Some(Arc::new(|_| true));
            let before = tokio::time::Instant::now();
            let run = start(&source, pages_first().watch_list(watch_list).give_up(give_up));
            run.caught_up().await;
            assert!(before.elapsed() < Duration::from_millis(100), "{error:?}");
            assert_eq!(request_lines(&source.requests())[..2], ["list /500", other]);
            assert_eq!(run.store.content(), ["a@2", "b@3", "c@4"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn retryable_errors_repeat_the_same_request() {
    for error in [too_many(Some(9)), Error::Unauthorized(status_with("who?"))] {
        let source = three();
        source.fail_list(error.clone());
        let run = start(&source, pages_first());
        run.caught_up().await;
        assert_eq!(request_lines(&source.requests()), ["list /500", "list /500", "watch 4"], "{error:?}");
        let give_up: Option<GiveUp> = Some(Arc::new(|_| true));
        source.fail_list(error.clone());
        let run = start(&source, pages_first().give_up(give_up));
        assert_eq!(run.task.await.expect("no panic").expect_err("it ends").to_string(), error.to_string());
    }
}

#[tokio::test(start_paused = true)]
async fn interrupted_paged_list_falls_back_unless_the_error_ends_the_run() {
    for error in [cut(), Error::Timeout("too slow".into()), Error::Decode("no JSON".into())] {
        let source = three();
        source.fail_list_after(2, error.clone());
        let run = start(&source, pages_first());
        run.caught_up().await;
        assert_eq!(request_lines(&source.requests()), ["list /500", "watch-list "]);
        assert_eq!(run.events.all()[0], format!("no pages: {error}"));
        assert_eq!(run.store.content(), ["a@2", "b@3", "c@4"]);
    }
    for error in [Error::Timeout("too slow".into()), refused(), Error::Tls("a stranger".into())] {
        let source = three();
        source.fail_list(error.clone());
        let give_up: Option<GiveUp> = Some(Arc::new(|_| true));
        let run = start(&source, pages_first().give_up(give_up));
        assert_eq!(run.task.await.expect("no panic").expect_err("it ends").to_string(), error.to_string());
        assert_eq!(source.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn fallbacks_still_apply_after_the_paged_list() {
    let source = three();
    source.fail_list_after(1, cut());
    source.set_initial_events(InitialEvents::WithoutEnd);
    let run = start(&source, pages_first());
    run.caught_up().await;
    assert_eq!(request_lines(&source.requests()), ["list /500", "watch-list ", "list /500", "watch 4"]);
    assert_eq!(run.store.content(), ["a@2", "b@3", "c@4"]);
}

fn in_ones() -> ReflectorOptions {
    pages_first().page_size(Some(1)).watch_list(false)
}

/// A source that records the requests sent before each object is delivered.
#[derive(Clone)]
struct RecordingSource {
    source: FakeSource,
    /// A std mutex, locked for one push.
    then: Arc<Mutex<Vec<String>>>,
    /// The index and the error of a list that is rejected once.
    refused: Option<(usize, Error)>,
    /// The delay of each response, and of each object.
    takes: [Duration; 2],
}

impl RecordingSource {
    fn of(source: &FakeSource) -> Self {
        Self { source: source.clone(), then: Arc::default(), refused: None, takes: [Duration::ZERO; 2] }
    }
}

/// A page of the source.
struct RecordingList(<FakeSource as ListerWatcher>::List, RecordingSource);

impl ListStream for RecordingList {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        tokio::time::sleep(self.1.takes[1]).await;
        let next = self.0.next().await?;
        let name = next.as_ref().map_or("end".into(), |object| object.name().to_string());
        let then = format!("{name} after {}", request_lines(&self.1.source.requests()).len());
        self.1.then.lock().expect("no panic").push(then);
        Ok(next)
    }

    fn meta(&self) -> &ListMeta {
        self.0.meta()
    }
}

impl ListerWatcher for RecordingSource {
    type List = RecordingList;
    type Watch = <FakeSource as ListerWatcher>::Watch;

    async fn list(&self, options: &ListOptions) -> Result<RecordingList, Error> {
        let list = self.source.list(options).await?;
        tokio::time::sleep(self.takes[0]).await;
        match &self.refused {
            Some((number, error)) if self.source.requests().len() == *number => Err(error.clone()),
            _ => Ok(RecordingList(list, self.clone())),
        }
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        self.source.watch(options).await
    }
}

#[tokio::test(start_paused = true)]
async fn pages_are_prefetched_with_at_most_two_pending() {
    let ahead =
        "a after 1, b after 2, end after 3, c after 3, end after 4, d after 4, end after 4, end after 4";
    let in_turn =
        "a after 1, end after 1, b after 2, end after 2, c after 3, end after 3, d after 4, end after 4";
    for (pages_first, expected) in [(true, ahead), (false, in_turn)] {
        let source = three();
        source.add(pod("d"));
        let asked_of = RecordingSource::of(&source);
        let then = Arc::clone(&asked_of.then);
        let content = state_of(asked_of, in_ones().pages_first(pages_first)).await;
        assert_eq!(then.lock().expect("no panic").join(", "), expected);
        assert_eq!(
            request_lines(&source.requests()),
            ["list /1", "list C1/1", "list C2/1", "list C3/1", "watch 5"]
        );
        assert_eq!(content, ["a@2", "b@3", "c@4", "d@5"]);
    }
}

/// Returns the stored objects once the reflector's watch is open.
async fn state_of(request_lines: RecordingSource, options: ReflectorOptions) -> Vec<String> {
    let (source, store) = (request_lines.source.clone(), Arc::new(RecordingStore::default()));
    let task = tokio::spawn(
        Reflector::new(request_lines, Arc::clone(&store), options).run(CancellationToken::new()),
    );
    until(|| source.open_watches() == 1).await;
    task.abort();
    store.content()
}

#[tokio::test(start_paused = true)]
async fn rejected_prefetch_is_retried_in_order() {
    for (number, expected) in [
        (2, ["list /1", "list C1/1", "list C1/1", "list C3/1", "watch 4"]),
        (3, ["list /1", "list C1/1", "list C2/1", "list C2/1", "watch 4"]),
    ] {
        let source = three();
        let refused = Some((number, too_many(Some(2))));
        let before = tokio::time::Instant::now();
        let content = state_of(RecordingSource { refused, ..RecordingSource::of(&source) }, in_ones()).await;
        assert!(before.elapsed() >= Duration::from_secs(2));
        assert_eq!(request_lines(&source.requests()), expected);
        assert_eq!(content, ["a@2", "b@3", "c@4"]);
    }
}

#[tokio::test(start_paused = true)]
async fn expired_prefetched_pages_are_discarded() {
    for number in [2, 3] {
        let source = three();
        let refused = Some((number, expired()));
        let content = state_of(RecordingSource { refused, ..RecordingSource::of(&source) }, in_ones()).await;
        let fresh = request_lines(&source.requests()).into_iter().skip(number).collect::<Vec<_>>();
        assert_eq!(fresh, ["list /0", "watch 4"], "{number}");
        assert_eq!(content, ["a@2", "b@3", "c@4"]);
    }
}

#[tokio::test(start_paused = true)]
async fn slow_pages_are_each_read_once() {
    let [none, second, eleven] = [0, 1, 11].map(Duration::from_secs);
    let each = ["list /1", "list C1/1", "list C2/1", "watch 4"];
    // A page that waited too long is requested again, and one page less is prefetched.
    let fresh = ["list /1", "list C1/1", "list C2/1", "list C1/1", "list C3/1", "list C3/1", "watch 4"];
    for (takes, expected) in [
        ([none, none], &each[..]),
        ([second, none], &each),
        ([none, second], &each),
        ([second, second], &each),
        ([none, eleven], &fresh),
    ] {
        let source = three();
        let content = state_of(RecordingSource { takes, ..RecordingSource::of(&source) }, in_ones()).await;
        assert_eq!(request_lines(&source.requests()), expected, "{takes:?}");
        assert_eq!(content, ["a@2", "b@3", "c@4"], "{takes:?}");
    }
}

/// A page whose token differs at its end.
struct ChangingToken(<FakeSource as ListerWatcher>::List, ListMeta);

impl ListStream for ChangingToken {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        let next = self.0.next().await?;
        if next.is_none() {
            self.1 = self.0.meta().clone();
        }
        Ok(next)
    }

    fn meta(&self) -> &ListMeta {
        &self.1
    }
}

#[tokio::test(start_paused = true)]
async fn token_at_the_end_of_a_page_wins() {
    let source = three();
    let (listing, watching) = (source.clone(), source.clone());
    let list = move |options: ListOptions| {
        let source = listing.clone();
        async move {
            let list = source.list(&options).await?;
            let first = ListMeta { continue_token: "another".into(), ..ListMeta::default() };
            Ok(ChangingToken(list, first))
        }
    };
    let watch = move |options: WatchOptions| {
        let source = watching.clone();
        async move { source.watch(&options).await }
    };
    let store = Arc::new(RecordingStore::default());
    let reflector = Reflector::new(ListWatch::new(list, watch), Arc::clone(&store), in_ones());
    let task = tokio::spawn(reflector.run(CancellationToken::new()));
    until(|| source.open_watches() == 1).await;
    task.abort();
    assert_eq!(store.content(), ["a@2", "b@3", "c@4"]);
}
