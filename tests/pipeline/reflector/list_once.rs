//! A list without a following watch.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use kdelta::listwatch::{ListMeta, ListWatch, PageStream};
use kdelta::testing::{FakeWatch, pod};

async fn list_once(
    source: &FakeSource,
    options: ReflectorOptions,
) -> (Result<ResourceVersion, Error>, RecordingStore) {
    let store = Arc::new(RecordingStore::default());
    let reflector = Reflector::new(source.clone(), Arc::clone(&store), options);
    let version = reflector.list_once().await;
    drop(reflector);
    (version, Arc::into_inner(store).expect("the only one"))
}

fn five() -> FakeSource {
    let source = FakeSource::new();
    for name in ["a", "b", "c", "d", "e"] {
        source.add(pod(name));
    }
    source
}

fn consistent() -> ReflectorOptions {
    plain().first_version(ResourceVersion::UNSET).page_size(Some(2))
}

// J1 in its parts that are not the pager's own
#[tokio::test(start_paused = true)]
async fn paged_list_is_delivered_as_one_list() {
    let source = five();
    let (version, store) = list_once(&source, consistent()).await;
    assert_eq!(version.expect("a list"), "6".into());
    assert_eq!(request_lines(&source.requests()), ["list /2", "list C1/2", "list C2/2"]);
    assert_eq!(store.calls.all(), ["begin list", "replace [a@2 b@3 c@4 d@5 e@6] at 6 list"]);
}

#[tokio::test(start_paused = true)]
async fn page_is_retried_after_retry_after_at_most_ten_times() {
    let source = five();
    (0..9).for_each(|_| source.fail_list(too_many(Some(3))));
    let before = tokio::time::Instant::now();
    list_once(&source, consistent()).await.0.expect("a list");
    assert_eq!((before.elapsed(), source.take_requests().len()), (Duration::from_secs(27), 12));
    (0..10).for_each(|_| source.fail_list(too_many(Some(3))));
    list_once(&source, consistent()).await.0.expect_err("ten times");
    assert_eq!(source.take_requests().len(), 10);
    source.fail_list(too_many(None));
    list_once(&source, consistent()).await.0.expect_err("the server did not say when");
    assert_eq!(source.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn rejected_list_sets_no_version() {
    let store = Arc::new(RecordingStore { refused: "c", ..RecordingStore::default() });
    let reflector = Reflector::new(five(), Arc::clone(&store), consistent());
    let refused = reflector.list_once().await.expect_err("c is refused");
    assert!(matches!(&refused, Error::NotStored(why) if why.ends_with("no room for c")), "{refused}");
    assert!(reflector.handle().last_sync_resource_version().is_unset());
    assert_eq!(store.content(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn other_errors_are_returned() {
    let source = five();
    source.fail_list(Error::Forbidden(status_with("pods is forbidden")));
    let (result, store) = list_once(&source, consistent()).await;
    assert_eq!(result.expect_err("forbidden").to_string(), "pods is forbidden");
    assert_eq!(store.calls.all(), [""; 0]);
}

// J1
#[tokio::test(start_paused = true)]
async fn expired_token_or_version_falls_back_to_a_full_list() {
    let source = five();
    source.fail_list_after(2, expired());
    list_once(&source, consistent().first_version("3".into())).await.0.expect("a list");
    assert_eq!(request_lines(&source.take_requests()), ["list 3/2", "list /2", "list C2/2", "list C3/2"]);
    let store = RecordingStore::default();
    store.full.send_replace(true);
    let store = Arc::new(store);
    let reflector = Reflector::new(source.clone(), Arc::clone(&store), consistent());
    let (result, ()) = tokio::join!(reflector.list_once(), async {
        until(|| source.requests().len() == 1).await;
        source.expire_continue_tokens();
        store.full.send_replace(false);
    });
    assert_eq!(result.expect("a list"), "6".into());
    assert_eq!(request_lines(&source.requests()).last().expect("a request"), "list /0");
    assert_eq!(store.content().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn always_expired_tokens_end_with_an_error() {
    let request_lines = Arc::new(AtomicUsize::new(0));
    let list = {
        let request_lines = Arc::clone(&request_lines);
        move |options: ListOptions| {
            request_lines.fetch_add(1, Ordering::Relaxed);
            async move {
                if !options.continue_token.is_empty() {
                    return Err(expired());
                }
                let meta = ListMeta { resource_version: "7".into(), continue_token: "more".into() };
                Ok(PageStream::new(Vec::new(), meta))
            }
        }
    };
    let watch = |_| async { Err::<FakeWatch, _>(expired()) };
    let source = ListWatch::new(list, watch);
    let refused = Reflector::new(source, Arc::new(RecordingStore::default()), consistent()).list_once().await;
    assert!(matches!(refused, Err(Error::Expired(_))), "{refused:?}");
    assert_eq!(request_lines.load(Ordering::Relaxed), 4);
}

#[tokio::test(start_paused = true)]
async fn cyclic_tokens_end_with_an_error() {
    let list = |options: ListOptions| async move {
        let next = match options.continue_token.as_str() {
            "a" => "b",
            "b" => "c",
            _ => "a",
        };
        let meta = ListMeta { resource_version: "7".into(), continue_token: next.into() };
        Ok::<_, Error>(PageStream::new(Vec::new(), meta))
    };
    let watch = |_| async { Err::<FakeWatch, _>(expired()) };
    let source = ListWatch::new(list, watch);
    let refused = Reflector::new(source, Arc::new(RecordingStore::default()), consistent()).list_once().await;
    assert!(matches!(refused, Err(Error::Decode(_))), "{refused:?}");
}

/// Lists into a store that accepts items as they arrive; returns the items and the result.
async fn visited(
    items: usize,
    prepare: impl FnOnce(&FakeSource),
) -> (Vec<String>, Result<ResourceVersion, Error>) {
    let source = FakeSource::new();
    for number in 0..items {
        source.add(pod(&format!("p{number:02}")));
    }
    prepare(&source);
    let store = Arc::new(RecordingStore { streams: true, ..RecordingStore::default() });
    let options = consistent().page_size(Some(10));
    let ended = Reflector::new(source, Arc::clone(&store), options).list_once().await;
    let items =
        store.calls.all().into_iter().filter_map(|call| Some(call.strip_prefix("item ")?[..3].to_owned()));
    (items.collect(), ended)
}

// J2, as items that a store takes as they arrive; an expired token falls back to a full list here
#[tokio::test(start_paused = true)]
async fn items_are_delivered_once_and_in_order_across_pages() {
    let names = |items: usize| (0..items).map(|number| format!("p{number:02}")).collect::<Vec<_>>();
    for items in [0, 9, 10, 11, 21] {
        let (seen, ended) = visited(items, |_| ()).await;
        assert_eq!(seen, names(items));
        ended.expect("a list");
    }
    let (seen, ended) =
        visited(21, |source| source.fail_list_after(3, Error::Forbidden(status_with("no more")))).await;
    assert_eq!(seen, names(3));
    ended.expect_err("no more");
}
