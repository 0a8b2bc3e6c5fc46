//! Tests of the requests of a source, and of the errors that end it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kdelta::api::{Client, ResourceClient};
use kdelta::kubeconfig::Config;
use kdelta::listwatch::{
    Error, ListOptions, ListStream, ListerWatcher, Status, WatchEvent, WatchOptions, WatchStream,
};
use kdelta::object::ApiResource;
use kdelta::reflector::{Reflector, ReflectorOptions};
use kdelta::store::Cache;
use kdelta::testing::{FakeSource, pod};

use super::{PartSource, Shared};
use crate::session::filter::Filter;
use crate::settings::By;

fn source(has_responded: bool) -> PartSource {
    let client = Client::new(&Config::for_server("http://127.0.0.1:1").expect("a config")).expect("a client");
    let resource = ApiResource {
        group: String::new(),
        version: "v1".into(),
        resource: "pods".into(),
        kind: "Pod".into(),
        namespaced: true,
    };
    let filter = Filter::by(&[], &Arc::default()).expect("no filter");
    let shared = Shared { has_responded: Arc::new(AtomicBool::new(has_responded)), ..Shared::new() };
    PartSource::new(ResourceClient::new(client, resource), None, filter, shared, None)
}

/// Returns whether the error ends a source with and without `retries_refused`, before and after the server has
/// responded.
fn ends(error: &Error) -> [[bool; 2]; 2] {
    [false, true].map(|has_responded| {
        let source = source(has_responded);
        [true, false].map(|retries_refused| source.gives_up(retries_refused)(error))
    })
}

#[tokio::test(start_paused = true)]
async fn permit_wait_does_not_count_as_server_wait() {
    let source = source(false);
    let _taken = source.shared.permits.acquire_all().await;
    let options = ReflectorOptions::default().page_size(Some(0)).watch_list(false);
    let reflector = Reflector::new(source, Arc::new(Cache::new()), options);
    let limit = Duration::from_mins(10);
    let listed = tokio::time::timeout(limit, reflector.list_once()).await;
    assert!(listed.is_err(), "still waiting: {listed:?}");
}

#[tokio::test]
async fn filtered_objects_are_counted_as_read() {
    let server = FakeSource::new();
    for name in ["a", "b", "c"] {
        server.add(pod(name));
    }
    let filter = Filter::by(&[By::parse("name=c").expect("a question")], &Arc::default()).expect("a filter");
    let source = source(false);
    let list = server.list(&ListOptions::default()).await.expect("a list");
    let mut list = source.filtered(list, filter.clone(), None);
    assert_eq!(list.next().await.expect("an item").expect("one").name(), "c");
    assert_eq!(source.objects_read(), 3);
    let watch = server.watch(&WatchOptions::default()).await.expect("a watch");
    let mut watch = source.filtered(watch, filter, None);
    assert!(matches!(watch.next().await, Some(Ok(WatchEvent::Added(object))) if object.name() == "c"));
    assert_eq!(source.objects_read(), 6);
}

#[tokio::test]
async fn watch_list_support_is_rechecked_after_permit_wait() {
    let source = source(false);
    let initial = WatchOptions::default().send_initial_events(true);
    let error = source.watch(&initial).await.err().expect("no server listens");
    assert!(matches!(error, Error::Refused(_)), "{error:?}");
    let all_permits = source.shared.permits.acquire_all().await;
    let (error, ()) = tokio::join!(source.watch(&initial), async {
        // Acts as another source of the same server.
        source.client.clone().disable_watch_list();
        drop(all_permits);
    });
    let error = error.err().expect("no request is sent");
    assert!(matches!(error, Error::NotSupported(_)), "{error:?}");
    let error = source.watch(&WatchOptions::default()).await.err().expect("no server listens");
    assert!(matches!(error, Error::Refused(_)), "{error:?}");
}

#[test]
fn watch_retries_server_that_responded_before() {
    assert_eq!(ends(&Error::Refused(String::new())), [[true, true], [false, true]]);
    assert_eq!(ends(&Error::Transport("".into())), [[true, true], [false, false]]);
    assert_eq!(ends(&Error::Timeout("".into())), [[true, true], [false, false]]);
}

#[test]
fn permanent_errors_always_give_up() {
    assert_eq!(ends(&Error::Forbidden(Status::default())), [[true, true], [true, true]]);
    assert_eq!(ends(&Error::Tls(String::new())), [[true, true], [true, true]]);
}
