//! Limits on sources that continue without delivering objects.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use kdelta::listwatch::{ListMeta, ListWatch, ListerWatcher, PageStream};
use kdelta::testing::{FakeWatch, pod};
use tokio::time::Instant;

/// Returns a source of this many empty pages, each with a new token, with a page counter and a reflector.
fn empty_pages(
    count: usize,
) -> (FakeSource, impl Fn() -> usize, Reflector<impl ListerWatcher, RecordingStore>) {
    let source = FakeSource::new();
    source.add(pod("a"));
    let pages = Arc::new(AtomicUsize::new(0));
    let (objects, counted) = (source.clone(), Arc::clone(&pages));
    let list = move |_: ListOptions| {
        let page = counted.fetch_add(1, Ordering::SeqCst) + 1;
        let items = if page > count { objects.objects() } else { Vec::new() };
        let continue_token = if page > count { String::new() } else { format!("token {page}") };
        let page = PageStream::new(items, ListMeta { resource_version: "7".into(), continue_token });
        async move { Ok::<_, Error>(page) }
    };
    let watch = |_: WatchOptions| std::future::pending::<Result<FakeWatch, Error>>();
    let reflector = Reflector::new(ListWatch::new(list, watch), Arc::new(RecordingStore::default()), plain());
    (source, move || pages.load(Ordering::SeqCst), reflector)
}

#[tokio::test(start_paused = true)]
async fn too_many_empty_pages_are_an_error() {
    let (_source, pages, reflector) = empty_pages(10);
    assert_eq!(reflector.list_once().await.expect("a list"), "7".into());
    assert_eq!(pages(), 11);
    // A finite number, so that a list that follows all of them fails this test.
    let (_source, pages, reflector) = empty_pages(10_000);
    let error = reflector.list_once().await.expect_err("it never delivers an object");
    assert!(matches!(error, Error::Decode(_)), "{error:?}");
    assert_eq!(error.to_string(), "the list has no end: 11 pages in a row were empty and named a next one");
    assert_eq!(pages(), 11);
}

#[tokio::test(start_paused = true)]
async fn page_after_more_than_five_empty_ones_waits() {
    let waits = [0, 800, 1600, 3200, 6400, 12_800].map(Duration::from_millis);
    for (count, waits) in [(5, &waits[..1]), (6, &waits[..2]), (10, &waits[..])] {
        let (_source, _pages, reflector) = empty_pages(count);
        let began = Instant::now();
        reflector.list_once().await.expect("a list");
        assert_eq!(began.elapsed(), waits.iter().sum::<Duration>(), "{count} empty pages");
    }
}

#[tokio::test(start_paused = true)]
async fn endless_empty_pages_are_requested_slowly() {
    let (_source, pages, reflector) = empty_pages(usize::MAX);
    let running = tokio::spawn(reflector.run(CancellationToken::new()));
    let hour = Duration::from_hours(1);
    tokio::time::sleep(hour).await;
    let first = pages();
    assert!((11..=300).contains(&first), "{first} requests in the first hour");
    tokio::time::sleep(hour).await;
    assert!(pages() - first <= 250, "{} requests in the second hour", pages() - first);
    running.abort();
}

/// The request for the initial list gets no response.
#[tokio::test(start_paused = true)]
async fn initial_events_deadline_covers_the_watch_request() {
    let source = FakeSource::new();
    source.add(pod("a"));
    let list = {
        let source = source.clone();
        move |options: ListOptions| {
            let source = source.clone();
            async move { source.list(&options).await }
        }
    };
    let watch = {
        let source = source.clone();
        move |options: WatchOptions| {
            let source = source.clone();
            async move {
                if options.send_initial_events {
                    return std::future::pending().await;
                }
                source.watch(&options).await
            }
        }
    };
    let events = Lines::default();
    let lines = events.clone();
    let observer: kdelta::reflector::Observer = Arc::new(move |event| lines.push(line(event)));
    let options = plain().watch_list(true).observer(Some(observer));
    let store = Arc::new(RecordingStore::default());
    let reflector =
        Reflector::new(ListWatch::new(list, watch).with_watch_list(), Arc::clone(&store), options);
    let began = Instant::now();
    let running = tokio::spawn(reflector.run(CancellationToken::new()));
    until(|| source.open_watches() == 1).await;
    assert_eq!(began.elapsed().as_secs(), 10);
    assert_eq!(store.content(), ["a@2"]);
    assert_eq!(
        events.all(),
        [
            "no watch-list any more: the server did not start the watch for the initial state within 10s",
            "list of 1 at 2 by list"
        ]
    );
    source.modify(pod("a"));
    until(|| store.content() == ["a@3"]).await;
    running.abort();
}
