//! A list that is not followed by a watch.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use kdelta::listwatch::{ListMeta, ListWatch, PageStream};
use kdelta::testing::{FakeWatch, pod};

async fn list_once(
    source: &FakeSource,
    options: ReflectorOptions,
) -> (Result<ResourceVersion, Error>, Notebook) {
    let store = Arc::new(Notebook::default());
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
    ReflectorOptions { first_version: ResourceVersion::UNSET, page_size: Some(2), ..plain() }
}

// J1 in its parts that are not the pager's own
#[tokio::test(start_paused = true)]
async fn a_list_by_pages_is_one_list() {
    let source = five();
    let (version, store) = list_once(&source, consistent()).await;
    assert_eq!(version.expect("a list"), "6".into());
    assert_eq!(asked(&source.requests()), ["list /2", "list C1/2", "list C2/2"]);
    assert_eq!(store.calls.all(), ["begin list", "replace [a@2 b@3 c@4 d@5 e@6] at 6 list"]);
}

#[tokio::test(start_paused = true)]
async fn a_page_is_asked_for_again_when_the_server_says_so_and_ten_times_at_most() {
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
async fn a_list_that_the_store_refused_has_no_version() {
    let store = Arc::new(Notebook { refused: "c", ..Notebook::default() });
    let reflector = Reflector::new(five(), Arc::clone(&store), consistent());
    let refused = reflector.list_once().await.expect_err("c is refused");
    assert!(matches!(&refused, Error::NotStored(why) if why.ends_with("no room for c")), "{refused}");
    assert!(reflector.handle().last_sync_resource_version().is_unset());
    assert_eq!(store.content(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn any_other_error_is_the_answer() {
    let source = five();
    source.fail_list(Error::Forbidden(said("pods is forbidden")));
    let (answer, store) = list_once(&source, consistent()).await;
    assert_eq!(answer.expect_err("forbidden").to_string(), "pods is forbidden");
    assert_eq!(store.calls.all(), [""; 0]);
}

// J1
#[tokio::test(start_paused = true)]
async fn an_expired_token_or_version_is_got_round() {
    let source = five();
    source.fail_list_after(2, expired());
    list_once(&source, ReflectorOptions { first_version: "3".into(), ..consistent() })
        .await
        .0
        .expect("a list");
    assert_eq!(asked(&source.take_requests()), ["list 3/2", "list /2", "list C2/2", "list C3/2"]);
    let store = Notebook::default();
    store.full.send_replace(true);
    let store = Arc::new(store);
    let reflector = Reflector::new(source.clone(), Arc::clone(&store), consistent());
    let (answer, ()) = tokio::join!(reflector.list_once(), async {
        until(|| source.requests().len() == 1).await;
        source.expire_continue_tokens();
        store.full.send_replace(false);
    });
    assert_eq!(answer.expect("a list"), "6".into());
    assert_eq!(asked(&source.requests()).last().expect("a request"), "list /0");
    assert_eq!(store.content().len(), 5);
}

fn whole() -> ReflectorOptions {
    ReflectorOptions { page_size: None, whole_lists: true, ..consistent() }
}

#[tokio::test(start_paused = true)]
async fn a_list_in_one_piece_that_breaks_off_is_asked_for_by_pages() {
    for error in [Error::Transport("cut".into()), Error::Timeout("too slow".into())] {
        let source = five();
        list_once(&source, whole()).await.0.expect("a list");
        assert_eq!(asked(&source.take_requests()), ["list /0"]);
        source.fail_list_after(3, error);
        let (version, store) = list_once(&source, whole()).await;
        assert_eq!(version.expect("a list"), "6".into());
        assert_eq!(asked(&source.requests()), ["list /0", "list /500"]);
        assert_eq!(store.content().len(), 5);
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_can_not_be_had_is_not_asked_for_by_pages() {
    let broken = || Error::Transport("cut".into());
    let one = ReflectorOptions { page_size: Some(0), ..whole() };
    let source = five();
    source.fail_list(broken());
    list_once(&source, whole()).await.0.expect_err("it did not begin");
    assert_eq!(source.requests().len(), 1);
    for (options, items, error) in [
        (whole(), 2, Error::Decode("no JSON".into())),
        (one, 2, broken()),
        (
            ReflectorOptions { first_version: ResourceVersion::ANY, whole_lists: false, ..whole() },
            2,
            broken(),
        ),
    ] {
        let source = five();
        source.fail_list_after(items, error);
        list_once(&source, options).await.0.expect_err("it broke off");
        assert_eq!(source.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_whose_tokens_are_never_good_is_not_asked_for_ever() {
    let asked = Arc::new(AtomicUsize::new(0));
    let list = {
        let asked = Arc::clone(&asked);
        move |options: ListOptions| {
            asked.fetch_add(1, Ordering::Relaxed);
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
    let refused = Reflector::new(source, Arc::new(Notebook::default()), consistent()).list_once().await;
    assert!(matches!(refused, Err(Error::Expired(_))), "{refused:?}");
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

#[tokio::test(start_paused = true)]
async fn a_source_whose_tokens_go_in_a_circle_is_not_asked_for_ever() {
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
    let refused = Reflector::new(source, Arc::new(Notebook::default()), consistent()).list_once().await;
    assert!(matches!(refused, Err(Error::Decode(_))), "{refused:?}");
}

/// A list into a store that takes each item as it comes: what it saw, and how the list ended.
async fn visited(
    items: usize,
    prepare: impl FnOnce(&FakeSource),
) -> (Vec<String>, Result<ResourceVersion, Error>) {
    let source = FakeSource::new();
    for number in 0..items {
        source.add(pod(&format!("p{number:02}")));
    }
    prepare(&source);
    let store = Arc::new(Notebook { streams: true, ..Notebook::default() });
    let options = ReflectorOptions { page_size: Some(10), ..consistent() };
    let ended = Reflector::new(source, Arc::clone(&store), options).list_once().await;
    let items =
        store.calls.all().into_iter().filter_map(|call| Some(call.strip_prefix("item ")?[..3].to_owned()));
    (items.collect(), ended)
}

// J2, as items that a store takes as they come; an expired token is got round here
#[tokio::test(start_paused = true)]
async fn each_item_is_handed_over_once_and_in_order_however_many_pages_there_are() {
    let names = |items: usize| (0..items).map(|number| format!("p{number:02}")).collect::<Vec<_>>();
    for items in [0, 9, 10, 11, 21] {
        let (seen, ended) = visited(items, |_| ()).await;
        assert_eq!(seen, names(items));
        ended.expect("a list");
    }
    let (seen, ended) =
        visited(21, |source| source.fail_list_after(3, Error::Forbidden(said("no more")))).await;
    assert_eq!(seen, names(3));
    ended.expect_err("no more");
}
