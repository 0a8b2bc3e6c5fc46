//! A first state that is listed before it is asked for in another way, each page ahead of its turn.

use super::*;
use kdelta::listwatch::{ListMeta, ListStream, ListWatch, ListerWatcher};
use kdelta::reflector::GiveUp;
use kdelta::testing::{InitialEvents, pod};

fn pages_first() -> ReflectorOptions {
    let first_version = ResourceVersion::UNSET;
    ReflectorOptions { pages_first: true, watch_list: true, first_version, ..plain() }
}

fn three() -> FakeSource {
    let source = FakeSource::new();
    for name in ["a", "b", "c"] {
        source.add(pod(name));
    }
    source
}

#[tokio::test(start_paused = true)]
async fn only_the_first_state_is_listed_before_it_is_asked_for_in_another_way() {
    let source = three();
    let run = start(&source, pages_first());
    run.caught_up().await;
    source.delete_silently("b");
    source.reset_watches();
    source.fail_watch(expired());
    until(|| run.store.calls.all().last().is_some_and(|call| call.ends_with("relist"))).await;
    let requests = asked(&source.requests());
    assert_eq!(requests[..3], ["list /500", "watch 4", "watch 4"]);
    assert_eq!(requests.last().expect("a request"), "watch-list 4");
    assert_eq!(run.store.content(), ["a@2", "c@4"]);
}

