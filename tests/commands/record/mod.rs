//! `kdelta record` on the demo: recorded objects, restarts, redaction, and errors.

#[cfg(feature = "age")]
mod encryption;
mod errors;
mod redaction;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use kdelta::lines::{ChangeKind, MarkKind};
use kdelta::object::Object;
use kdelta::recording::{EntryFilter, Item, Moment, Recording, Writer, WriterOptions};
use serde_json::{Value, json};

use crate::support::{
    Api, DemoServer, Kdelta, Recorded, Scraper, TestEnv, eventually, open_recording, recorded_objects,
    recorded_resource,
};

/// An environment, a demo at a speed, and a directory for recordings.
fn demo(speed: &str) -> (TestEnv, DemoServer, PathBuf) {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", speed]);
    let dir = env.home().join("recordings");
    (env, demo, dir)
}

/// Returns a call of `kdelta record` on a demo.
fn record(env: &TestEnv, demo: &DemoServer, dir: &Path, flags: &[&str]) -> Kdelta {
    let to = ["-s", &demo.url, "--to", dir.to_str().expect("text")];
    env.kdelta(&[&["record"], flags, &to].concat())
}

/// Returns the objects of a demo without managedFields, by `namespace/name`.
fn listed(api: &Api, path: &str) -> BTreeMap<String, Value> {
    let mut list = api.get(path);
    let kind = list["kind"].as_str().expect("a kind").trim_end_matches("List").to_owned();
    let version = list["apiVersion"].take();
    let items = list["items"].as_array_mut().expect("items");
    let entry = |item: &mut Value| {
        let mut item = item.take();
        item["apiVersion"] = version.clone();
        item["kind"] = kind.clone().into();
        let metadata = item["metadata"].as_object_mut().expect("metadata");
        metadata.remove("managedFields");
        let name = metadata["name"].as_str().expect("a name");
        let key = match metadata.get("namespace").and_then(Value::as_str) {
            Some(namespace) => format!("{namespace}/{name}"),
            None => name.to_owned(),
        };
        (key, item)
    };
    items.iter_mut().map(entry).collect()
}

#[test]
fn recording_has_what_the_server_has() {
    let (env, demo, dir) = demo("0.001");
    let flags = ["pods,deployments,nodes", "-A", "--until-synced"];
    let done = record(&env, &demo, &dir, &flags).finish();
    assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{}", done.stderr);
    let recording = open_recording(&dir);
    let state = recording.state(Moment::End).expect("a state");
    let api = Api::open(&demo.url);
    let mut count = 0;
    for (plural, path) in
        [("pods", "/api/v1/pods"), ("deployments", "/apis/apps/v1/deployments"), ("nodes", "/api/v1/nodes")]
    {
        let resource = recorded_resource(&recording, plural);
        let parsed = |object: &Object| object.parse::<Value>().expect("JSON");
        let objects = state.objects(&resource, None).expect("objects");
        let recorded: BTreeMap<_, _> =
            objects.iter().map(|object| (object.key().to_string(), parsed(object))).collect();
        assert_eq!(recorded, listed(&api, path), "{plural}");
        let rows = state.rows(&resource, None).expect("rows").expect("each has a row");
        assert!(
            rows.iter().all(|row| row.row().is_some_and(|cells| cells.cells().next() == Some(row.name())))
        );
        count += objects.len();
    }
    let documents = state.documents().expect("documents");
    let paths: Vec<&str> = documents.keys().map(|path| &**path).collect();
    let expected =
        ["/api", "/apis", "/openapi/v3", "/openapi/v3/api/v1", "/openapi/v3/apis/apps/v1", "/version"];
    assert_eq!(paths, expected);
    assert!(String::from_utf8_lossy(&documents["/apis"]).contains("APIGroupDiscoveryList"));
    let summary = done.stderr.lines().last().expect("a summary");
    let counts = format!("{count} deltas, {count} objects, ");
    assert!(summary.starts_with("recorded in ") && summary.contains(&counts), "{summary}");
    assert!(summary.ends_with(", 0 gaps"), "{summary}");
}

