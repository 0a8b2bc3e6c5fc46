//! The demo compared with the real server: the same requests to both, with responses of equal code, kind and shape.

mod browse;
mod errors;
mod kinds;
mod kubectl;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{Api, DemoServer, OnServer, Response, TestEnv, eventually, tool};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const PARTIAL: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const PARTIALS: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";

/// The compared part of two responses, besides code and content type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compare {
    /// Kind, reason and shape, and the error message without its numbers.
    Words,
    /// Kind, reason and shape.
    Shape,
    /// The kind only: the real server has more entries.
    Kind,
}

use Compare::{Kind, Shape, Words};

/// Method, path, Accept header, content type and text of the body, and comparison.
type Step = (&'static str, &'static str, &'static str, (&'static str, &'static str), Compare);

const NO_BODY: (&str, &str) = ("", "");
const MAPS: &str = "/api/v1/namespaces/same/configmaps";

/// The requests. Most paths begin with `MAPS`, written `~`.
const SCRIPT: &[Step] = &[
    ("POST", "/api/v1/namespaces", JSON, (JSON, r#"{"metadata":{"name":"same"}}"#), Shape),
    ("POST", "~", JSON, (JSON, r#"{"metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"v"}}"#), Shape),
    ("POST", "~", JSON, (JSON, r#"{"metadata":{"name":"b"}}"#), Shape),
    ("POST", "~", JSON, (JSON, r#"{"metadata":{"generateName":"c-"}}"#), Shape),
    // Objects that can't be created.
    ("POST", "~", JSON, (JSON, r#"{"metadata":{"name":"a"}}"#), Words),
    ("POST", "~", JSON, (JSON, r#"{"metadata":{"name":"A_"}}"#), Words),
    ("POST", "~", JSON, (JSON, "{}"), Words),
    ("POST", "~", JSON, (JSON, "{"), Shape),
    ("POST", "~", JSON, (JSON, r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}}"#), Shape),
    ("POST", "~", JSON, ("application/x-www-form-urlencoded", "{"), Shape),
    ("POST", "~?dryRun=All", JSON, (JSON, r#"{"metadata":{"name":"dry"}}"#), Shape),
    ("POST", "/api/v1/namespaces/nope/configmaps", JSON, (JSON, r#"{"metadata":{"name":"a"}}"#), Words),
    ("POST", "/api/v1/configmaps", JSON, (JSON, r#"{"metadata":{"name":"a"}}"#), Words),
    // One object in each representation.
    ("GET", "~/a", JSON, NO_BODY, Shape),
    ("GET", "~/a", TABLE, NO_BODY, Shape),
    ("GET", "~/a?includeObject=None", TABLE, NO_BODY, Shape),
    ("GET", "~/a?includeObject=Object", TABLE, NO_BODY, Shape),
    ("GET", "~?includeObject=Foo", TABLE, NO_BODY, Words),
    ("GET", "~/a", PARTIAL, NO_BODY, Shape),
    ("GET", "~/a", "application/foo", NO_BODY, Shape),
    ("GET", "~/dry", JSON, NO_BODY, Words),
    ("GET", "/apis/apps/v1/namespaces/same/deployments/x", JSON, NO_BODY, Words),
    // Lists, and their options.
    ("GET", "~", JSON, NO_BODY, Shape),
    ("GET", "~", TABLE, NO_BODY, Shape),
    ("GET", "~", PARTIALS, NO_BODY, Shape),
    ("GET", "~?limit=2", JSON, NO_BODY, Shape),
    ("GET", "~?limit=2", TABLE, NO_BODY, Shape),
    ("GET", "~?limit=2&labelSelector=x", JSON, NO_BODY, Shape),
    ("GET", "~?limit=-1", JSON, NO_BODY, Shape),
    ("GET", "~?limit=x", JSON, NO_BODY, Words),
    ("GET", "~?continue=abc", JSON, NO_BODY, Shape),
    ("GET", "~?resourceVersion=0", JSON, NO_BODY, Shape),
    ("GET", "~?resourceVersion=abc", JSON, NO_BODY, Words),
    ("GET", "~?resourceVersion=99999999999999", JSON, NO_BODY, Words),
    ("GET", "~?resourceVersion=99999999999999&resourceVersionMatch=Exact", JSON, NO_BODY, Words),
    ("GET", "~?resourceVersionMatch=Exact", JSON, NO_BODY, Words),
    ("GET", "~?resourceVersion=0&resourceVersionMatch=Exact", JSON, NO_BODY, Words),
    ("GET", "~?resourceVersion=0&resourceVersionMatch=NotOlderThan", JSON, NO_BODY, Shape),
    ("GET", "~?resourceVersion=1&resourceVersionMatch=Foo", JSON, NO_BODY, Words),
    ("GET", "~?resourceVersionMatch=Exact&continue=abc", JSON, NO_BODY, Words),
    ("GET", "~?sendInitialEvents=true", JSON, NO_BODY, Words),
    ("GET", "~?fieldSelector=metadata.name%3Da", JSON, NO_BODY, Shape),
    ("GET", "~?fieldSelector=data.k%3Dv", JSON, NO_BODY, Words),
    ("GET", "~?fieldSelector=foo", JSON, NO_BODY, Words),
    ("GET", "~?labelSelector=a+b", JSON, NO_BODY, Shape),
    ("GET", "/api/v1/namespaces/nope/configmaps", JSON, NO_BODY, Shape),
    ("GET", "~?watch=true&timeoutSeconds=1", JSON, NO_BODY, Shape),
    (
        "GET",
        "~?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        JSON,
        NO_BODY,
        Shape,
    ),
    (
        "GET",
        "~?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        PARTIAL,
        NO_BODY,
        Shape,
    ),
    (
        "GET",
        "~?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        TABLE,
        NO_BODY,
        Shape,
    ),
    ("GET", "~?watch=true&timeoutSeconds=1&includeObject=None", TABLE, NO_BODY, Shape),
    (
        "GET",
        "~?watch=true&timeoutSeconds=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
        JSON,
        NO_BODY,
        Shape,
    ),
    ("GET", "~?watch=true&timeoutSeconds=1&labelSelector=x", JSON, NO_BODY, Shape),
    (
        "GET",
        "~?watch=true&timeoutSeconds=1&resourceVersion=99999999999999&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        JSON,
        NO_BODY,
        Words,
    ),
    ("GET", "~?watch=true&timeoutSeconds=1&resourceVersion=99999999999999", JSON, NO_BODY, Shape),
    ("GET", "~?watch=true&resourceVersionMatch=NotOlderThan", JSON, NO_BODY, Words),
    ("GET", "~?watch=true&sendInitialEvents=true", JSON, NO_BODY, Words),
    ("GET", "~?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact", JSON, NO_BODY, Words),
    ("GET", "~?watch=true&resourceVersion=abc", JSON, NO_BODY, Words),
    ("PATCH", "~/a", JSON, (MERGE, r#"{"metadata":{"labels":{"x":null}},"data":{"n":"1"}}"#), Shape),
    ("PATCH", "~/a", JSON, ("application/strategic-merge-patch+json", r#"{"data":{"m":"1"}}"#), Shape),
    ("PATCH", "~/a", JSON, ("application/json-patch+json", r#"[{"op":"remove","path":"/data/m"}]"#), Shape),
    (
        "PATCH",
        "~/a",
        JSON,
        ("application/json-patch+json", r#"[{"op":"test","path":"/data/k","value":"w"}]"#),
        Kind,
    ),
    ("PATCH", "~/a", JSON, (MERGE, r#"{"metadata":{"resourceVersion":"1"}}"#), Words),
    ("PATCH", "~/a", JSON, ("application/foo", "{}"), Kind),
    ("PATCH", "~/nope", JSON, (MERGE, "{}"), Words),
    ("PUT", "~/a", JSON, (JSON, r#"{"metadata":{"name":"a","resourceVersion":"1"}}"#), Words),
    ("PUT", "~/a", JSON, (JSON, r#"{"metadata":{"name":"b"}}"#), Words),
    ("PUT", "~/a", JSON, (JSON, r#"{"metadata":{"name":"a"},"data":{"z":"1"}}"#), Shape),
    ("PUT", "~", JSON, (JSON, "{}"), Words),
    ("DELETE", "~/a", JSON, (JSON, r#"{"preconditions":{"uid":"x"}}"#), Kind),
    ("DELETE", "~/a", JSON, NO_BODY, Shape),
    ("DELETE", "~/a", JSON, NO_BODY, Words),
    ("DELETE", "~", JSON, NO_BODY, Shape),
    ("DELETE", "/api/v1/namespaces", JSON, NO_BODY, Words),
    ("DELETE", "/api/v1/namespaces/default", JSON, NO_BODY, Words),
    // Discovery.
    ("GET", "/api", JSON, NO_BODY, Shape),
    ("GET", "/api", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", NO_BODY, Kind),
    ("GET", "/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", NO_BODY, Kind),
    ("GET", "/apis", JSON, NO_BODY, Shape),
    ("GET", "/apis/apps", JSON, NO_BODY, Shape),
    ("GET", "/apis/apps/v1", JSON, NO_BODY, Kind),
    ("GET", "/apis/nope/v1", JSON, NO_BODY, Shape),
    ("GET", "/api/v1/nopes", JSON, NO_BODY, Words),
    ("GET", "~/x/scale", JSON, NO_BODY, Words),
    ("GET", "/healthz", JSON, NO_BODY, Shape),
    ("POST", "/apis/apps/v1/namespaces/same/deployments", JSON, (JSON, DEPLOYMENT), Shape),
    ("GET", "/apis/apps/v1/namespaces/same/deployments/d/scale", JSON, NO_BODY, Shape),
    (
        "PATCH",
        "/apis/apps/v1/namespaces/same/deployments/d/scale",
        JSON,
        (MERGE, r#"{"spec":{"replicas":0}}"#),
        Shape,
    ),
    ("DELETE", "/apis/apps/v1/namespaces/same/deployments/d", JSON, NO_BODY, Shape),
    // Columns of built-in types.
    ("GET", "/api/v1/namespaces/nope/pods", TABLE, NO_BODY, Shape),
    ("GET", "/api/v1/namespaces/nope/services", TABLE, NO_BODY, Shape),
    ("GET", "/api/v1/namespaces/nope/secrets", TABLE, NO_BODY, Shape),
    ("GET", "/api/v1/namespaces/nope/events", TABLE, NO_BODY, Shape),
    ("GET", "/api/v1/nodes?labelSelector=nope", TABLE, NO_BODY, Shape),
    ("GET", "/api/v1/namespaces?labelSelector=nope", TABLE, NO_BODY, Shape),
    ("GET", "/apis/apps/v1/namespaces/nope/deployments", TABLE, NO_BODY, Shape),
    ("GET", "/apis/apps/v1/namespaces/nope/replicasets", TABLE, NO_BODY, Shape),
    ("GET", "/apis/batch/v1/namespaces/nope/jobs", TABLE, NO_BODY, Shape),
    ("GET", "/apis/coordination.k8s.io/v1/namespaces/nope/leases", TABLE, NO_BODY, Shape),
    (
        "GET",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?labelSelector=nope",
        TABLE,
        NO_BODY,
        Shape,
    ),
];

const DEPLOYMENT: &str = r#"{"metadata":{"name":"d"},"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},
    "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}"#;

/// Returns the compared part of a response.
fn digest(response: &Response, comparison: Compare) -> Value {
    let mut objects = Vec::new();
    for line in response.text.lines().filter(|line| is_stream(&response.text) && !is_plain_bookmark(line)) {
        objects.push(object_digest(line, comparison));
    }
    if objects.is_empty() {
        objects.push(object_digest(&response.text, comparison));
    }
    json!({"code": response.code, "type": response.content_type, "objects": objects})
}

fn is_stream(text: &str) -> bool {
    text.starts_with("{\"type\":")
}

/// Returns whether the line is a bookmark with only a version: the servers send these at different times.
fn is_plain_bookmark(line: &str) -> bool {
    line.starts_with("{\"type\":\"BOOKMARK\"") && !line.contains("k8s.io/initial-events-end")
}

fn object_digest(text: &str, comparison: Compare) -> Value {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return text.trim().into() };
    let object =
        if value["object"].is_object() && value["type"].is_string() { &value["object"] } else { &value };
    let mut digest = json!({"type": value["type"], "kind": object["kind"], "reason": object["reason"]});
    if comparison != Kind {
        digest["shape"] = shape(&value);
        digest["columns"] = columns(object);
    }
    if comparison == Words {
        let message = object["message"].as_str().unwrap_or_default();
        digest["message"] =
            message.split(|c: char| c.is_ascii_digit()).filter(|word| !word.is_empty()).collect();
        digest["causes"] = object["details"]["causes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|cause| cause["field"].clone())
            .collect();
    }
    digest
}

fn columns(table: &Value) -> Value {
    let columns = table["columnDefinitions"].as_array().into_iter().flatten();
    columns
        .map(|column| json!([column["name"], column["type"], column["format"], column["priority"]]))
        .collect()
}

/// Returns the fields of an object and their types, recursively except in fields that differ by kind.
fn shape(value: &Value) -> Value {
    const KIND_SPECIFIC: [&str; 6] = ["managedFields", "spec", "status", "labels", "annotations", "data"];
    match value {
        Value::Object(map) => {
            let members = map.iter().filter(|(key, _)| *key != "managedFields").map(|(key, value)| {
                let is_specific = KIND_SPECIFIC.contains(&key.as_str()) && value.is_object();
                (key.clone(), if is_specific { "…".into() } else { shape(value) })
            });
            members.collect::<BTreeMap<_, _>>().into_iter().collect()
        }
        // An empty list and null are equal: servers differ by kind.
        Value::Array(values) if values.is_empty() => "null".into(),
        Value::Array(values) => {
            let shapes: BTreeSet<String> = values.iter().map(|value| shape(value).to_string()).collect();
            shapes.into_iter().collect()
        }
        Value::Null => "null".into(),
        Value::Bool(_) => "bool".into(),
        Value::Number(_) => "number".into(),
        Value::String(_) => "text".into(),
    }
}

/// The timeouts of the script's watches. The second one is for a retry after different responses: on a busy machine a
/// second may pass before a server starts.
const WATCH_SECONDS: [&str; 2] = ["timeoutSeconds=1", "timeoutSeconds=10"];

fn send(api: &Api, (method, path, accept, (content_type, body), _): &Step, seconds: &str) -> Response {
    let path = path.replacen('~', MAPS, 1).replace(WATCH_SECONDS[0], seconds);
    let mut headers = vec![("Accept", *accept)];
    if !content_type.is_empty() {
        headers.push(("Content-Type", *content_type));
    }
    api.request(method, &path, &headers, body)
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn demo_responses_equal_those_of_the_real_server() {
    let OnServer { env, api: real, .. } = TestEnv::on_server();
    let demo = DemoServer::start(&env, &[]);
    let demo_api = Api::open(&demo.url);
    compare(&real, &demo_api, &SCRIPT[..1]);
    // A cluster with controllers creates this in each new namespace; the testbed runs none.
    let certificate = format!("{MAPS}/kube-root-ca.crt");
    eventually("the namespace has its certificate", || demo_api.find(&certificate));
    demo_api.delete(&certificate);
    compare(&real, &demo_api, &SCRIPT[1..]);
}

/// Sends the script to both servers and fails the test if their responses differ.
fn compare(real: &Api, demo: &Api, script: &[Step]) {
    let mut differences = Vec::new();
    let both = |step, seconds| [real, demo].map(|api| digest(&send(api, step, seconds), step.4));
    for step in script {
        let [mut expected, mut actual] = both(step, WATCH_SECONDS[0]);
        if expected != actual && step.0 == "GET" {
            [expected, actual] = both(step, WATCH_SECONDS[1]);
        }
        if expected != actual {
            let (method, path, accept, body, _) = step;
            differences
                .push(format!("{method} {path} {accept} {}\n  real {expected}\n  demo {actual}", body.1));
        }
    }
    assert!(differences.is_empty(), "{} of {}:\n{}", differences.len(), script.len(), differences.join("\n"));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn both_servers_continue_pages_and_serve_a_new_kind() {
    let OnServer { env, api, .. } = TestEnv::on_server();
    let demo = DemoServer::start(&env, &[]);
    let both = [api, Api::open(&demo.url)].map(|api| {
        let namespace = api.namespace();
        for name in ["a", "b", "c"] {
            api.create_config_map(&namespace, name, &json!({}));
        }
        let maps = crate::support::config_maps(&namespace);
        let first = api.get(&format!("{maps}?limit=2"));
        let token = first["metadata"]["continue"].as_str().expect("a token");
        let second = api.get(&format!("{maps}?limit=2&continue={token}"));
        assert_eq!(first["metadata"]["resourceVersion"], second["metadata"]["resourceVersion"]);
        let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let column = json!({"name": "Size", "type": "integer", "jsonPath": ".spec.size"});
        let names = json!({"plural": "sames", "singular": "same", "kind": "Same"});
        let version = json!({
            "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": open},
            "additionalPrinterColumns": [column],
        });
        api.create(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            &json!({
                "metadata": {"name": "sames.demo.kdelta.test"},
                "spec": {"group": "demo.kdelta.test", "scope": "Namespaced", "names": names, "versions": [version]},
            }),
        );
        let path = format!("/apis/demo.kdelta.test/v1/namespaces/{namespace}/sames");
        eventually("the server serves the new kind", || api.find(&path));
        let object = json!({"apiVersion": "demo.kdelta.test/v1", "kind": "Same", "metadata": {"name": "s"}, "spec": {"size": 3}});
        let created = api.create(&path, &object);
        let strategic = [("Content-Type", "application/strategic-merge-patch+json")];
        let rejected = api.request("PATCH", &format!("{path}/s"), &strategic, "{}");
        let table = api.request("GET", &path, &[("Accept", TABLE)], "");
        let table: Value = serde_json::from_str(&table.text).expect("a Table");
        let list = api.get(&path);
        api.delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sames.demo.kdelta.test");
        eventually("the kind is removed with its definition", || {
            (api.find(&path).is_none() && api.find("/apis/demo.kdelta.test").is_none()).then_some(())
        });
        json!([
            shape(&first), shape(&second), shape(&created), shape(&list), rejected.code,
            columns(&table), table["rows"][0]["cells"],
        ])
    });
    assert_eq!(both[0], both[1]);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn client_go_informer_follows_the_demo() {
    // Needed only for the testbed's informer.
    let OnServer { env, .. } = TestEnv::on_server();
    let demo = DemoServer::start(&env, &["--speed", "5"]);
    let file = browse::kubeconfig(&env, &demo);
    for flags in [&["--watch-list=true"][..], &["--watch-list=false"], &["--mode", "typed"]] {
        let mut informer = tool();
        informer.arg("informer").arg("--kubeconfig").arg(&file).args(["-n", "default"]).args(flags);
        let running = crate::support::Kdelta::other(informer).start();
        let lines = running.stdout.json_until("the sync", |line| line["type"] == "SYNCED");
        assert!(lines.iter().filter(|line| line["type"] == "ADDED").count() >= 20, "{flags:?}");
        running.stdout.json_until("an update", |line| line["type"] == "MODIFIED");
        running.stdout.json_until("a deletion", |line| line["type"] == "DELETED");
    }
}
