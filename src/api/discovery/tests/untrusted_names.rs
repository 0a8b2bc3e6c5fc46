//! Tests of discovery against servers and files whose names try to leave the server's base path.

use std::sync::Arc;

use tempfile::TempDir;

use crate::api::{Client, ClientOptions, Discovery, DiscoveryOptions, ResourceClient};
use crate::client::Notice;
use crate::client::test_server::{TestServer, json};
use crate::kubeconfig::Config;
use crate::listwatch::{ListOptions, ListerWatcher};
use crate::wire::DiscoveredResource;

/// Names that are not valid in a URL. The tests use each as a group, a version and a resource.
const HOSTILE: [&str; 12] = [
    "../../../gr",
    "../v1",
    "../../../../etc/passwd",
    "..",
    ".",
    "%2e%2e",
    "..%2f..%2fgr",
    "a\\..\\..\\b",
    "a?b=c",
    "a#b",
    "a\tb",
    "A_b",
];

fn config_with_base_path(server: &TestServer) -> Config {
    let mut config = Config::for_server(&format!("{}/base", server.url)).unwrap();
    config.user_mut().token = Some("s3cr3t".to_owned().into());
    config
}

/// Returns a discovery and the notices of its client.
fn discovery(server: &TestServer, cache: Option<&TempDir>) -> (Discovery, std::sync::mpsc::Receiver<String>) {
    let (sender, notices) = std::sync::mpsc::channel();
    let listen = move |notice: Notice<'_>| sender.send(format!("{notice:?}")).unwrap();
    let client = Client::with_options(
        &config_with_base_path(server),
        ClientOptions::default().notices(Some(Arc::new(listen))),
    )
    .unwrap();
    let cache_folder = cache.map(|folder| folder.path().to_owned());
    (Discovery::new(&client, &DiscoveryOptions { cache_folder, ..Default::default() }), notices)
}

/// Lists every resource that a discovery returns, so that each accepted name becomes part of a request, and returns the
/// resources.
async fn list_everything(discovery: &Discovery) -> Vec<String> {
    let catalog = discovery.catalog().await.unwrap();
    for found in catalog.resources() {
        let client = ResourceClient::new(discovery.inner.client.clone(), found.resource.clone());
        // The response does not matter.
        let _ = client.namespace(Some("default".into())).list(&ListOptions::default()).await;
    }
    let name =
        |found: &DiscoveredResource| format!("{}/{}", found.resource.api_version(), found.resource.resource);
    catalog.resources().iter().map(name).collect()
}

/// Returns the targets of all requests, sorted and each once, without that of the server's version.
fn targets(server: &TestServer) -> Vec<String> {
    let requests = server.requests();
    let mut targets: Vec<String> =
        requests.iter().map(|head| head.split(' ').nth(1).unwrap_or_default().to_owned()).collect();
    targets.retain(|target| target != "/base/version");
    targets.sort();
    targets.dedup();
    targets
}

fn aggregated_resource(name: &str) -> serde_json::Value {
    serde_json::json!({"resource": name, "responseKind": {"kind": "X"}, "scope": "Namespaced", "verbs": ["list"]})
}

/// Returns an aggregated document with hostile groups, versions and resources; `elsewhere` is the `host:port` of another
/// server.
fn aggregated(elsewhere: &str) -> String {
    let version = |version: &str, resources: Vec<serde_json::Value>| serde_json::json!({"version": version, "resources": resources});
    let group = |name: &str, versions: Vec<serde_json::Value>| serde_json::json!({"metadata": {"name": name}, "versions": versions});
    let outside = format!("//{elsewhere}/x");
    let hostile: Vec<&str> = HOSTILE.into_iter().chain([outside.as_str()]).collect();
    let mut items: Vec<_> = hostile
        .iter()
        .map(|name| group(name, vec![version("v1", vec![aggregated_resource("things")])]))
        .collect();
    let mut versions: Vec<_> =
        hostile.iter().map(|name| version(name, vec![aggregated_resource("things")])).collect();
    let mut resources: Vec<_> = hostile.iter().map(|name| aggregated_resource(name)).collect();
    resources.push(aggregated_resource("things"));
    versions.push(version("v1", resources));
    items.push(group("good.example", versions));
    serde_json::json!({"kind": "APIGroupDiscoveryList", "items": items}).to_string()
}

#[tokio::test]
async fn no_name_of_an_aggregated_document_leaves_the_base_path() {
    let elsewhere = TestServer::start(|_| json(200, "{}")).await;
    let response = aggregated(elsewhere.url.trim_start_matches("http://"));
    let server = TestServer::start(move |head| match head.split_whitespace().nth(1) {
        Some("/base/api") => json(200, r#"{"kind":"APIGroupDiscoveryList","items":[]}"#),
        Some("/base/apis") => json(200, &response),
        _ => json(404, "{}"),
    })
    .await;
    let (discovery, notices) = discovery(&server, None);
    assert_eq!(list_everything(&discovery).await, ["good.example/v1/things"]);
    assert_eq!(
        targets(&server),
        ["/base/api", "/base/apis", "/base/apis/good.example/v1/namespaces/default/things"]
    );
    assert!(elsewhere.requests().is_empty());
    discovery.refresh().await.unwrap();
    let notices: Vec<String> = notices.try_iter().collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0] == "UnusableNames { count: 35, example: \"../../../gr\" }", "{notices:?}");
}

