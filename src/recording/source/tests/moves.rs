//! Recordings that are replayed, and moments that are moved.

use std::time::Duration;

use http_body_util::Full;
use hyper::body::Incoming;
use tokio::time::Instant;

use super::*;
use crate::recording::encryption::Keyring;
use crate::recording::source::mover::Mover;
use crate::recording::source::opener::RecordingOpener;
use crate::recording::source::requests;
use crate::server::source::Source;

/// A served recording whose moment can be moved.
pub(super) struct Served {
    opener: StreamOpener,
    mover: Arc<Mover>,
    /// Dropping the set aborts the server.
    _tasks: JoinSet<()>,
    dir: TempDir,
}

impl Served {
    /// Serves a recording from this second on.
    pub(super) fn from(recorded: Recorded, seconds: i64, speed: Option<ReplaySpeed>) -> Self {
        let Recorded { dir, writer, .. } = recorded;
        writer.finish(at(1000)).expect("finished");
        let moment = Moment::Time(at(seconds));
        let opener = RecordingOpener { dir: dir.path().join("c"), keyring: Keyring::default() };
        let mover = Arc::new(Mover::start(opener, moment, speed).expect("a recording"));
        let (opener, listener) = in_memory::listen();
        let source: Arc<dyn Source> = Arc::clone(mover.source()) as Arc<dyn Source>;
        let of_requests = Arc::clone(&mover);
        let server = Server::new(source, LOCALHOST.to_owned())
            .with_handler(Box::new(move |request| requests::respond(&of_requests, request)));
        let mut tasks = JoinSet::new();
        tasks.spawn(connections::serve(Arc::new(server), listener));
        Self { opener, mover, _tasks: tasks, dir }
    }

    async fn send(&self, method: &str, path: &str, body: &str, accept: &str) -> hyper::Response<Incoming> {
        let stream = self.opener.open().await.expect("a connection");
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("HTTP");
        tokio::spawn(connection);
        let request = http::Request::builder().method(method).uri(path).header("Host", LOCALHOST);
        let request = request.header("Accept", accept).header("Content-Type", "application/json");
        let request = request.body(Full::new(Bytes::from(body.to_owned())));
        sender.send_request(request.expect("a request")).await.expect("a response")
    }

    pub(super) async fn json(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let response = self.send(method, path, body, "application/json").await;
        let code = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        (code, serde_json::from_slice(&body).expect("JSON"))
    }

    /// Returns the `Warning` header of the response to a read.
    pub(super) async fn warning(&self, path: &str) -> Option<String> {
        let response = self.send("GET", path, "", "application/json").await;
        let warning = response.headers().get(http::header::WARNING)?;
        Some(warning.to_str().expect("text").to_owned())
    }

    pub(super) fn move_to(&self, time: Timestamp) {
        self.mover.move_to(Moment::Time(time)).expect("moved");
    }

    async fn list(&self) -> (Vec<String>, String) {
        let (code, list) = self.json("GET", "/api/v1/pods", "").await;
        assert_eq!(code, 200, "{list}");
        (names(&list), list["metadata"]["resourceVersion"].as_str().expect("a version").to_owned())
    }

    async fn watch(&self, version: &str) -> Events {
        self.watch_path(&format!("/api/v1/pods?watch=1&resourceVersion={version}&timeoutSeconds=600")).await
    }

    pub(super) async fn watch_path(&self, path: &str) -> Events {
        let response = self.send("GET", path, "", "application/json").await;
        Events { body: response.into_body(), read: Vec::new() }
    }
}

/// The events of a watch.
pub(super) struct Events {
    body: Incoming,
    read: Vec<u8>,
}

impl Events {
    /// Returns the next event; `None` at the end.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).expect("JSON"));
            }
            let frame = self.body.frame().await?.expect("a frame");
            self.read.extend(frame.into_data().expect("data"));
        }
    }

    async fn names(&mut self, count: usize) -> Vec<(String, String)> {
        let mut seen = Vec::new();
        for _ in 0..count {
            let event = self.next().await.expect("an event");
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            seen.push((text(&event["type"]), text(&event["object"]["metadata"]["name"])));
        }
        seen
    }
}

