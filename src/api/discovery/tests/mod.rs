//! Tests of discovery against servers with each form of the documents.

mod untrusted_names;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::cache::Cache;
use super::{Catalog, Discovery, DiscoveryOptions, FetchedCatalog, ResolveError, ServerVersion};
use crate::api::Client;
use crate::client::test_server::{TestServer, json};
use crate::kubeconfig::Config;
use crate::listwatch::Error;

const CORE: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{},"versions":[
 {"version":"v1","resources":[
  {"resource":"bindings","responseKind":{"kind":"Binding"},"scope":"Namespaced","singularResource":"binding","verbs":["create"]},
  {"resource":"events","responseKind":{"kind":"Event"},"scope":"Namespaced","singularResource":"event","verbs":["get","list","watch"],"shortNames":["ev"]},
  {"resource":"nodes","responseKind":{"kind":"Node"},"scope":"Cluster","singularResource":"node","verbs":["get","list","watch"],"shortNames":["no"]},
  {"resource":"pods","responseKind":{"kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["get","list","watch"],"shortNames":["po"],"categories":["all"],
   "subresources":[{"subresource":"log","responseKind":{"kind":"Pod"},"verbs":["get"]}]},
  {"resource":"parent-only","scope":"Namespaced","subresources":[]}]}]}]}"#;

const GROUPS: &str = r#"{"kind":"APIGroupDiscoveryList","items":[
 {"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[
  {"resource":"deployments","responseKind":{"group":"","kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment","verbs":["get","list","watch"],"shortNames":["deploy"],"categories":["all"]}]}]},
 {"metadata":{"name":"autoscaling"},"versions":[
  {"version":"v2","resources":[{"resource":"horizontalpodautoscalers","responseKind":{"kind":"HorizontalPodAutoscaler"},"scope":"Namespaced","singularResource":"horizontalpodautoscaler","verbs":["list"],"shortNames":["hpa"],"categories":["all"]}]},
  {"version":"v1","resources":[{"resource":"horizontalpodautoscalers","responseKind":{"kind":"HorizontalPodAutoscaler"},"scope":"Namespaced","singularResource":"horizontalpodautoscaler","verbs":["list"],"shortNames":["hpa"],"categories":["all"]}]}]},
 {"metadata":{"name":"events.k8s.io"},"versions":[{"version":"v1","resources":[
  {"resource":"events","responseKind":{"kind":"Event"},"scope":"Namespaced","singularResource":"event","verbs":["list"],"shortNames":["ev"]}]}]},
 {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]},
 {"metadata":{"name":"example.com"},"versions":[{"version":"v1","resources":[
  {"resource":"widgets","responseKind":{"kind":"WidgetThing"},"scope":"Namespaced","singularResource":"","verbs":["list"]}]}]}]}"#;

fn aggregated(head: &str) -> String {
    match head.split_whitespace().nth(1) {
        Some("/api") => json(200, CORE),
        Some("/apis") => json(200, GROUPS),
        _ => json(404, "{}"),
    }
}

fn discovery(server: &TestServer, cache: Option<&TempDir>) -> Discovery {
    let client = Client::new(&Config::for_server(&server.url).unwrap()).unwrap();
    let cache_folder = cache.map(|folder| folder.path().join("discovery"));
    Discovery::new(&client, &DiscoveryOptions { cache_folder, ..Default::default() })
}

/// Returns the requests for resources, without those for the version.
fn resource_requests(server: &TestServer) -> Vec<String> {
    server.requests().into_iter().filter(|request| !request.starts_with("GET /version ")).collect()
}

/// Returns the resources of a word, as `VERSION RESOURCE`.
async fn resolved(discovery: &Discovery, word: &str) -> Vec<String> {
    let found = discovery.resolve(word).await.unwrap();
    found.iter().map(|one| format!("{} {}", one.resource.api_version(), one.resource.resource)).collect()
}

#[tokio::test]
async fn alternatives_of_a_short_name_are_returned() {
    let server = TestServer::start(aggregated).await;
    let catalog = discovery(&server, None).catalog().await.unwrap();
    assert_eq!(catalog.alternatives("ev"), ["events.events.k8s.io"]);
    for word in ["events", "event", "Event", "ev.events", "hpa", "po", "all", "nothing"] {
        assert_eq!(catalog.alternatives(word), [""; 0], "{word}");
    }
}

