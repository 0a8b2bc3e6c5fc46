//! `kdelta recording import`: recordings of JSON lines.

use kdelta::lines::ChangeKind;
use serde_json::{Value, json};

use super::{Recordings, at, pod, resource};
use crate::support::{Recorder, synced};

/// Returns the lines of a watch of a Secret with a value in clear, in two states.
fn lines_of_a_secret() -> String {
    let line = |kind: &str, version: &str, value: &str| {
        let object = json!({
            "apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"password": value},
            "metadata": {"name": "db", "namespace": "default", "uid": "u", "resourceVersion": version},
        });
        let line = json!({
            "v": 1, "ts": format!("2026-11-24T03:00:0{version}.000Z"), "type": kind, "origin": "watch", "context": "prod",
            "group": "", "version": "v1", "kind": "Secret", "resource": "secrets", "object": object,
        });
        format!("{line}\n")
    };
    line("ADDED", "5", "czNjcjN0") + &line("MODIFIED", "6", "bjN3")
}

#[test]
fn values_of_secrets_are_redacted_unless_they_are_to_be_kept() {
    let recordings = Recordings::of(&["other"]);
    recordings.env.file("lines", &lines_of_a_secret());
    let lines = |dir: &str| recordings.tool(&format!("export {dir}")).quiet_success();
    recordings.report("import @lines --to @hashed");
    let hashed = lines("@hashed");
    assert!(!hashed.contains("czNjcjN0") && !hashed.contains("bjN3"), "{hashed}");
    let values: Vec<String> = hashed
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).expect("JSON")["object"]["data"]["password"].to_string()
        })
        .collect();
    assert!(values.len() == 2 && values[0] != values[1], "{hashed}");
    // Hashes stay as they are.
    recordings.env.file("hashes", &hashed);
    recordings.report("import @hashes --to @again");
    assert_eq!(lines("@again"), hashed);
    recordings.report("import @lines --secrets drop --redact type --to @none");
    let none = lines("@none");
    assert!(!none.contains("password") && !none.contains("Opaque"), "{none}");
    recordings.report("import @lines --secrets keep --to @kept");
    assert!(lines("@kept").contains("czNjcjN0"));
}

#[test]
fn a_recorder_that_continues_must_redact_the_same() {
    let recordings = Recordings::of(&["other"]);
    recordings.env.file("lines", &lines_of_a_secret());
    recordings.report("import @lines --secrets keep --to @kept");
    let dir = recordings.env.home().join("kept").join("prod");
    let recording = kdelta::recording::Recording::open(&dir).expect("a recording");
    let state = recording.state(kdelta::recording::Moment::End).expect("a state");
    let selectors = state.documents().expect("documents").get(kdelta::recording::SELECTORS_PATH).cloned();
    assert_eq!(selectors.as_deref(), Some(&br#"{"secrets":["keep"]}"#[..]));
}

#[test]
fn exported_times_without_a_recorder_and_authors_are_imported() {
    let recordings = Recordings::of(&["other"]);
    let (pods, dir) = (resource("pods", "Pod"), recordings.env.home().join("stopped"));
    let mut recorder = Recorder::new(&dir, "prod", at(0));
    recorder.json(ChangeKind::Added, &pods, &pod("web", 10, "Running"), at(0));
    recorder.mark(synced(10), &pods, at(0));
    let kubelet = Some(("kubelet", "status"));
    recorder.watched(ChangeKind::Added, &pods, &pod("new", 20, "Pending"), Some(("helm", "")), at(5));
    recorder.watched(ChangeKind::Modified, &pods, &pod("new", 21, "Running"), kubelet, at(6));
    // The last observation has no line.
    recorder.document("/api", b"{}", at(10));
    recorder.finish(at(10));
    let mut recorder = Recorder::new(&dir, "prod", at(20));
    recorder.mark(synced(30), &pods, at(20));
    recorder.finish(at(30));
    let exported = recordings.tool("export @stopped").quiet_success();
    assert!(exported.contains(r#""type":"STARTED","context":"prod","seconds":600.000}"#), "{exported}");
    assert!(exported.contains(r#""manager":"helm"}"#), "{exported}");
    assert!(exported.contains(r#""manager":"kubelet","subresource":"status"}"#), "{exported}");
    recordings.env.file("lines", &exported);
    recordings.report("import @lines --to @new");
    assert_eq!(recordings.tool("export @new").quiet_success(), exported);
    let gap = "Gaps:     1\n  2026-11-24T03:10:00Z to 2026-11-24T03:20:00Z (10m): no recorder was running\n";
    for dir in ["stopped", "new"] {
        let info = recordings.tool(&format!("info @{dir}")).quiet_success();
        assert!(info.contains(gap), "{dir}: {info}");
        let dir = recordings.env.home().join(dir);
        let words = ["history", "pods/new", "-o", "json", "--from", dir.to_str().expect("UTF-8")];
        let history = recordings.env.kdelta(&words).finish().quiet_success();
        let authors: Vec<_> = history
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
            .filter(|line| line["type"] != "GAP")
            .map(|line| [line["manager"].clone(), line["subresource"].clone()])
            .collect();
        assert_eq!(authors, [["helm".into(), Value::Null], ["kubelet".into(), "status".into()]], "{history}");
    }
}
