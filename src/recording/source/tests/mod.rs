//! The server of a recording.

mod alternate_versions;
mod direct;
mod moves;
mod refusals;
mod tables;
mod warnings;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::lines::{Change, ChangeKind, Mark, MarkKind};
use crate::object::{ApiResource, Column, Ingest, Object, Origin, ResourceVersion, Row};
use crate::recording::options::WriterOptions;
use crate::recording::writer::Writer;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// 2026-11-24T00:00:00Z, and seconds after it.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_795_478_400 + seconds).expect("a time")
}

fn resource(group: &str, version: &str, plural: &str, kind: &str) -> Arc<ApiResource> {
    let namespaced = !["nodes", "customresourcedefinitions"].contains(&plural);
    let [group, version, resource, kind] = [group, version, plural, kind].map(str::to_owned);
    Arc::new(ApiResource { group, version, resource, kind, namespaced })
}

fn pods() -> Arc<ApiResource> {
    resource("", "v1", "pods", "Pod")
}

fn gadgets() -> Arc<ApiResource> {
    resource("example.com", "v1", "gadgets", "Gadget")
}

/// A recording that is being written.
struct Recorded {
    dir: TempDir,
    writer: Writer,
    /// The kind of the changes.
    kind: ChangeKind,
    /// The origin of the changes.
    origin: Origin,
}

impl Recorded {
    fn new() -> Self {
        Self::with(WriterOptions::default())
    }

    fn with(options: WriterOptions) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let options = options.sync(false);
        let writer = Writer::open(&dir.path().join("c"), "c", options, at(0)).expect("a writer");
        Self { dir, writer, kind: ChangeKind::Added, origin: Origin::Watch }
    }

    /// Sets the origin of the next changes.
    fn origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Sets the kind of the next changes.
    fn kind(self, kind: ChangeKind) -> Self {
        Self { kind, ..self }
    }

    fn synced(mut self, resource: &Arc<ApiResource>, version: u64, seconds: i64) -> Self {
        let mark = Mark {
            kind: MarkKind::Synced { version: ResourceVersion::new(&version.to_string()) },
            resource: Arc::clone(resource),
            context: "c".into(),
            namespace: "".into(),
            name: None,
            received: at(seconds),
        };
        self.writer.mark(&mark).expect("written");
        self
    }

    fn change(self, resource: &Arc<ApiResource>, object: &Value, row: Option<Row>, seconds: i64) -> Self {
        let mut read = Object::from_json(object.to_string().as_bytes(), &Ingest::of(resource.type_meta()))
            .expect("an object");
        if let Some(row) = row {
            read = read.with_row(row);
        }
        self.object(resource, read, seconds)
    }

    fn object(mut self, resource: &Arc<ApiResource>, object: Object, seconds: i64) -> Self {
        let change = Change {
            kind: self.kind,
            object: Arc::new(object),
            old: None,
            origin: self.origin,
            final_state_unknown: false,
            resource: Arc::clone(resource),
            context: "c".into(),
            received: at(seconds),
        };
        self.writer.change(&change, None).expect("written");
        self
    }

    fn pod(self, key: &str, version: u64, row: Option<&[&str]>, seconds: i64) -> Self {
        let (namespace, name) = key.split_once('/').expect("a namespace");
        let pod = json!({
            "metadata": {
                "name": name, "namespace": namespace, "uid": format!("u-{name}"),
                "resourceVersion": version.to_string(), "creationTimestamp": "2026-11-23T23:59:00Z",
            },
            "status": {"phase": if name == "done" { "Succeeded" } else { "Running" }},
        });
        let row = row.map(row_of);
        self.change(&pods(), &pod, row, seconds)
    }

    fn document(mut self, path: &str, body: &Value) -> Self {
        self.writer.document(path, body.to_string().as_bytes(), at(0)).expect("written");
        self
    }

    fn serve(self, moment: Moment) -> (RecordedServer, TempDir) {
        self.serve_in(moment, ServedVersions::Recorded)
    }

    fn serve_in(self, moment: Moment, versions: ServedVersions) -> (RecordedServer, TempDir) {
        self.writer.finish(at(1000)).expect("finished");
        let recording = Recording::open(&self.dir.path().join("c")).expect("a recording");
        (RecordedServer::start_with(recording, moment, versions).expect("a server"), self.dir)
    }
}

fn row_of(cells: &[&str]) -> Row {
    let column = |(name, priority): (&str, i32)| Column {
        name: name.to_owned(),
        format: if name == "Name" { "name".to_owned() } else { String::new() },
        priority,
    };
    let columns = [("Name", 0), ("Phase", 0), ("Age", 0), ("Zone", 1)];
    Row::new(columns.map(column).into(), cells)
}

struct Reply {
    code: u16,
    content_type: String,
    text: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).expect("JSON")
    }
}

async fn send(
    server: &RecordedServer,
    method: &str,
    path: &str,
    accept: &str,
) -> hyper::Response<hyper::body::Incoming> {
    let stream = server.opener().open().await.expect("a connection");
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("HTTP");
    tokio::spawn(connection);
    let request = http::Request::builder().method(method).uri(path).header("Host", LOCALHOST);
    let request = request.header("Accept", accept).body(Empty::<Bytes>::new()).expect("a request");
    sender.send_request(request).await.expect("a response")
}

