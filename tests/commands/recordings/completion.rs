//! Completion of command lines with `--from`.

use kdelta::lines::ChangeKind;
use serde_json::json;

use super::{Recordings, at, resource};
use crate::support::{Recorder, TestEnv, synced};

/// Returns the candidates without descriptions, and the directive.
fn complete(recordings: &Recordings, line: &str) -> Vec<String> {
    let dir = recordings.dir.to_str().expect("UTF-8");
    let words: Vec<&str> = line.split(' ').map(|word| if word == "DIR" { dir } else { word }).collect();
    let output = recordings.env.kdelta(&[&["__complete"], &words[..]].concat()).finish().quiet_success();
    output.lines().map(|line| line.split('\t').next().unwrap_or(line).to_owned()).collect()
}

#[test]
fn words_are_completed_from_the_recording() {
    let recordings = Recordings::of(&["prod"]);
    for (line, expected) in [
        ("get pods --from ", &[":0"][..]),
        ("get --from DIR po", &["po", "pods", ":4"]),
        ("get --from DIR pods ", &["new", "web", ":4"]),
        ("get --from DIR --at rv:20 pods ", &["late", "web", ":4"]),
        ("get --from DIR --at -59m pods ", &["web", ":4"]),
        (
            "get --from DIR pods --by field:status.phase=",
            &["field:status.phase=Failed", "field:status.phase=Pending", ":4"],
        ),
        ("events --from DIR --for pod/", &["pod/new", "pod/web", ":4"]),
        ("get --from missing pods ", &[":4"]),
    ] {
        assert_eq!(complete(&recordings, line), expected, "{line}");
    }
}

#[test]
fn contexts_are_those_of_the_recording() {
    let recordings = Recordings::of(&["dev", "prod/eu"]);
    assert_eq!(complete(&recordings, "get pods --from DIR --context "), ["dev", "prod/eu", ":4"]);
    assert_eq!(complete(&recordings, "get --from DIR --context dev pods n"), ["new", ":4"]);
    assert_eq!(complete(&recordings, "get --from DIR pods n"), [":4"]);
}

#[test]
fn namespaces_are_those_of_the_recording() {
    let env = TestEnv::new();
    let dir = env.home().join("rec");
    let mut recorder = Recorder::new(&dir, "prod", at(0));
    let namespaces = resource("namespaces", "Namespace");
    for (version, name) in [(5, "shop"), (6, "monitoring")] {
        let namespace = json!({"metadata": {"name": name, "resourceVersion": version.to_string()}});
        recorder.json(ChangeKind::Added, &namespaces, &namespace, at(version));
        recorder.mark(synced(version.unsigned_abs()), &namespaces, at(version));
    }
    recorder.finish(at(8));
    let recordings = Recordings { env, dir };
    assert_eq!(complete(&recordings, "get --from DIR pods -n "), ["monitoring", "shop", ":4"]);
    assert_eq!(complete(&recordings, "get --from DIR --at rv:5 pods -n "), ["shop", ":4"]);
}