#[tokio::test]
async fn word_resolves_by_every_name_of_its_resource() {
    let server = TestServer::start(aggregated).await;
    let discovery = discovery(&server, None);
    for (word, expected) in [
        ("pods", "v1 pods"),
        ("pod", "v1 pods"),
        ("po", "v1 pods"),
        ("Pod", "v1 pods"),
        ("PODS", "v1 pods"),
        ("pods.v1.", "v1 pods"),
        ("ev", "v1 events"),
        ("events", "v1 events"),
        ("events.events.k8s.io", "events.k8s.io/v1 events"),
        ("events.v1.events.k8s.io", "events.k8s.io/v1 events"),
        ("ev.events", "events.k8s.io/v1 events"),
        ("deployments.apps", "apps/v1 deployments"),
        ("deploy.apps", "apps/v1 deployments"),
        ("deployments.v1.apps", "apps/v1 deployments"),
        ("Deployment.v1.apps", "apps/v1 deployments"),
        ("hpa", "autoscaling/v2 horizontalpodautoscalers"),
        ("hpa.v1.autoscaling", "autoscaling/v1 horizontalpodautoscalers"),
        ("hpa.autoscal", "autoscaling/v2 horizontalpodautoscalers"),
        ("WidgetThing", "example.com/v1 widgets"),
        ("widgets.example.com", "example.com/v1 widgets"),
    ] {
        assert_eq!(resolved(&discovery, word).await, [expected], "{word}");
    }
    assert_eq!(resource_requests(&server).len(), 2, "one request for the core group, one for the others");
    assert!(resource_requests(&server)[0].contains("as=APIGroupDiscoveryList,application/json\r\n"));
}

#[tokio::test]
async fn category_resolves_to_each_resource_once() {
    let server = TestServer::start(aggregated).await;
    let found = resolved(&discovery(&server, None), "all").await;
    assert_eq!(found, ["v1 pods", "apps/v1 deployments", "autoscaling/v2 horizontalpodautoscalers"]);
}

#[tokio::test]
async fn unknown_word_has_kubectls_message_and_a_suggestion() {
    let server = TestServer::start(aggregated).await;
    let discovery = discovery(&server, None);
    let failure = async |word: &str| {
        let error = discovery.resolve(word).await.unwrap_err();
        (error.to_string(), error.hint())
    };
    let unknown = |what: &str| format!("the server doesn't have a resource type {what}");
    assert_eq!(failure("pdos").await, (unknown("\"pdos\""), Some("did you mean pods?".into())));
    assert_eq!(failure("deploymets").await.1, Some("did you mean deployments.apps?".into()));
    let stale =
        "discovery of metrics.k8s.io/v1beta1 failed: the server is currently unable to handle the request";
    assert_eq!(failure("zzzzzzzz").await, (unknown("\"zzzzzzzz\""), Some(stale.into())));
    assert_eq!(
        failure("zzzzzzzz.apps").await,
        (unknown("\"zzzzzzzz\""), Some("nothing in group apps is called zzzzzzzz".into()))
    );
    assert_eq!(failure("pods.v1").await.0, unknown("\"pods\""));
    assert_eq!(resolved(&discovery, "bindings").await, ["v1 bindings"], "the server refuses its list");
}

#[tokio::test]
async fn newly_defined_resource_is_found() {
    let defined = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&defined);
    let folder = TempDir::new().unwrap();
    let server = TestServer::start(move |head| {
        if head.starts_with("GET /apis ") && !seen.load(Ordering::SeqCst) {
            return json(200, r#"{"kind":"APIGroupDiscoveryList","items":[]}"#);
        }
        aggregated(head)
    })
    .await;
    let first = discovery(&server, Some(&folder));
    assert!(first.resolve("widgets").await.is_err());
    assert_eq!(
        resource_requests(&server).len(),
        2,
        "documents that were just received are not requested again"
    );
    defined.store(true, Ordering::SeqCst);
    let second = discovery(&server, Some(&folder));
    assert_eq!(resolved(&second, "pods").await, ["v1 pods"]);
    assert_eq!(resource_requests(&server).len(), 2, "the file of the first is enough");
    assert_eq!(resolved(&second, "widgets").await, ["example.com/v1 widgets"]);
    assert_eq!(resource_requests(&server).len(), 4);
    assert_eq!(resolved(&discovery(&server, Some(&folder)), "widgets").await, ["example.com/v1 widgets"]);
    assert_eq!(resource_requests(&server).len(), 4);
}

/// Returns discovery with a cache file that is no longer recent.
fn with_old_file(server: &TestServer, folder: &TempDir) -> Discovery {
    let client = Client::new(&Config::for_server(&server.url).unwrap()).unwrap();
    let cache_folder = Some(folder.path().join("discovery"));
    Discovery::new(
        &client,
        &DiscoveryOptions { cache_folder, cache_life: Duration::ZERO, ..Default::default() },
    )
}

/// Responds as [`aggregated`] does, with every group available.
fn without_missing_groups(head: &str) -> String {
    if !head.starts_with("GET /apis ") {
        return aggregated(head);
    }
    let stale =
        r#" {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]},"#;
    assert!(GROUPS.contains(stale));
    json(200, &GROUPS.replace(stale, ""))
}