/// What may be answered better to another question.
fn refusals() -> [Error; 8] {
    [
        expired(),
        Error::TooLargeResourceVersion(said("no")),
        Error::Internal(said("no")),
        Error::Forbidden(said("no")),
        Error::NotFound(said("no")),
        Error::NotSupported(said("no")),
        Error::Invalid(said("no")),
        // The answer may have been on its way.
        cut(),
    ]
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_in_pages_is_asked_for_in_another_way_at_once() {
    for error in refusals() {
        for (watch_list, other) in [(true, "watch-list "), (false, "list /500")] {
            let source = three();
            source.fail_list(error.clone());
            let give_up: Option<GiveUp> = Some(Arc::new(|_| true));
            let before = tokio::time::Instant::now();
            let run = start(&source, ReflectorOptions { watch_list, give_up, ..pages_first() });
            run.caught_up().await;
            assert!(before.elapsed() < Duration::from_millis(100), "{error:?}");
            assert_eq!(asked(&source.requests())[..2], ["list /500", other]);
            assert_eq!(run.store.content(), ["a@2", "b@3", "c@4"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn who_wants_to_be_asked_later_or_by_somebody_else_is_asked_the_same_again() {
    for error in [too_many(Some(9)), Error::Unauthorized(said("who?"))] {
        let source = three();
        source.fail_list(error.clone());
        let run = start(&source, pages_first());
        run.caught_up().await;
        assert_eq!(asked(&source.requests()), ["list /500", "list /500", "watch 4"], "{error:?}");
        let give_up: Option<GiveUp> = Some(Arc::new(|_| true));
        source.fail_list(error.clone());
        let run = start(&source, ReflectorOptions { give_up, ..pages_first() });
        assert_eq!(run.task.await.expect("no panic").expect_err("it ends").to_string(), error.to_string());
    }
}

#[tokio::test(start_paused = true)]
async fn what_breaks_off_is_asked_for_in_another_way_unless_that_ends_the_run() {
    for error in [cut(), Error::Timeout("too slow".into()), Error::Decode("no JSON".into())] {
        let source = three();
        source.fail_list_after(2, error.clone());
        let run = start(&source, pages_first());
        run.caught_up().await;
        assert_eq!(asked(&source.requests()), ["list /500", "watch-list "]);
        assert_eq!(run.events.all()[0], format!("no pages: {error}"));
        assert_eq!(run.store.content(), ["a@2", "b@3", "c@4"]);
    }
    for error in [Error::Timeout("too slow".into()), refused(), Error::Tls("a stranger".into())] {
        let source = three();
        source.fail_list(error.clone());
        let give_up: Option<GiveUp> = Some(Arc::new(|_| true));
        let run = start(&source, ReflectorOptions { give_up, ..pages_first() });
        assert_eq!(run.task.await.expect("no panic").expect_err("it ends").to_string(), error.to_string());
        assert_eq!(source.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn after_it_what_a_source_can_not_do_is_got_round_as_ever() {
    let source = three();
    source.fail_list_after(1, cut());
    source.set_initial_events(InitialEvents::WithoutEnd);
    let run = start(&source, pages_first());
    run.caught_up().await;
    assert_eq!(asked(&source.requests()), ["list /500", "watch-list ", "list /500", "watch 4"]);
    assert_eq!(run.store.content(), ["a@2", "b@3", "c@4"]);
}

fn in_ones() -> ReflectorOptions {
    ReflectorOptions { page_size: Some(1), watch_list: false, ..pages_first() }
}

/// What has been asked when each object is handed to the store.
#[derive(Clone)]
struct Asked {
    source: FakeSource,
    /// A std mutex: it is held for one push.
    then: Arc<Mutex<Vec<String>>>,
    /// Which of its lists is refused, once.
    refused: Option<(usize, Error)>,
    /// How long it takes to answer, and each object to come.
    takes: [Duration; 2],
}

impl Asked {
    fn of(source: &FakeSource) -> Self {
        Self { source: source.clone(), then: Arc::default(), refused: None, takes: [Duration::ZERO; 2] }
    }
}

/// A page of it.
struct AskedList(<FakeSource as ListerWatcher>::List, Asked);

impl ListStream for AskedList {
    async fn next(&mut self) -> Result<Option<Arc<Object>>, Error> {
        tokio::time::sleep(self.1.takes[1]).await;
        let next = self.0.next().await?;
        let name = next.as_ref().map_or("end".into(), |object| object.name().to_string());
        let then = format!("{name} after {}", asked(&self.1.source.requests()).len());
        self.1.then.lock().expect("no panic").push(then);
        Ok(next)
    }

    fn meta(&self) -> &ListMeta {
        self.0.meta()
    }
}

impl ListerWatcher for Asked {
    type List = AskedList;
    type Watch = <FakeSource as ListerWatcher>::Watch;

    async fn list(&self, options: &ListOptions) -> Result<AskedList, Error> {
        let list = self.source.list(options).await?;
        tokio::time::sleep(self.takes[0]).await;
        match &self.refused {
            Some((number, error)) if self.source.requests().len() == *number => Err(error.clone()),
            _ => Ok(AskedList(list, self.clone())),
        }
    }

    async fn watch(&self, options: &WatchOptions) -> Result<Self::Watch, Error> {
        self.source.watch(options).await
    }
}

#[tokio::test(start_paused = true)]
async fn each_page_is_asked_for_once_the_one_before_has_begun_to_come_and_two_wait_at_most() {
    let ahead =
        "a after 1, b after 2, end after 3, c after 3, end after 4, d after 4, end after 4, end after 4";
    let in_turn =
        "a after 1, end after 1, b after 2, end after 2, c after 3, end after 3, d after 4, end after 4";
    for (pages_first, expected) in [(true, ahead), (false, in_turn)] {
        let source = three();
        source.add(pod("d"));
        let asked_of = Asked::of(&source);
        let then = Arc::clone(&asked_of.then);
        let content = state_of(asked_of, ReflectorOptions { pages_first, ..in_ones() }).await;
        assert_eq!(then.lock().expect("no panic").join(", "), expected);
        assert_eq!(asked(&source.requests()), ["list /1", "list C1/1", "list C2/1", "list C3/1", "watch 5"]);
        assert_eq!(content, ["a@2", "b@3", "c@4", "d@5"]);
    }
}

/// What a reflector of it has stored once its watch stands.
async fn state_of(asked: Asked, options: ReflectorOptions) -> Vec<String> {
    let (source, store) = (asked.source.clone(), Arc::new(Notebook::default()));
    let task = tokio::spawn(Reflector::new(asked, Arc::clone(&store), options).run(CancellationToken::new()));
    until(|| source.open_watches() == 1).await;
    task.abort();
    store.content()
}

#[tokio::test(start_paused = true)]
async fn a_page_that_was_refused_ahead_is_asked_for_again_in_its_turn() {
    for (number, expected) in [
        (2, ["list /1", "list C1/1", "list C1/1", "list C3/1", "watch 4"]),
        (3, ["list /1", "list C1/1", "list C2/1", "list C2/1", "watch 4"]),
    ] {
        let source = three();
        let refused = Some((number, too_many(Some(2))));
        let before = tokio::time::Instant::now();
        let content = state_of(Asked { refused, ..Asked::of(&source) }, in_ones()).await;
        assert!(before.elapsed() >= Duration::from_secs(2));
        assert_eq!(asked(&source.requests()), expected);
        assert_eq!(content, ["a@2", "b@3", "c@4"]);
    }
}

#[tokio::test(start_paused = true)]
async fn of_pages_that_expired_ahead_nothing_is_kept() {
    for number in [2, 3] {
        let source = three();
        let refused = Some((number, expired()));
        let content = state_of(Asked { refused, ..Asked::of(&source) }, in_ones()).await;
        let anew = asked(&source.requests()).into_iter().skip(number).collect::<Vec<_>>();
        assert_eq!(anew, ["list /0", "watch 4"], "{number}");
        assert_eq!(content, ["a@2", "b@3", "c@4"]);
    }
}

#[tokio::test(start_paused = true)]
async fn pages_that_are_slow_to_be_made_or_to_come_are_each_read_once() {
    let [none, second, eleven] = [0, 1, 11].map(Duration::from_secs);
    let each = ["list /1", "list C1/1", "list C2/1", "watch 4"];
    // What waited for its turn for too long is asked for again, and one page less is asked for ahead.
    let anew = ["list /1", "list C1/1", "list C2/1", "list C1/1", "list C3/1", "list C3/1", "watch 4"];
    for (takes, expected) in [
        ([none, none], &each[..]),
        ([second, none], &each),
        ([none, second], &each),
        ([second, second], &each),
        ([none, eleven], &anew),
    ] {
        let source = three();
        let content = state_of(Asked { takes, ..Asked::of(&source) }, in_ones()).await;
        assert_eq!(asked(&source.requests()), expected, "{takes:?}");
        assert_eq!(content, ["a@2", "b@3", "c@4"], "{takes:?}");
    }
}

/// A page whose token is another one at its end.
struct Fickle(<FakeSource as ListerWatcher>::List, ListMeta);

impl ListStream for Fickle {
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
async fn of_two_tokens_the_last_is_right() {
    let source = three();
    let (listing, watching) = (source.clone(), source.clone());
    let list = move |options: ListOptions| {
        let source = listing.clone();
        async move {
            let list = source.list(&options).await?;
            let first = ListMeta { continue_token: "another".into(), ..ListMeta::default() };
            Ok(Fickle(list, first))
        }
    };
    let watch = move |options: WatchOptions| {
        let source = watching.clone();
        async move { source.watch(&options).await }
    };
    let store = Arc::new(Notebook::default());
    let reflector = Reflector::new(ListWatch::new(list, watch), Arc::clone(&store), in_ones());
    let task = tokio::spawn(reflector.run(CancellationToken::new()));
    until(|| source.open_watches() == 1).await;
    task.abort();
    assert_eq!(store.content(), ["a@2", "b@3", "c@4"]);
}