#[test]
fn files_are_private() {
    let (env, demo, dir) = demo("0.001");
    let done = record(&env, &demo, &dir, &["ns", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    let contexts = Recording::contexts(&dir).expect("a directory");
    let (_, context) = &contexts[0];
    assert_eq!((mode(&dir), mode(context)), (0o700, 0o700));
    let files: Vec<_> =
        fs::read_dir(context).expect("a directory").map(|file| mode(&file.expect("a file").path())).collect();
    assert!(files.len() >= 2 && files.iter().all(|mode| *mode == 0o600), "{files:?}");
}

#[test]
fn context_names_the_directory_and_demo_needs_no_server() {
    let env = TestEnv::new();
    let done = env.kdelta(&["record", "pods", "--demo", "--to", "recordings", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let recording = Recording::open(&env.home().join("recordings/demo")).expect("a recording");
    assert_eq!(recording.context(), "demo");
    let pods = recorded_resource(&recording, "pods");
    let state = recording.state(Moment::End).expect("a state");
    assert!(state.objects(&pods, Some("default")).expect("objects").len() >= 20);
}

#[test]
fn restarted_recorder_repeats_and_misses_nothing() {
    let (env, demo, dir) = demo("20");
    let flags = ["pods,events,deployments,replicasets", "-A"];
    for _ in 0..3 {
        let mut running = record(&env, &demo, &dir, &flags).start();
        let before = changes(&dir);
        eventually("thirty more changes", || (changes(&dir) > before + 30).then_some(()));
        running.signal("TERM");
        assert_eq!(running.wait(), 143);
    }
    let mut recording = open_recording(&dir);
    let recorded = Recorded::read(&recording);
    assert_eq!((recorded.starts, recorded.gaps.as_slice()), (3, &[][..]));
    assert!(recorded.watched.len() > 90 && !recorded.authors.is_empty(), "{:?}", recorded.authors);
    // The version up to which the pods are recorded, and the server's pods at that version.
    let (context, path) = Recording::contexts(&dir).expect("a directory").remove(0);
    let writer = Writer::open(&path, &context, WriterOptions::default(), jiff::Timestamp::now());
    let positions = writer.expect("a writer").positions();
    let position = positions.iter().find(|position| position.resource.resource == "pods").expect("pods");
    let exact = format!("/api/v1/pods?resourceVersion={}&resourceVersionMatch=Exact", position.state_version);
    let there = listed(&Api::open(&demo.url), &exact);
    assert!(recording.refresh().expect("the start of another writer"));
    let state = recording.state(Moment::End).expect("a state");
    let here = recorded_objects(&state, &recorded_resource(&recording, "pods"));
    assert!(here.keys().eq(there.keys()), "{here:?} {:?}", there.keys());
    for (key, (_, version)) in here {
        assert_eq!(there[&key]["metadata"]["resourceVersion"], version.to_string(), "{key}");
    }
}

#[test]
fn recorder_that_continues_after_a_deletion_records_the_version_of_the_state() {
    let (env, demo, dir) = demo("0.001");
    let api = Api::open(&demo.url);
    api.create_config_map("default", "gone", &json!({}));
    let mut running = record(&env, &demo, &dir, &["configmaps", "-A"]).start();
    let versions = || {
        let (mut deleted, mut synced) = (Vec::new(), Vec::new());
        if Recording::contexts(&dir).is_ok_and(|contexts| !contexts.is_empty()) {
            let entries = open_recording(&dir).entries(None, None, EntryFilter::default()).expect("entries");
            for entry in entries {
                match entry.expect("an entry").item {
                    Item::Change { change, .. } if change.kind == ChangeKind::Deleted => {
                        deleted.push(change.object.resource_version().clone());
                    }
                    Item::Mark(mark) => {
                        let MarkKind::Synced { version } = mark.kind else { panic!("{:?}", mark.kind) };
                        synced.push(version);
                    }
                    _ => {}
                }
            }
        }
        (deleted, synced)
    };
    eventually("the list", || (versions().1.len() == 1).then_some(()));
    api.delete("/api/v1/namespaces/default/configmaps/gone");
    eventually("the deletion", || (versions().0.len() == 1).then_some(()));
    running.signal("TERM");
    assert_eq!(running.wait(), 143);
    let mut running = record(&env, &demo, &dir, &["configmaps", "-A"]).start();
    eventually("the next recorder", || (versions().1.len() == 2).then_some(()));
    running.signal("TERM");
    assert_eq!(running.wait(), 143);
    let (deleted, synced) = versions();
    assert_eq!((&deleted[..], deleted.len()), (&synced[1..], 1));
}

#[test]
fn type_that_a_later_recorder_leaves_out_is_not_shown_as_current() {
    let (env, demo, dir) = demo("0.001");
    for types in ["pods", "deploy"] {
        let done = record(&env, &demo, &dir, &[types, "-A", "--until-synced"]).finish();
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let from = dir.to_str().expect("text");
    let pods = env.kdelta(&["get", "po", "-A", "--from", from]).finish();
    assert_eq!(pods.code, 0, "{}", pods.stderr);
    let notice = pods.stderr.strip_prefix("Warning: pods were not observed from ").expect(&pods.stderr);
    assert!(notice.ends_with(": this is the state before\n") && notice.lines().count() == 1, "{notice}");
    let deployments = env.kdelta(&["get", "deploy", "-A", "--from", from]).finish();
    assert_eq!((deployments.code, deployments.stderr.as_str()), (0, ""));
    let info = env.kdelta(&["recording", "info", from]).finish();
    let gap = |line: &str| line.starts_with("  ") && line.ends_with("): pods");
    assert!(info.stdout.lines().any(gap), "{}", info.stdout);
}

#[test]
fn namespace_that_was_not_recorded_is_named() {
    let (env, demo, dir) = demo("0.001");
    let done = record(&env, &demo, &dir, &["pods", "-ndefault", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let from = dir.to_str().expect("text");
    let other = env.kdelta(&["get", "pods", "-n", "other", "--from", from]).finish();
    let notice =
        "Warning: pods in the namespace other were not recorded: the recording has those in default\n";
    assert!(other.code == 0 && other.stderr.contains(notice), "{}", other.stderr);
    let own = env.kdelta(&["get", "pods", "-n", "default", "--from", from]).finish();
    assert_eq!((own.code, own.stderr.as_str()), (0, ""));
    let all = env.kdelta(&["get", "pods", "-A", "--from", from]).finish();
    assert_eq!((all.code, all.stderr.as_str()), (0, "Warning: only the pods in default were recorded\n"));
    let info = env.kdelta(&["recording", "info", from]).finish();
    let lines: Vec<&str> = info.stdout.lines().map(str::trim_end).collect();
    assert!(lines.iter().any(|line| line.ends_with("   NAMESPACES")), "{}", info.stdout);
    assert!(lines.iter().any(|line| line.ends_with("   default")), "{}", info.stdout);
}

/// Returns the number of changes in the recording of a directory, if there is one.
fn changes(dir: &Path) -> usize {
    let Ok(contexts) = Recording::contexts(dir) else { return 0 };
    let Some((_, path)) = contexts.first() else { return 0 };
    let Ok(recording) = Recording::open(path) else { return 0 };
    let Ok(usage) = recording.usage() else { return 0 };
    usage.entries.try_into().expect("few entries")
}

#[test]
fn all_types_include_events_but_not_leases() {
    let (env, demo, dir) = demo("0.001");
    let done = record(&env, &demo, &dir, &["--all-kinds", "-A", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let resources = open_recording(&dir).resources().expect("resources");
    let plurals: Vec<&str> = resources.iter().map(|resource| &*resource.resource).collect();
    for expected in ["pods", "deployments", "events", "customresourcedefinitions", "backups"] {
        assert!(plurals.contains(&expected), "{expected} in {plurals:?}");
    }
    assert!(!plurals.contains(&"leases"), "{plurals:?}");
    assert_eq!(plurals.iter().filter(|plural| **plural == "events").count(), 1, "{plurals:?}");
}

#[test]
fn namespace_of_a_recorded_type_is_continued() {
    let (env, demo, dir) = demo("20");
    // The last recorder lists again: the second one missed the changes in other namespaces.
    for (flags, gaps) in [(["pods", "-A"], 0), (["pods", "-ndefault"], 0), (["pods", "-A"], 1)] {
        let mut running = record(&env, &demo, &dir, &flags).start();
        let before = changes(&dir);
        eventually("ten more entries", || (changes(&dir) > before + 10).then_some(()));
        running.signal("INT");
        assert_eq!(running.wait(), 130);
        let recorded = Recorded::read(&open_recording(&dir));
        assert_eq!(recorded.gaps.len(), gaps, "{flags:?}: {:?}", recorded.gaps);
    }
}

#[test]
fn snapshot_of_an_existing_recording_is_a_net_difference() {
    let (env, demo, dir) = demo("20");
    for gaps in 0..3 {
        let done = record(&env, &demo, &dir, &["pods,deploy", "-A", "--until-synced"]).finish();
        assert_eq!(done.code, 0, "{}", done.stderr);
        let recorded = Recorded::read(&open_recording(&dir));
        assert_eq!(recorded.gaps.len(), 2 * gaps, "{:?}", recorded.gaps);
        assert_eq!(done.stderr.matches(": GAP: changes from ").count(), 2 * usize::from(gaps > 0));
    }
}

#[test]
fn recorder_without_rows_records_objects_only() {
    let (env, demo, dir) = demo("0.001");
    let done = record(&env, &demo, &dir, &["pods", "--no-rows", "--until-synced"]).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let recording = open_recording(&dir);
    let state = recording.state(Moment::End).expect("a state");
    let pods = recorded_resource(&recording, "pods");
    assert!(state.rows(&pods, None).expect("readable").is_none());
    assert!(!state.objects(&pods, None).expect("objects").is_empty());
}

#[test]
fn progress_is_shown_on_a_terminal_and_served() {
    let (env, demo, dir) = demo("0.001");
    let call = record(&env, &demo, &dir, &["ns", "--duration", "2s"]).env("TERM", "xterm");
    let shown = call.at_a_terminal().finish_at_a_terminal();
    assert!(shown.contains("recording: ") && shown.contains(" objects, "), "{shown}");
    assert!(shown.contains("0s behind") && shown.contains("recorded in "), "{shown}");
    let other = env.home().join("other");
    let mut running = record(&env, &demo, &other, &["ns", "--metrics", "0"]).start();
    let scraper = Scraper::of(&running);
    let list = Api::open(&demo.url).get("/api/v1/namespaces");
    let count = list["items"].as_array().expect("items").len();
    let count = f64::from(u32::try_from(count).expect("a small number"));
    scraper.await_value("kdelta_recording_objects", &[("context", "")], count);
    scraper.await_value("kdelta_recorded_deltas_total", &[("context", "")], count);
    assert!(scraper.value("kdelta_recording_bytes", &[("context", "")]) > Some(100.0));
    running.signal("HUP");
    assert_eq!(running.wait(), 129);
}