#[tokio::test]
async fn old_file_is_used_only_for_names_of_built_in_resources() {
    let server = TestServer::start(without_missing_groups).await;
    let folder = TempDir::new().unwrap();
    discovery(&server, Some(&folder)).catalog().await.unwrap();
    assert_eq!(resource_requests(&server).len(), 2);
    for word in ["pods", "deploy", "hpa", "events.events.k8s.io", "deployments.v1.apps"] {
        let old = with_old_file(&server, &folder);
        assert_eq!(resolved(&old, word).await.len(), 1);
        assert_eq!(old.alternatives(word).await, Vec::<String>::new());
    }
    assert_eq!(resource_requests(&server).len(), 2, "no request for a name that is known");
    // A category may have grown, and a custom resource may have changed.
    let mut requests = 2;
    for (word, found) in [("all", 3), ("widgets", 1), ("WidgetThing", 1)] {
        assert_eq!(resolved(&with_old_file(&server, &folder), word).await.len(), found);
        requests += 2;
        assert_eq!(resource_requests(&server).len(), requests, "{word}");
    }
    assert!(with_old_file(&server, &folder).resolve("nothing").await.is_err());
    assert_eq!(resource_requests(&server).len(), requests + 2);
    with_old_file(&server, &folder).catalog().await.unwrap();
    assert_eq!(resource_requests(&server).len(), requests + 4);
}

#[tokio::test]
async fn old_file_with_unavailable_groups_is_not_used() {
    let server = TestServer::start(aggregated).await;
    let folder = TempDir::new().unwrap();
    discovery(&server, Some(&folder)).catalog().await.unwrap();
    assert_eq!(resolved(&discovery(&server, Some(&folder)), "pods").await.len(), 1);
    assert_eq!(resource_requests(&server).len(), 2, "a recent file is used");
    assert_eq!(resolved(&with_old_file(&server, &folder), "pods").await.len(), 1);
    assert_eq!(resource_requests(&server).len(), 4);
}

#[tokio::test]
async fn revalidation_checks_a_cache_file_once() {
    let is_removed = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_removed);
    let server = TestServer::start(move |head| {
        if head.starts_with("GET /apis ") && seen.load(Ordering::SeqCst) {
            return json(200, r#"{"kind":"APIGroupDiscoveryList","items":[]}"#);
        }
        aggregated(head)
    })
    .await;
    let folder = TempDir::new().unwrap();
    let first = discovery(&server, Some(&folder));
    let widgets = first.resolve("widgets").await.unwrap().remove(0).resource;
    assert!(!first.revalidate(&widgets).await.unwrap(), "the catalog came from the server");
    assert_eq!(resource_requests(&server).len(), 2);
    let second = discovery(&server, Some(&folder));
    assert_eq!(resolved(&second, "widgets").await.len(), 1);
    assert!(!second.revalidate(&widgets).await.unwrap(), "the server returns the same catalog");
    assert_eq!(resource_requests(&server).len(), 4);
    let another_word = discovery(&server, Some(&folder));
    is_removed.store(true, Ordering::SeqCst);
    let third = discovery(&server, Some(&folder));
    for discovery in [&another_word, &third] {
        assert_eq!(resolved(discovery, "widgets").await.len(), 1);
    }
    assert!(third.revalidate(&widgets).await.unwrap());
    assert_eq!(resource_requests(&server).len(), 6);
    assert!(!third.revalidate(&first.resolve("pods").await.unwrap()[0].resource).await.unwrap());
    assert!(third.resolve("widgets").await.is_err());
    // Resolving an unknown word refreshes the catalog; `widgets`, found in the cache file, has not been checked since.
    assert!(another_word.resolve("nothing").await.is_err());
    let requests = resource_requests(&server).len();
    assert!(another_word.revalidate(&widgets).await.unwrap());
    assert_eq!(resource_requests(&server).len(), requests);
}

