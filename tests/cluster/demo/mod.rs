//! The demo beside the real server: one script of requests to both, whose answers are of the same code, kind and shape.

mod browse;
mod kinds;
mod kubectl;
mod refusals;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::{Answer, Api, DemoServer, OnServer, TestEnv, eventually, tool};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const PARTIAL: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const PARTIALS: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";

/// What is compared of two answers beside their code and content type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compare {
    /// Kind, reason and shape, and what is said of a refusal but for its numbers.
    Words,
    /// Kind, reason and shape.
    Shape,
    /// The kind: the real server has more of it.
    Kind,
}

use Compare::{Kind, Shape, Words};

/// Method, path, what is accepted, type and text of the body.
type Step = (&'static str, &'static str, &'static str, (&'static str, &'static str), Compare);

const NOTHING: (&str, &str) = ("", "");
const MAPS: &str = "/api/v1/namespaces/same/configmaps";

/// `MAPS` begins most paths, and is written `~`.
const SCRIPT: &[Step] = &[
    ("POST", "/api/v1/namespaces", JSON, (JSON, r#"{"metadata":{"name":"same"}}"#), Shape),
    ("POST", "~", JSON, (JSON, r#"{"metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"v"}}"#), Shape),
    ("POST", "~", JSON, (JSON, r#"{"metadata":{"name":"b"}}"#), Shape),
    ("POST", "~", JSON, (JSON, r#"{"metadata":{"generateName":"c-"}}"#), Shape),
    // What can't be created.
    ("POST", "~", JSON, (JSON, r#"{"metadata":{"name":"a"}}"#), Words),
    ("POST", "~", JSON, (JSON, r#"{"metadata":{"name":"A_"}}"#), Words),
    ("POST", "~", JSON, (JSON, "{}"), Words),
    ("POST", "~", JSON, (JSON, "{"), Shape),
    ("POST", "~", JSON, (JSON, r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}}"#), Shape),
    ("POST", "~", JSON, ("application/x-www-form-urlencoded", "{"), Shape),
    ("POST", "~?dryRun=All", JSON, (JSON, r#"{"metadata":{"name":"dry"}}"#), Shape),
    ("POST", "/api/v1/namespaces/nope/configmaps", JSON, (JSON, r#"{"metadata":{"name":"a"}}"#), Words),
    ("POST", "/api/v1/configmaps", JSON, (JSON, r#"{"metadata":{"name":"a"}}"#), Words),
    // One object in each form.
    ("GET", "~/a", JSON, NOTHING, Shape),
    ("GET", "~/a", TABLE, NOTHING, Shape),
    ("GET", "~/a?includeObject=None", TABLE, NOTHING, Shape),
    ("GET", "~/a?includeObject=Object", TABLE, NOTHING, Shape),
    ("GET", "~?includeObject=Foo", TABLE, NOTHING, Words),
    ("GET", "~/a", PARTIAL, NOTHING, Shape),
    ("GET", "~/a", "application/foo", NOTHING, Shape),
    ("GET", "~/dry", JSON, NOTHING, Words),
    ("GET", "/apis/apps/v1/namespaces/same/deployments/x", JSON, NOTHING, Words),
    // Lists, and their options.
    ("GET", "~", JSON, NOTHING, Shape),
    ("GET", "~", TABLE, NOTHING, Shape),
    ("GET", "~", PARTIALS, NOTHING, Shape),
    ("GET", "~?limit=2", JSON, NOTHING, Shape),
    ("GET", "~?limit=2", TABLE, NOTHING, Shape),
    ("GET", "~?limit=2&labelSelector=x", JSON, NOTHING, Shape),
    ("GET", "~?limit=-1", JSON, NOTHING, Shape),
    ("GET", "~?limit=x", JSON, NOTHING, Words),
    ("GET", "~?continue=abc", JSON, NOTHING, Shape),
    ("GET", "~?resourceVersion=0", JSON, NOTHING, Shape),
    ("GET", "~?resourceVersion=abc", JSON, NOTHING, Words),
    ("GET", "~?resourceVersion=99999999999999", JSON, NOTHING, Words),
    ("GET", "~?resourceVersion=99999999999999&resourceVersionMatch=Exact", JSON, NOTHING, Words),
    ("GET", "~?resourceVersionMatch=Exact", JSON, NOTHING, Words),
    ("GET", "~?resourceVersion=0&resourceVersionMatch=Exact", JSON, NOTHING, Words),
    ("GET", "~?resourceVersion=0&resourceVersionMatch=NotOlderThan", JSON, NOTHING, Shape),
    ("GET", "~?resourceVersion=1&resourceVersionMatch=Foo", JSON, NOTHING, Words),
    ("GET", "~?resourceVersionMatch=Exact&continue=abc", JSON, NOTHING, Words),
    ("GET", "~?sendInitialEvents=true", JSON, NOTHING, Words),
    ("GET", "~?fieldSelector=metadata.name%3Da", JSON, NOTHING, Shape),
    ("GET", "~?fieldSelector=data.k%3Dv", JSON, NOTHING, Words),
    ("GET", "~?fieldSelector=foo", JSON, NOTHING, Words),
    ("GET", "~?labelSelector=a+b", JSON, NOTHING, Shape),
    ("GET", "/api/v1/namespaces/nope/configmaps", JSON, NOTHING, Shape),
    // Watches.
    ("GET", "~?watch=true&timeoutSeconds=1", JSON, NOTHING, Shape),
    (
        "GET",
        "~?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        JSON,
        NOTHING,
        Shape,
    ),
    (
        "GET",
        "~?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        PARTIAL,
        NOTHING,
        Shape,
    ),
    (
        "GET",
        "~?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        TABLE,
        NOTHING,
        Shape,
    ),
    ("GET", "~?watch=true&timeoutSeconds=1&includeObject=None", TABLE, NOTHING, Shape),
    (
        "GET",
        "~?watch=true&timeoutSeconds=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
        JSON,
        NOTHING,
        Shape,
    ),
    ("GET", "~?watch=true&timeoutSeconds=1&labelSelector=x", JSON, NOTHING, Shape),
    (
        "GET",
        "~?watch=true&timeoutSeconds=1&resourceVersion=99999999999999&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        JSON,
        NOTHING,
        Words,
    ),
    ("GET", "~?watch=true&timeoutSeconds=1&resourceVersion=99999999999999", JSON, NOTHING, Shape),
    ("GET", "~?watch=true&resourceVersionMatch=NotOlderThan", JSON, NOTHING, Words),
    ("GET", "~?watch=true&sendInitialEvents=true", JSON, NOTHING, Words),
    ("GET", "~?watch=true&sendInitialEvents=true&resourceVersionMatch=Exact", JSON, NOTHING, Words),
    ("GET", "~?watch=true&resourceVersion=abc", JSON, NOTHING, Words),
    // Changes.
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
    ("DELETE", "~/a", JSON, NOTHING, Shape),
    ("DELETE", "~/a", JSON, NOTHING, Words),
    ("DELETE", "~", JSON, NOTHING, Shape),
    ("DELETE", "/api/v1/namespaces", JSON, NOTHING, Words),
    ("DELETE", "/api/v1/namespaces/default", JSON, NOTHING, Words),
    // What there is.
    ("GET", "/api", JSON, NOTHING, Shape),
    ("GET", "/api", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", NOTHING, Kind),
    ("GET", "/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", NOTHING, Kind),
    ("GET", "/apis", JSON, NOTHING, Shape),
    ("GET", "/apis/apps", JSON, NOTHING, Shape),
    ("GET", "/apis/apps/v1", JSON, NOTHING, Kind),
    ("GET", "/apis/nope/v1", JSON, NOTHING, Shape),
    ("GET", "/api/v1/nopes", JSON, NOTHING, Words),
    ("GET", "~/x/scale", JSON, NOTHING, Words),
    ("GET", "/healthz", JSON, NOTHING, Shape),
    // A subresource.
    ("POST", "/apis/apps/v1/namespaces/same/deployments", JSON, (JSON, DEPLOYMENT), Shape),
    ("GET", "/apis/apps/v1/namespaces/same/deployments/d/scale", JSON, NOTHING, Shape),
    (
        "PATCH",
        "/apis/apps/v1/namespaces/same/deployments/d/scale",
        JSON,
        (MERGE, r#"{"spec":{"replicas":0}}"#),
        Shape,
    ),
    ("DELETE", "/apis/apps/v1/namespaces/same/deployments/d", JSON, NOTHING, Shape),
    // Columns of what is built in.
    ("GET", "/api/v1/namespaces/nope/pods", TABLE, NOTHING, Shape),
    ("GET", "/api/v1/namespaces/nope/services", TABLE, NOTHING, Shape),
    ("GET", "/api/v1/namespaces/nope/secrets", TABLE, NOTHING, Shape),
    ("GET", "/api/v1/namespaces/nope/events", TABLE, NOTHING, Shape),
    ("GET", "/api/v1/nodes?labelSelector=nope", TABLE, NOTHING, Shape),
    ("GET", "/api/v1/namespaces?labelSelector=nope", TABLE, NOTHING, Shape),
    ("GET", "/apis/apps/v1/namespaces/nope/deployments", TABLE, NOTHING, Shape),
    ("GET", "/apis/apps/v1/namespaces/nope/replicasets", TABLE, NOTHING, Shape),
    ("GET", "/apis/batch/v1/namespaces/nope/jobs", TABLE, NOTHING, Shape),
    ("GET", "/apis/coordination.k8s.io/v1/namespaces/nope/leases", TABLE, NOTHING, Shape),
    (
        "GET",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?labelSelector=nope",
        TABLE,
        NOTHING,
        Shape,
    ),
];

const DEPLOYMENT: &str = r#"{"metadata":{"name":"d"},"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},
    "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}"#;

/// What two answers are compared by.
fn digest(answer: &Answer, how: Compare) -> Value {
    let mut parts = Vec::new();
    for line in answer.text.lines().filter(|line| is_stream(&answer.text) && !is_mere_bookmark(line)) {
        parts.push(part(line, how));
    }
    if parts.is_empty() {
        parts.push(part(&answer.text, how));
    }
    json!({"code": answer.code, "type": answer.content_type, "parts": parts})
}

fn is_stream(text: &str) -> bool {
    text.starts_with("{\"type\":")
}

/// Whether it is a bookmark that says nothing but a version: each server has its own times for them.
fn is_mere_bookmark(line: &str) -> bool {
    line.starts_with("{\"type\":\"BOOKMARK\"") && !line.contains("k8s.io/initial-events-end")
}

fn part(text: &str, how: Compare) -> Value {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return text.trim().into() };
    let object =
        if value["object"].is_object() && value["type"].is_string() { &value["object"] } else { &value };
    let mut digest = json!({"type": value["type"], "kind": object["kind"], "reason": object["reason"]});
    if how != Kind {
        digest["shape"] = shape(&value);
        digest["columns"] = columns(object);
    }
    if how == Words {
        let said = object["message"].as_str().unwrap_or_default();
        digest["message"] =
            said.split(|c: char| c.is_ascii_digit()).filter(|word| !word.is_empty()).collect();
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

/// The members of an object and their types, all the way down but for what each kind has of its own.
fn shape(value: &Value) -> Value {
    const OWN: [&str; 6] = ["managedFields", "spec", "status", "labels", "annotations", "data"];
    match value {
        Value::Object(map) => {
            let members = map.iter().filter(|(key, _)| *key != "managedFields").map(|(key, value)| {
                let is_own = OWN.contains(&key.as_str()) && value.is_object();
                (key.clone(), if is_own { "…".into() } else { shape(value) })
            });
            members.collect::<BTreeMap<_, _>>().into_iter().collect()
        }
        // Where there is nothing one kind has an empty list and another none.
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

/// How long a watch of the script goes on, and how long when what is read is asked for again because the answers differed:
/// on a machine that has much to do a second may be over before a server has begun.
const WATCH_SECONDS: [&str; 2] = ["timeoutSeconds=1", "timeoutSeconds=10"];

fn ask(api: &Api, (method, path, accept, (content_type, body), _): &Step, seconds: &str) -> Answer {
    let path = path.replacen('~', MAPS, 1).replace(WATCH_SECONDS[0], seconds);
    let mut headers = vec![("Accept", *accept)];
    if !content_type.is_empty() {
        headers.push(("Content-Type", *content_type));
    }
    api.ask(method, &path, &headers, body)
}

#[test]
fn the_demo_answers_as_the_real_server_does() {
    let Some(OnServer { env, api: real, .. }) = TestEnv::on_server() else { return };
    let demo = DemoServer::start(&env, &[]);
    let own = Api::open(&demo.url);
    compare(&real, &own, &SCRIPT[..1]);
    // A cluster with controllers puts something into a new namespace, which the real server here has not.
    let certificate = format!("{MAPS}/kube-root-ca.crt");
    eventually("the namespace has its certificate", || own.find(&certificate));
    own.delete(&certificate);
    compare(&real, &own, &SCRIPT[1..]);
}

/// Does the same on both, and fails with what they answer otherwise.
fn compare(real: &Api, demo: &Api, script: &[Step]) {
    let mut differences = Vec::new();
    let both = |step, seconds| [real, demo].map(|api| digest(&ask(api, step, seconds), step.4));
    for step in script {
        let [mut wanted, mut is] = both(step, WATCH_SECONDS[0]);
        if wanted != is && step.0 == "GET" {
            [wanted, is] = both(step, WATCH_SECONDS[1]);
        }
        if wanted != is {
            let (method, path, accept, body, _) = step;
            differences.push(format!("{method} {path} {accept} {}\n  real {wanted}\n  demo {is}", body.1));
        }
    }
    assert!(differences.is_empty(), "{} of {}:\n{}", differences.len(), script.len(), differences.join("\n"));
}

#[test]
fn pages_continue_and_a_new_kind_is_served_by_both() {
    let Some(OnServer { env, api, .. }) = TestEnv::on_server() else { return };
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
        let refused = api.ask("PATCH", &format!("{path}/s"), &strategic, "{}");
        let table = api.ask("GET", &path, &[("Accept", TABLE)], "");
        let table: Value = serde_json::from_str(&table.text).expect("a Table");
        let list = api.get(&path);
        api.delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sames.demo.kdelta.test");
        eventually("the kind goes with its definition", || {
            (api.find(&path).is_none() && api.find("/apis/demo.kdelta.test").is_none()).then_some(())
        });
        json!([
            shape(&first), shape(&second), shape(&created), shape(&list), refused.code,
            columns(&table), table["rows"][0]["cells"],
        ])
    });
    assert_eq!(both[0], both[1]);
}

#[test]
fn client_go_follows_the_demo() {
    // Only for its informer.
    let Some(OnServer { env, .. }) = TestEnv::on_server() else { return };
    let demo = DemoServer::start(&env, &["--speed", "5"]);
    let file = browse::kubeconfig(&env, &demo);
    for how in [&["--watch-list=true"][..], &["--watch-list=false"], &["--mode", "typed"]] {
        let mut informer = tool();
        informer.arg("informer").arg("--kubeconfig").arg(&file).args(["-n", "default"]).args(how);
        let running = crate::support::Kdelta::other(informer).start();
        let lines = running.stdout.json_until("the sync", |line| line["type"] == "SYNCED");
        assert!(lines.iter().filter(|line| line["type"] == "ADDED").count() >= 20, "{how:?}");
        running.stdout.json_until("an update", |line| line["type"] == "MODIFIED");
        running.stdout.json_until("a deletion", |line| line["type"] == "DELETED");
    }
}