async fn request(server: &RecordedServer, method: &str, path: &str, accept: &str) -> Reply {
    let response = send(server, method, path, accept).await;
    let code = response.status().as_u16();
    let content_type = response.headers()["content-type"].to_str().expect("text").to_owned();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    Reply { code, content_type, text: String::from_utf8(body.to_vec()).expect("text") }
}

async fn get(server: &RecordedServer, path: &str) -> Value {
    let reply = request(server, "GET", path, "application/json").await;
    assert_eq!(reply.code, 200, "{path}: {}", reply.text);
    reply.json()
}

async fn status(server: &RecordedServer, method: &str, path: &str) -> (u16, String) {
    let reply = request(server, method, path, "application/json").await;
    (reply.code, reply.json()["message"].as_str().expect("a Status").to_owned())
}

fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().expect("items").iter();
    items.map(|item| item["metadata"]["name"].as_str().expect("a name").to_owned()).collect()
}

fn discovery() -> (Value, Value) {
    let entry = |name: &str, kind: &str, short: &str, verbs: &[&str]| {
        json!({
            "resource": name, "responseKind": {"group": "", "version": "", "kind": kind}, "scope": "Namespaced",
            "singularResource": kind.to_lowercase(), "verbs": verbs, "shortNames": [short],
        })
    };
    let all = ["create", "get", "list", "watch"];
    let document = |group: &str, resources: &[Value]| {
        json!({
            "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
            "items": [{
                "metadata": {"name": group},
                "versions": [{"version": "v1", "resources": resources, "freshness": "Current"}],
            }],
        })
    };
    let core = document(
        "",
        &[
            entry("pods", "Pod", "po", &all),
            entry("secrets", "Secret", "sec", &all),
            entry("componentstatuses", "ComponentStatus", "cs", &["get", "list"]),
            entry("bindings", "Binding", "", &["create"]),
        ],
    );
    (core, document("example.com", &[entry("gadgets", "Gadget", "gd", &all)]))
}

fn documented() -> Recorded {
    let (core, groups) = discovery();
    Recorded::new()
        .document("/api", &core)
        .document("/apis", &groups)
        .document("/version", &json!({"gitVersion": "v1.36.1"}))
        .document("/openapi/v3/api/v1", &json!({"openapi": "3.0.0", "paths": {}}))
}

#[tokio::test]
async fn objects_are_those_of_the_moment() {
    let recorded = documented()
        .pod("a/web", 5, None, 10)
        .synced(&pods(), 5, 11)
        .pod("b/web", 7, None, 20)
        .pod("a/late", 9, None, 30);
    let (server, _dir) = recorded.serve(Moment::Time(at(25)));
    let list = get(&server, "/api/v1/pods").await;
    assert_eq!(
        (names(&list), &list["metadata"]["resourceVersion"]),
        (vec!["web".into(), "web".into()], &json!("7"))
    );
    assert_eq!(list["items"][0].get("kind"), None, "built-in lists omit types: {list}");
    let pod = get(&server, "/api/v1/namespaces/b/pods/web").await;
    assert_eq!(
        (&pod["kind"], &pod["apiVersion"], &pod["metadata"]["uid"]),
        (&json!("Pod"), &json!("v1"), &json!("u-web"))
    );
    let (code, message) = status(&server, "GET", "/api/v1/namespaces/a/pods/late").await;
    assert_eq!((code, message.as_str()), (404, "pods \"late\" not found"));
    assert_eq!(names(&get(&server, "/api/v1/namespaces/b/pods").await), ["web"]);
}

#[tokio::test]
async fn pages_and_earlier_versions_are_consistent() {
    let mut recorded = documented();
    for number in 0..5 {
        recorded = recorded.pod(&format!("a/p{number}"), 10 + number, None, 10);
    }
    let (server, _dir) = recorded.synced(&pods(), 14, 11).serve(Moment::End);
    let mut path = "/api/v1/pods?limit=2".to_owned();
    let mut seen = Vec::new();
    loop {
        let page = get(&server, &path).await;
        seen.extend(names(&page));
        let Some(token) = page["metadata"]["continue"].as_str() else { break };
        path = format!("/api/v1/pods?limit=2&continue={token}");
    }
    assert_eq!(seen, ["p0", "p1", "p2", "p3", "p4"]);
    let exact = |version: u64| format!("/api/v1/pods?resourceVersion={version}&resourceVersionMatch=Exact");
    assert_eq!(names(&get(&server, &exact(12)).await), ["p0", "p1", "p2"]);
    assert_eq!(status(&server, "GET", &exact(99)).await.0, 504);
}