#[tokio::test]
async fn server_without_aggregated_discovery_is_read_per_group_version() {
    let server = TestServer::start(|head| match head.split_whitespace().nth(1).unwrap() {
        "/api" => json(200, r#"{"kind":"APIVersions","versions":["v1"]}"#),
        "/apis" => json(
            200,
            r#"{"kind":"APIGroupList","groups":[{"name":"a.example","versions":[{"version":"v1"},{"version":"v2"}],
                "preferredVersion":{"version":"v2"}},{"name":"broken.example","versions":[{"version":"v1"}]}]}"#,
        ),
        "/api/v1" => json(
            200,
            r#"{"kind":"APIResourceList","resources":[
                {"name":"pods","singularName":"","namespaced":true,"kind":"Pod","verbs":["list"],"shortNames":["po"]},
                {"name":"pods/log","singularName":"","namespaced":true,"kind":"Pod","verbs":["get"]}]}"#,
        ),
        "/apis/a.example/v1" | "/apis/a.example/v2" => json(
            200,
            r#"{"resources":[{"name":"things","singularName":"thing","namespaced":false,"kind":"Thing","verbs":["list"]}]}"#,
        ),
        _ => json(503, "not today"),
    })
    .await;
    let discovery = discovery(&server, None);
    assert_eq!(resolved(&discovery, "pod").await, ["v1 pods"]);
    assert_eq!(resolved(&discovery, "thing").await, ["a.example/v2 things"]);
    assert_eq!(resolved(&discovery, "thing.v1.a.example").await, ["a.example/v1 things"]);
    let catalog = discovery.catalog().await.unwrap();
    let preferred: Vec<_> = catalog.preferred().map(|found| found.resource.group_resource()).collect();
    assert_eq!(preferred, ["pods", "things.a.example"]);
    let missing: Vec<_> =
        catalog.missing().iter().map(|one| (one.group.as_str(), one.version.as_str())).collect();
    assert_eq!(missing, [("broken.example", "v1")]);
}

#[tokio::test]
async fn one_of_two_roots_suffices_and_none_is_an_error() {
    let server = TestServer::start(|head| {
        if head.starts_with("GET /apis ") { json(503, "not today") } else { aggregated(head) }
    })
    .await;
    let folder = TempDir::new().unwrap();
    let half = discovery(&server, Some(&folder));
    assert_eq!(resolved(&half, "pods").await, ["v1 pods"]);
    let hint = half.resolve("deployments").await.unwrap_err().hint().unwrap();
    assert!(hint.starts_with("discovery of some API groups failed: "), "{hint}");
    assert!(!folder.path().join("discovery").exists(), "an incomplete catalog is not written to the cache");
    let refusing = TestServer::start(|_| json(403, "{}")).await;
    let error = discovery(&refusing, None).resolve("pods").await.unwrap_err();
    assert!(
        matches!(error, ResolveError::Discovery(crate::kubeconfig::Error::Server(Error::Forbidden(_)))),
        "{error:?}"
    );
}

#[tokio::test]
async fn server_version_is_returned_and_cached() {
    let folder = TempDir::new().unwrap();
    let silent = TestServer::start(aggregated).await;
    let unknown = discovery(&silent, None);
    unknown.resolve("pods").await.unwrap();
    assert_eq!(unknown.server_version().await, None);
    let server = TestServer::start(|head| match head.split_whitespace().nth(1) {
        Some("/version") => json(200, r#"{"major":"1","minor":"33+"}"#),
        _ => aggregated(head),
    })
    .await;
    for is_from_file in [false, true] {
        let discovery = discovery(&server, Some(&folder));
        assert_eq!(discovery.server_version().await, None, "no request was sent");
        discovery.resolve("pods").await.unwrap();
        assert_eq!(discovery.server_version().await, Some(ServerVersion { major: 1, minor: 33 }));
        assert_eq!(server.requests().len(), 3, "{is_from_file}");
    }
}

#[tokio::test]
async fn late_server_version_is_not_awaited() {
    let server = TestServer::start(|head| match head.split_whitespace().nth(1) {
        // An endless response.
        Some("/version") => "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{".to_owned(),
        _ => aggregated(head),
    })
    .await;
    let discovery = discovery(&server, None);
    let limit = Duration::from_secs(10);
    tokio::time::timeout(limit, discovery.resolve("pods")).await.expect("before the limit").unwrap();
    assert_eq!(discovery.server_version().await, None);
}

#[tokio::test]
async fn cache_file_is_private_and_must_be_recent_valid_and_of_this_server() {
    let server = TestServer::start(aggregated).await;
    let catalog: Arc<Catalog> = discovery(&server, None).catalog().await.unwrap();
    let fetched = FetchedCatalog { catalog, version: Some(ServerVersion { major: 1, minor: 33 }) };
    let folder = TempDir::new().unwrap();
    let life = Duration::from_mins(1);
    let cache = Cache::new(folder.path(), "https://host:6443/prefix", life);
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    assert_eq!(cache.read(now), None);
    cache.write(&fetched, now).unwrap();
    let read = cache.read(now + life / 2);
    assert_eq!(read, Some((fetched.clone(), life / 2)));
    assert_eq!(cache.read(now + life), None, "old");
    assert_eq!(cache.read(now - life), None, "from the future");
    assert_eq!(
        Cache::new(folder.path(), "http://host:6443/prefix", life).read(now),
        None,
        "of another server"
    );
    let file = folder.path().join("host_6443_prefix.json");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    let text = std::fs::read(&file).unwrap();
    std::fs::write(&file, &text[..text.len() / 2]).unwrap();
    assert_eq!(cache.read(now), None, "broken");
    cache.write(&fetched, now).unwrap();
    assert!(cache.read(now).is_some());
}
