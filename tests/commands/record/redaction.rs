//! Confidential values in recordings.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kdelta::object::{Object, Row};
use kdelta::recording::{EntryFilter, Item, Moment};
use serde_json::Value;

use super::{demo, record};
use crate::support::{Api, open_recording, recorded_resource};

/// Returns all texts of the changes of a directory's recording: objects, their states before, and cells.
fn texts(dir: &Path) -> String {
    let mut all = String::new();
    let mut add = |object: &Object| {
        all.push_str(&String::from_utf8_lossy(&object.json()));
        let cells = object.row().into_iter().flat_map(Row::cells);
        cells.for_each(|cell| all.extend(["\n", cell]));
        all.push('\n');
    };
    let recording = open_recording(dir);
    for entry in recording.entries(None, None, EntryFilter::default()).expect("entries") {
        if let Item::Change { change, .. } = entry.expect("an entry").item {
            add(&change.object);
            change.old.iter().for_each(|old| add(old));
        }
    }
    all
}

/// Returns the values of all Secrets of a server, as they are and in base64.
fn values(api: &Api) -> Vec<[String; 2]> {
    let list = api.get("/api/v1/secrets");
    let secrets = list["items"].as_array().expect("items");
    let data = secrets.iter().filter_map(|secret| secret["data"].as_object());
    let of = |value: &Value| {
        let encoded = value.as_str().expect("a text").to_owned();
        let plain = STANDARD.decode(&encoded).expect("base64");
        [String::from_utf8_lossy(&plain).into_owned(), encoded]
    };
    data.flat_map(|data| data.values().map(of)).filter(|[plain, _]| plain.len() > 3).collect()
}

#[test]
fn values_of_secrets_are_hashed_with_the_key_of_the_user() {
    let (env, demo, dir) = demo("0.001");
    let done = record(&env, &demo, &dir, &["secrets", "-A", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let values = values(&Api::open(&demo.url));
    assert!(!values.is_empty());
    let recorded = texts(&dir);
    for form in values.iter().flatten() {
        assert!(!recorded.contains(form), "{form}");
    }
    let recording = open_recording(&dir);
    let secrets = recorded_resource(&recording, "secrets");
    let state = recording.state(Moment::End).expect("a state");
    let objects = state.objects(&secrets, None).expect("objects");
    let object: Value = objects[0].parse().expect("JSON");
    let (_, value) = object["data"].as_object().expect("data").iter().next().expect("a value");
    let hash = STANDARD.decode(value.as_str().expect("a text")).expect("base64");
    assert!(hash.starts_with(b"kdelta-redacted-"), "{value}");
    let key = env.home().join(".local/state/kdelta/redaction.key");
    let file = fs::metadata(&key).expect("a key");
    assert_eq!((file.len(), file.permissions().mode() & 0o777), (32, 0o600));
    // The same value has the same hash in another recording of the user.
    let other = env.home().join("other");
    let done = record(&env, &demo, &other, &["secrets", "-A", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(texts(&other), recorded);
}

#[test]
fn secrets_are_kept_or_dropped_on_request() {
    let (env, demo, dir) = demo("0.001");
    let api = Api::open(&demo.url);
    let done = record(&env, &demo, &dir, &["secrets", "-A", "--until-synced", "--secrets", "keep"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let recorded = texts(&dir);
    assert!(values(&api).iter().all(|[_, encoded]| recorded.contains(encoded)));
    assert!(!env.home().join(".local").exists(), "no key is needed");
    let other = env.home().join("other");
    let flags = ["secrets", "-A", "--until-synced", "--secrets", "drop"];
    let done = record(&env, &demo, &other, &flags).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let recorded = texts(&other);
    assert!(recorded.contains("\"data\":{}") && !recorded.contains("kdelta-redacted-"), "{recorded}");
}

#[test]
fn fields_are_redacted_in_objects_and_cells() {
    let (env, demo, dir) = demo("0.001");
    let flags =
        ["pods", "-A", "--until-synced", "--redact", "spec.nodeName", "--redact", "spec.containers.image"];
    let done = record(&env, &demo, &dir, &flags).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let api = Api::open(&demo.url);
    let pods = api.get("/api/v1/pods");
    let recorded = texts(&dir);
    assert!(recorded.contains("<redacted>") && recorded.contains("kdelta-redacted-"));
    for pod in pods["items"].as_array().expect("items") {
        let node = pod["spec"]["nodeName"].as_str().unwrap_or("no node");
        let cell = format!("\n{node}\n");
        assert!(
            !recorded.contains(&format!("\"nodeName\":\"{node}\"")) && !recorded.contains(&cell),
            "{node}"
        );
    }
}

#[test]
fn key_is_not_created_among_the_recordings() {
    let (env, demo, _) = demo("0.001");
    let state = env.home().join(".local/state");
    let error = record(&env, &demo, &state, &["secrets", "--until-synced"]).finish().failure(1);
    assert!(error.contains("would be among the recordings"), "{error}");
    let done = record(&env, &demo, &state, &["secrets", "--until-synced"]);
    let elsewhere = env.home().join("elsewhere");
    let done = done.env("XDG_STATE_HOME", &elsewhere).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(elsewhere.join("kdelta/redaction.key").exists());
}

#[test]
fn redacted_copies_are_continued_with_their_redaction() {
    let (env, demo, dir) = demo("0.001");
    let flags = ["secrets,pods", "-A", "--until-synced"];
    let start = |dir: &Path, more: &[&str]| record(&env, &demo, dir, &[&flags[..], more].concat()).finish();
    let done = start(&dir, &["--redact", "spec.nodeName"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let copy = env.home().join("copy");
    let [from, to] = [&dir, &copy].map(|path| path.to_str().expect("text"));
    let cut = ["recording", "cut", from, "--to", to, "--secrets", "drop", "--redact", "status.podIP"];
    let done = env.kdelta(&cut).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let error = start(&copy, &["--redact", "spec.nodeName"]).failure(1);
    assert!(error.contains("its redact is \"spec.nodeName,status.podIP\""), "{error}");
    let paths = ["--redact", "spec.nodeName", "--redact", "status.podIP"];
    let error = start(&copy, &paths).failure(1);
    assert!(error.contains("its secrets is \"drop\""), "{error}");
    let done = start(&copy, &[&paths[..], &["--secrets", "drop"]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
}