#[tokio::test]
async fn versions_before_the_first_list_of_a_type_are_expired() {
    let recorded = documented().origin(Origin::List).pod("a/old", 5, None, 10).pod("a/new", 9, None, 10);
    let recorded = recorded.synced(&pods(), 10, 11).origin(Origin::Watch).pod("a/later", 12, None, 12);
    let (server, _dir) = recorded.synced(&gadgets(), 11, 12).serve(Moment::End);
    let exact =
        |plural: &str, version: u64| format!("{plural}?resourceVersion={version}&resourceVersionMatch=Exact");
    for version in [4, 5, 9] {
        assert_eq!(status(&server, "GET", &exact("/api/v1/pods", version)).await.0, 410, "{version}");
    }
    assert_eq!(names(&get(&server, &exact("/api/v1/pods", 10)).await), ["new", "old"]);
    let gadgets = "/apis/example.com/v1/gadgets";
    assert_eq!(status(&server, "GET", &exact(gadgets, 10)).await.0, 410);
    assert_eq!(names(&get(&server, &exact(gadgets, 11)).await), [""; 0]);
}

#[tokio::test]
async fn recording_without_the_version_of_its_server_has_one_of_its_own() {
    let (server, _dir) = Recorded::new().pod("a/web", 5, None, 10).synced(&pods(), 5, 11).serve(Moment::End);
    let version = get(&server, "/version").await;
    assert_eq!(
        (&version["major"], &version["minor"], &version["gitVersion"]),
        (&json!("0"), &json!("0"), &json!("v0.0.0-kdelta-recording"))
    );
}

#[tokio::test]
async fn documents_are_served_as_recorded() {
    let (core, groups) = discovery();
    let recorded = documented().pod("a/web", 5, None, 10).synced(&pods(), 5, 11).synced(&gadgets(), 5, 12);
    let (server, _dir) = recorded.serve(Moment::End);
    let apis = request(&server, "GET", "/apis", AGGREGATED).await;
    assert_eq!(
        (apis.json(), apis.text),
        (groups.clone(), groups.to_string()),
        "every type of it was recorded"
    );
    assert!(apis.content_type.contains("as=APIGroupDiscoveryList"), "{}", apis.content_type);
    let api = request(&server, "GET", "/api", AGGREGATED).await.json();
    let verbs = |at: usize| api["items"][0]["versions"][0]["resources"][at]["verbs"].clone();
    assert_eq!(verbs(0), core["items"][0]["versions"][0]["resources"][0]["verbs"]);
    assert_eq!(verbs(1), json!(["create"]), "Secrets were not recorded");
    assert_eq!(verbs(2), json!(["get"]), "a client must not ignore the type");
    assert_eq!(verbs(3), json!(["create"]));
    assert_eq!(get(&server, "/version").await["gitVersion"], "v1.36.1");
    assert_eq!(get(&server, "/openapi/v3/api/v1?hash=1").await["openapi"], "3.0.0");
    let plain = get(&server, "/apis/example.com/v1").await;
    assert_eq!(plain["resources"][0]["shortNames"], json!(["gd"]), "unaggregated forms are created");
}

#[tokio::test]
async fn watches_stay_open_without_events() {
    let (server, _dir) = documented().pod("a/web", 5, None, 10).synced(&pods(), 5, 11).serve(Moment::End);
    let watch = |version: u64| format!("/api/v1/pods?watch=1&resourceVersion={version}&timeoutSeconds=60");
    let response = send(&server, "GET", &watch(5), "application/json").await;
    let mut body = response.into_body();
    let silence = tokio::time::timeout(std::time::Duration::from_millis(50), body.frame()).await;
    assert!(silence.is_err(), "an event or an end");
    let expired = request(&server, "GET", &watch(4), "application/json").await.text;
    let event: Value = serde_json::from_str(expired.lines().next().expect("an event")).expect("JSON");
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)));
}

#[tokio::test]
async fn damage_is_an_error_and_never_an_empty_list() {
    let sealed = WriterOptions::default().seal_entries(1);
    let mut recorded = Recorded::with(sealed).pod("a/web", 5, None, 10).synced(&pods(), 5, 11);
    recorded.writer.flush(at(12)).expect("flushed");
    recorded.writer.settle().expect("settled");
    recorded.writer.finish(at(1000)).expect("finished");
    let dir = recorded.dir.path().join("c");
    let start = || RecordedServer::start(Recording::open(&dir)?, Moment::End);
    let whole = request(&start().expect("a server"), "GET", "/api/v1/pods", "application/json").await;
    assert_eq!(names(&whole.json()), ["web"]);
    let mut refused = 0;
    for file in std::fs::read_dir(&dir).expect("files") {
        let path = file.expect("a file").path();
        if !path.extension().is_some_and(|extension| extension == "segment" || extension == "keyframe") {
            continue;
        }
        let bytes = std::fs::read(&path).expect("bytes");
        for at in (0..bytes.len()).step_by(5) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            std::fs::write(&path, damaged).expect("written");
            let Ok(server) = start() else { continue };
            let reply = request(&server, "GET", "/api/v1/pods", "application/json").await;
            if reply.code == 200 {
                assert_eq!(reply.text, whole.text, "{path:?} {at}");
            } else {
                assert!(reply.code == 500 && reply.text.contains("damaged"), "{path:?} {at}: {}", reply.text);
                refused += 1;
            }
        }
        std::fs::write(&path, bytes).expect("written");
    }
    assert!(refused > 0, "no byte of the objects was damaged");
}
