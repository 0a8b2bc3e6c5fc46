//! A stop ends whatever the reflector is waiting for, and closes the stream.

use super::*;
use kdelta::reflector::GiveUp;
use kdelta::testing::pod;

// G3
#[tokio::test(start_paused = true)]
async fn a_reflector_stopped_before_it_ran_asks_nothing() {
    let source = FakeSource::new();
    let reflector = Reflector::new(source.clone(), Arc::new(Notebook::default()), plain());
    let stop = CancellationToken::new();
    stop.cancel();
    reflector.run(stop).await.expect("a stop is no error");
    assert_eq!(source.requests(), []);
}

// G2, G4
#[tokio::test(start_paused = true)]
async fn a_stop_closes_the_watch() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    source.add(pod("a"));
    run.at("2").await;
    run.stop().await.expect("a stop is no error");
    assert_eq!(source.open_watches(), 0);
    assert_eq!(asked(&source.requests()), ["list 0/500", "watch 1"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_request_that_is_not_answered() {
    for watch_list in [false, true] {
        let source = FakeSource::new();
        source.hold(true);
        let run = start(&source, ReflectorOptions { watch_list, ..plain() });
        until(|| !source.requests().is_empty()).await;
        run.stop().await.expect("a stop is no error");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_wait() {
    let source = FakeSource::new();
    source.fail_list(too_many(Some(100)));
    let run = start(&source, plain());
    until(|| run.events.all().len() == 2).await;
    let before = tokio::time::Instant::now();
    run.stop().await.expect("a stop is no error");
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_wait_for_room() {
    let source = FakeSource::new();
    source.add(pod("a"));
    let store = Notebook::default();
    store.full.send_replace(true);
    let run = start_into(&source, store, plain());
    until(|| !source.requests().is_empty()).await;
    run.stop().await.expect("a stop is no error");
}

/// A source that never makes anybody wait.
struct Torrent(Arc<Object>);

struct Flood(Arc<Object>);

impl kdelta::listwatch::ListerWatcher for Torrent {
    type List = kdelta::listwatch::PageStream;
    type Watch = Flood;

    async fn list(&self, _: &ListOptions) -> Result<Self::List, Error> {
        Ok(Self::List::default())
    }

    async fn watch(&self, _: &WatchOptions) -> Result<Flood, Error> {
        Ok(Flood(Arc::clone(&self.0)))
    }
}

impl kdelta::listwatch::WatchStream for Flood {
    async fn next(&mut self) -> Option<Result<kdelta::listwatch::WatchEvent, Error>> {
        Some(Ok(kdelta::listwatch::WatchEvent::Modified(Arc::clone(&self.0))))
    }
}

#[tokio::test]
async fn a_stop_is_heard_over_a_source_that_never_pauses() {
    let source = FakeSource::new();
    source.add(pod("a"));
    for watch_list in [false, true] {
        let torrent = Torrent(source.objects().remove(0));
        let options = ReflectorOptions { watch_list, ..plain() };
        let reflector = Reflector::new(torrent, Arc::new(Notebook::default()), options);
        let stop = CancellationToken::new();
        let task = tokio::spawn(reflector.run(stop.clone()));
        tokio::task::yield_now().await;
        stop.cancel();
        task.await.expect("no panic").expect("a stop is no error");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_was_never_allowed_ends_a_run_that_asks_for_it_and_no_other() {
    let forbidden = || Error::Forbidden(said("no watch"));
    let gives_up: GiveUp = Arc::new(|error| matches!(error, Error::Forbidden(_)));
    let asks = ReflectorOptions { give_up_watch: Some(gives_up), ..plain() };

    let source = FakeSource::new();
    source.add(pod("a"));
    source.fail_watch(refused());
    source.fail_watch(forbidden());
    let run = start(&source, asks.clone());
    let error = run.task.await.expect("no panic").expect_err("it may not watch");
    assert!(matches!(error, Error::Forbidden(_)), "{error:?}");
    assert_eq!(run.store.content(), ["a@2"], "what was listed stays");

    // Without being asked for, and where a watch has stood, it is waited out.
    source.fail_watch(forbidden());
    let run = start(&source, plain());
    run.caught_up().await;
    run.stop().await.expect("a stop is no error");
    let run = start(&source, asks);
    run.caught_up().await;
    source.fail_watch(forbidden());
    source.break_watches(&cut());
    source.add_silently(pod("b"));
    run.caught_up().await;
    run.stop().await.expect("a stop is no error");
}
