//! Stopping the reflector in each of its waits, which also closes the stream.

use super::*;
use kdelta::reflector::GiveUp;
use kdelta::testing::pod;

// G3
#[tokio::test(start_paused = true)]
async fn reflector_stopped_before_its_run_sends_no_request() {
    let source = FakeSource::new();
    let reflector = Reflector::new(source.clone(), Arc::new(RecordingStore::default()), plain());
    let stop = CancellationToken::new();
    stop.cancel();
    reflector.run(stop).await.expect("a stop is no error");
    assert_eq!(source.requests(), []);
}

// G2, G4
#[tokio::test(start_paused = true)]
async fn stop_closes_the_watch() {
    let source = FakeSource::new();
    let run = start(&source, plain());
    run.caught_up().await;
    source.add(pod("a"));
    run.at("2").await;
    run.stop().await.expect("a stop is no error");
    assert_eq!(source.open_watches(), 0);
    assert_eq!(request_lines(&source.requests()), ["list 0/500", "watch 1"]);
}

#[tokio::test(start_paused = true)]
async fn stop_cancels_a_pending_request() {
    for watch_list in [false, true] {
        let source = FakeSource::new();
        source.hold(true);
        let run = start(&source, plain().watch_list(watch_list));
        until(|| !source.requests().is_empty()).await;
        run.stop().await.expect("a stop is no error");
    }
}

#[tokio::test(start_paused = true)]
async fn stop_ends_a_backoff() {
    let source = FakeSource::new();
    source.fail_list(too_many(Some(100)));
    let run = start(&source, plain());
    until(|| run.events.all().len() == 2).await;
    let before = tokio::time::Instant::now();
    run.stop().await.expect("a stop is no error");
    assert_eq!(before.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn stop_ends_the_wait_for_queue_capacity() {
    let source = FakeSource::new();
    source.add(pod("a"));
    let store = RecordingStore::default();
    store.full.send_replace(true);
    let run = start_into(&source, store, plain());
    until(|| !source.requests().is_empty()).await;
    run.stop().await.expect("a stop is no error");
}

/// A source that is always ready.
struct AlwaysReady(Arc<Object>);

struct EndlessWatch(Arc<Object>);

impl kdelta::listwatch::ListerWatcher for AlwaysReady {
    type List = kdelta::listwatch::PageStream;
    type Watch = EndlessWatch;

    async fn list(&self, _: &ListOptions) -> Result<Self::List, Error> {
        Ok(Self::List::default())
    }

    async fn watch(&self, _: &WatchOptions) -> Result<EndlessWatch, Error> {
        Ok(EndlessWatch(Arc::clone(&self.0)))
    }
}

impl kdelta::listwatch::WatchStream for EndlessWatch {
    async fn next(&mut self) -> Option<Result<kdelta::listwatch::WatchEvent, Error>> {
        Some(Ok(kdelta::listwatch::WatchEvent::Modified(Arc::clone(&self.0))))
    }
}

#[tokio::test]
async fn stop_works_with_a_source_that_never_pauses() {
    let source = FakeSource::new();
    source.add(pod("a"));
    for watch_list in [false, true] {
        let torrent = AlwaysReady(source.objects().remove(0));
        let options = plain().watch_list(watch_list);
        let reflector = Reflector::new(torrent, Arc::new(RecordingStore::default()), options);
        let stop = CancellationToken::new();
        let task = tokio::spawn(reflector.run(stop.clone()));
        tokio::task::yield_now().await;
        stop.cancel();
        task.await.expect("no panic").expect("a stop is no error");
    }
}

#[tokio::test(start_paused = true)]
async fn forbidden_first_watch_ends_the_run_if_configured() {
    let forbidden = || Error::Forbidden(status_with("no watch"));
    let gives_up: GiveUp = Arc::new(|error| matches!(error, Error::Forbidden(_)));
    let options = plain().give_up_watch(Some(gives_up));

    let source = FakeSource::new();
    source.add(pod("a"));
    source.fail_watch(refused());
    source.fail_watch(forbidden());
    let run = start(&source, options.clone());
    let error = run.task.await.expect("no panic").expect_err("it may not watch");
    assert!(matches!(error, Error::Forbidden(_)), "{error:?}");
    assert_eq!(run.store.content(), ["a@2"], "what was listed stays");

    // By default, and once a watch was established, the error is retried.
    source.fail_watch(forbidden());
    let run = start(&source, plain());
    run.caught_up().await;
    run.stop().await.expect("a stop is no error");
    let run = start(&source, options);
    run.caught_up().await;
    source.fail_watch(forbidden());
    source.break_watches(&cut());
    source.add_silently(pod("b"));
    run.caught_up().await;
    run.stop().await.expect("a stop is no error");
}