/// Responds with the same names in one document per group version.
fn separate_documents(head: &str, elsewhere: &str) -> String {
    let outside = format!("//{elsewhere}/x");
    let hostile: Vec<&str> = HOSTILE.into_iter().chain([outside.as_str()]).collect();
    let version = |version: &str| serde_json::json!({"version": version, "groupVersion": version});
    match head.split_whitespace().nth(1) {
        Some("/base/api") => {
            let versions: Vec<&str> = hostile.iter().copied().chain(["v1"]).collect();
            json(200, &serde_json::json!({"kind": "APIVersions", "versions": versions}).to_string())
        }
        Some("/base/apis") => {
            let mut groups: Vec<_> = hostile
                .iter()
                .map(|name| serde_json::json!({"name": name, "versions": [version("v1")]}))
                .collect();
            let versions: Vec<_> = hostile.iter().copied().chain(["v1"]).map(version).collect();
            groups.push(serde_json::json!({
                "name": "good.example", "versions": versions, "preferredVersion": version("../v1"),
            }));
            json(200, &serde_json::json!({"kind": "APIGroupList", "groups": groups}).to_string())
        }
        Some("/base/api/v1" | "/base/apis/good.example/v1") => {
            let names = hostile.iter().copied().chain(["things", "things/status", "a.b/custom_metric"]);
            let resources: Vec<_> = names
                .map(|name| {
                    serde_json::json!({
                        "name": name, "kind": "X", "namespaced": true, "verbs": ["list"],
                        "group": "../../../gr", "version": "../v1",
                    })
                })
                .collect();
            let list = serde_json::json!({
                "kind": "APIResourceList", "groupVersion": "../../gr/../v1", "apiVersion": "../v1",
                "resources": resources,
            });
            json(200, &list.to_string())
        }
        _ => json(404, "{}"),
    }
}

#[tokio::test]
async fn no_name_of_separate_documents_leaves_the_base_path() {
    let elsewhere = TestServer::start(|_| json(200, "{}")).await;
    let address = elsewhere.url.trim_start_matches("http://").to_owned();
    let server = TestServer::start(move |head| separate_documents(head, &address)).await;
    let (discovery, notices) = discovery(&server, None);
    assert_eq!(list_everything(&discovery).await, ["v1/things", "good.example/v1/things"]);
    assert_eq!(
        targets(&server),
        [
            "/base/api",
            "/base/api/v1",
            "/base/api/v1/namespaces/default/things",
            "/base/apis",
            "/base/apis/good.example/v1",
            "/base/apis/good.example/v1/namespaces/default/things",
        ]
    );
    assert!(elsewhere.requests().is_empty());
    let notices: Vec<String> = notices.try_iter().collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(discovery.catalog().await.unwrap().missing().is_empty());
}

#[tokio::test]
async fn subresources_and_custom_metrics_are_skipped_without_notice() {
    let server = TestServer::start(|head| match head.split_whitespace().nth(1) {
        Some("/base/api") => json(200, r#"{"kind":"APIVersions","versions":["v1"]}"#),
        Some("/base/apis") => json(200, r#"{"kind":"APIGroupList","groups":[]}"#),
        Some("/base/api/v1") => json(
            200,
            r#"{"resources":[{"name":"pods","kind":"Pod","verbs":["list"]},{"name":"pods/log","kind":"Pod"},
                {"name":"jobs.batch/kube_cron_JOB","kind":"MetricValueList"}]}"#,
        ),
        _ => json(404, "{}"),
    })
    .await;
    let (discovery, notices) = discovery(&server, None);
    assert_eq!(list_everything(&discovery).await, ["v1/pods"]);
    assert_eq!(notices.try_iter().collect::<Vec<_>>(), [""; 0]);
}

#[tokio::test]
async fn cache_file_with_an_unusable_name_is_ignored() {
    let server = TestServer::start(|head| match head.split_whitespace().nth(1) {
        Some("/base/api") => json(
            200,
            &serde_json::json!({"kind": "APIGroupDiscoveryList", "items": [
                {"metadata": {}, "versions": [{"version": "v1", "resources": [aggregated_resource("things")]}]},
            ]})
            .to_string(),
        ),
        Some("/base/apis") => json(200, r#"{"kind":"APIGroupList","groups":[]}"#),
        _ => json(404, "{}"),
    })
    .await;
    for (good, hostile) in [
        (r#""resource":"things""#, r#""resource":"../../../../etc/passwd""#),
        (r#""version":"v1""#, r#""version":"../v1""#),
        (r#""group":"""#, r#""group":"../../../gr""#),
    ] {
        let folder = TempDir::new().unwrap();
        discovery(&server, Some(&folder)).0.catalog().await.unwrap();
        let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(good), "{text}");
        std::fs::write(&file, text.replace(good, hostile)).unwrap();
        let before = server.requests().len();
        let found = list_everything(&discovery(&server, Some(&folder)).0).await;
        assert_eq!(found, ["v1/things"], "{hostile}");
        assert!(server.requests().len() > before + 2, "no new request for {hostile}");
    }
    assert_eq!(targets(&server), ["/base/api", "/base/api/v1/namespaces/default/things", "/base/apis"]);
}
