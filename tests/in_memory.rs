//! Clients of a server inside their own process, over connections in memory.

use std::time::Duration;

use futures_util::future::join_all;
use kdelta::api::{Client, ClientOptions, Request, Response};
use kdelta::client::Connector;
use kdelta::demo::{Demo, Options};
use kdelta::kubeconfig::Config;
use kdelta::listwatch::Error;
use tokio::time::timeout;

use crate::support::PATIENCE;

/// The pods of all namespaces, then their changes.
fn pods() -> Request {
    Request::new("/api/v1/pods").query("watch", "true")
}

/// Returns a client over the demo's connections in memory.
fn client(demo: &Demo) -> Client {
    let opener = demo.opener();
    let connector = Connector::new(move || {
        let opener = opener.clone();
        async move { opener.open().await }
    });
    let config = Config::for_server(&demo.url()).expect("a config");
    Client::with_options(&config, ClientOptions::default().connector(Some(connector))).expect("a client")
}

async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    timeout(PATIENCE, work).await.unwrap_or_else(|_| panic!("{what} takes too long"))
}

/// Reads a body to its end.
async fn end(mut response: Response) -> Result<(), Error> {
    while response.chunk().await?.is_some() {}
    Ok(())
}

#[tokio::test]
async fn two_hundred_watches_run_at_once_and_end_with_the_server() {
    let demo = Demo::start(Options::default()).await.expect("a demo");
    assert_eq!((demo.address(), &*demo.url()), (None, "http://localhost"));
    let client = client(&demo);
    let open = async || {
        let mut response = client.send(&pods()).await.expect("a watch");
        let first = response.chunk().await.expect("a chunk").expect("an event");
        assert!(first.starts_with(br#"{"type":"ADDED""#) || first.starts_with(br#"{"object""#), "{first:?}");
        response
    };
    let watches = within("the initial state", join_all((0..200).map(|_| open()))).await;
    assert_eq!(watches.len(), 200);
    drop(demo);
    within("the end of the watches", join_all(watches.into_iter().map(end))).await;
    let refused = within("the refusal", client.send(&pods())).await.err();
    assert!(matches!(refused, Some(Error::Refused(_))), "{refused:?}");
}

#[tokio::test]
async fn slow_reader_delays_no_other_client() {
    let demo = Demo::start(Options::default().objects(20_000)).await.expect("a demo");
    let client = client(&demo);
    // The list is larger than all buffers between it and its reader.
    let unread = within("the head", client.send(&Request::new("/api/v1/pods"))).await.expect("a list");
    let other = within("another response", client.send(&Request::new("/version"))).await.expect("a version");
    assert!(!within("its body", other.body(64 * 1024)).await.expect("a version").is_empty());
    within("the rest of the list", end(unread)).await.expect("the whole list");
}

#[tokio::test(start_paused = true)]
async fn idle_watch_in_memory_is_probed_and_stays_open() {
    let demo = Demo::start(Options::default()).await.expect("a demo");
    let client = client(&demo);
    let secrets = Request::new("/api/v1/namespaces/kube-public/secrets").query("watch", "true");
    let mut watch = client.send(&secrets).await.expect("a watch");
    // Several liveness checks: the first is due after 30 s.
    assert!(timeout(Duration::from_mins(3), watch.chunk()).await.is_err(), "it is open");
}