/// `web` runs from second 10 on, `late` from 20, `web` changes at 30, and `late` is deleted at 50.
fn recorded() -> Recorded {
    let deleted = |recorded: Recorded| recorded.kind(ChangeKind::Deleted).pod("a/late", 9, None, 50);
    let recorded =
        documented().pod("a/web", 5, Some(&["web", "Running", "70s", "z1"]), 10).synced(&pods(), 5, 10);
    let recorded = recorded.pod("a/late", 6, None, 20).kind(ChangeKind::Modified).pod("a/web", 8, None, 30);
    deleted(recorded)
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(kind, name)| ((*kind).to_owned(), (*name).to_owned())).collect()
}

#[tokio::test(start_paused = true)]
async fn replay_sends_changes_at_their_times() {
    for (speed, seconds) in [(1.0, [10, 20, 40]), (10.0, [1, 2, 4])] {
        let served = Served::from(recorded(), 10, Some(ReplaySpeed::Times(speed)));
        let began = Instant::now();
        let (names, version) = served.list().await;
        assert_eq!(names, ["web"]);
        let mut watch = served.watch(&version).await;
        for (second, expected) in
            seconds.into_iter().zip([("ADDED", "late"), ("MODIFIED", "web"), ("DELETED", "late")])
        {
            assert_eq!(watch.names(1).await, pairs(&[expected]));
            let late = began.elapsed().abs_diff(Duration::from_secs(second));
            assert!(late < Duration::from_millis(20), "{expected:?} {late:?}");
        }
        let (names, latest) = served.list().await;
        assert_eq!((names, latest), (vec!["web".to_owned()], "9".to_owned()));
        let mut resumed = served.watch("6").await;
        assert_eq!(resumed.names(2).await, pairs(&[("MODIFIED", "web"), ("DELETED", "late")]));
        assert_eq!(served.json("GET", "/api/v1/namespaces/a/pods/late", "").await.0, 404);
        assert_eq!(
            served.json("GET", "/api/v1/namespaces/a/pods/web", "").await.1["metadata"]["resourceVersion"],
            "8"
        );
        let moment = served.json("GET", "/kdelta/moment", "").await.1;
        assert_eq!(moment["time"], at(50).to_string());
    }
}

#[tokio::test(start_paused = true)]
async fn ages_follow_the_replay() {
    let served = Served::from(recorded(), 10, Some(ReplaySpeed::Times(1.0)));
    let age = async || {
        let table = served.send("GET", "/api/v1/namespaces/a/pods/web", "", TABLE).await;
        let table = table.into_body().collect().await.expect("a body").to_bytes();
        let table: Value = serde_json::from_slice(&table).expect("JSON");
        let columns = table["columnDefinitions"].as_array().expect("columns");
        let age = columns.iter().position(|column| column["name"] == "Age").expect("an age");
        table["rows"][0]["cells"][age].as_str().expect("a text").to_owned()
    };
    assert_eq!(age().await, "70s");
    tokio::time::sleep(Duration::from_secs(15)).await;
    assert_eq!(age().await, "85s");
}

#[tokio::test(start_paused = true)]
async fn highest_speed_replays_everything_without_pauses() {
    let mut changed = documented().pod("a/web", 5, None, 10).synced(&pods(), 5, 10);
    for round in 0..2000 {
        changed = changed.kind(ChangeKind::Modified).pod("a/web", 6 + round, None, 11);
    }
    let served = Served::from(changed, 10, Some(ReplaySpeed::Max));
    let (_, version) = served.list().await;
    let mut watch = served.watch(&version).await;
    // The first ones may be applied before the list.
    let rest = 2005 - version.parse::<usize>().expect("a number");
    let events = watch.names(rest).await;
    assert!(events.iter().all(|event| *event == ("MODIFIED".to_owned(), "web".to_owned())));
    assert_eq!(served.list().await.1, "2005");
}

#[tokio::test(start_paused = true)]
async fn entries_that_are_appended_later_are_replayed() {
    let served = Served::from(recorded(), 40, Some(ReplaySpeed::Times(1.0)));
    let (_, version) = served.list().await;
    let mut watch = served.watch(&version).await;
    assert_eq!(watch.names(1).await, pairs(&[("DELETED", "late")]));
    let options = WriterOptions::default().sync(false);
    let writer = Writer::open(&served.dir.path().join("c"), "c", options, at(60)).expect("a writer");
    let dir = tempfile::tempdir().expect("a directory");
    let appended =
        Recorded { dir, writer, kind: ChangeKind::Added, origin: Origin::Watch }.pod("a/new", 20, None, 61);
    appended.writer.finish(at(62)).expect("finished");
    assert_eq!(watch.names(1).await, pairs(&[("ADDED", "new")]));
}

#[tokio::test(start_paused = true)]
async fn moves_end_watches_as_expired() {
    for speed in [None, Some(ReplaySpeed::Times(1.0))] {
        let served = Served::from(recorded(), 40, speed);
        let (names, version) = served.list().await;
        assert_eq!(
            (names.as_slice(), version.as_str()),
            (["late", "web"].map(str::to_owned).as_slice(), "8")
        );
        let mut watch = served.watch(&version).await;
        let body = json!({"to": at(15).to_string()}).to_string();
        let (code, moment) = served.json("POST", "/kdelta/moment", &body).await;
        let expected = json!({
            "context": "c", "time": at(15).to_string(), "beginning": at(0).to_string(), "end": at(50).to_string(),
        });
        assert_eq!((code, moment), (200, expected));
        let event = watch.next().await.expect("an event");
        assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)), "{event}");
        assert!(watch.next().await.is_none());
        assert_eq!(served.list().await, (vec!["web".to_owned()], "5".to_owned()));
        let expired = served.watch(&version).await.next().await.expect("an event");
        assert_eq!(expired["object"]["code"], 410, "a version of the other moment");
        let (_, moment) = served.json("GET", "/kdelta/moment?to=rv:6", "").await;
        assert_eq!(moment["time"], at(20).to_string());
        assert_eq!(served.list().await.0, ["late", "web"]);
        served.mover.move_to(Moment::End).expect("moved");
        assert_eq!(served.list().await.0, ["web"]);
    }
}

#[tokio::test]
async fn invalid_moves_are_refused_and_change_nothing() {
    let served = Served::from(recorded(), 40, None);
    let before = served.json("GET", "/kdelta/moment", "").await;
    for (method, path, body, expected) in [
        ("POST", "/kdelta/moment", "", "the body must be JSON"),
        ("POST", "/kdelta/moment", r#"{"to": 3}"#, "the body must be JSON"),
        ("POST", "/kdelta/moment", r#"{"to": "yesterday"}"#, "invalid moment \"yesterday\""),
        ("GET", "/kdelta/moment?to=rv:x", "", "invalid moment \"rv:x\""),
        ("GET", "/kdelta/moment?to=1999-01-01T00:00:00Z", "", "the recording begins at"),
        (
            "GET",
            "/kdelta/moment?to=2999-01-01T00:00:00Z",
            "",
            "the recording ends before 2999-01-01T00:00:00Z",
        ),
        ("POST", "/kdelta/moment", r#"{"to": "rv:999"}"#, "the recording ends before rv:999"),
    ] {
        let (code, status) = served.json(method, path, body).await;
        let message = status["message"].as_str().unwrap_or_default();
        assert!(code == 400 && message.starts_with(expected), "{path} {body}: {code} {status}");
    }
    assert_eq!(served.json("DELETE", "/kdelta/moment", "").await.0, 405);
    assert_eq!(served.json("GET", "/kdelta/moment", "").await, before);
}

#[tokio::test]
async fn access_reviews_allow_reads_of_recorded_types() {
    let served = Served::from(recorded(), 40, None);
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let missing = "secrets was not recorded: the recording has pods";
    for (verb, resource, reason) in [
        ("list", "pods", Value::Null),
        ("delete", "pods", json!("a recording is read-only")),
        ("list", "secrets", json!(missing)),
    ] {
        let body = json!({"spec": {"resourceAttributes": {"verb": verb, "resource": resource}}});
        let (code, review) = served.json("POST", path, &body.to_string()).await;
        let status = &review["status"];
        assert_eq!((code, &status["allowed"]), (201, &json!(reason.is_null())), "{verb} {resource}");
        assert_eq!((&status["reason"], &review["spec"]), (&reason, &body["spec"]), "{verb} {resource}");
    }
    for (body, expected) in [("{", 400), ("{}", 422)] {
        assert_eq!(served.json("POST", path, body).await.0, expected, "{body}");
    }
    let (code, status) = served.json("POST", "/api/v1/namespaces/a/pods", "{}").await;
    assert_eq!((code, &status["message"]), (405, &json!("a recording is read-only")));
}
