//! The start and the end of a watch's output: marks and counts, and an end without a reader.

use std::io::Read;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::{OnServer, TestEnv, config_maps, eventually};

/// More than a pipe buffer.
const LARGE: usize = 200_000;

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn several_names_share_one_collection_without_resume_versions() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    for name in ["a", "b", "c"] {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let running = env.kdelta_on(testbed, &["watch", "cm", "a", "b", "-n", &namespace, "-o", "json"]).start();
    let initial = running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    assert_eq!(initial.len(), 3, "both names before the mark: {initial:#?}");
    api.patch(&format!("{}/b", config_maps(&namespace)), &json!({"data": {"n": "1"}}));
    let live = running.stdout.json_until("the change", |line| line["name"] == "b");
    assert_eq!(live.len(), 1, "one mark for both: {live:#?}");
    assert!(initial.iter().chain(&live).all(|line| line.get("resume").is_none()), "{initial:#?} {live:#?}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn stateful_selections_print_no_resume_versions() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({"app": "web"}));
    let by: [&[&str]; 2] = [&[], &["--by", "label:app=web"]];
    for words in by {
        let watch = [&["watch", "cm", "-n", &namespace, "-o", "json"], words].concat();
        let running = env.kdelta_on(testbed, &watch).start();
        let mut lines = running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
        let n = lines.len().to_string() + &words.len().to_string();
        api.patch(&format!("{}/a", config_maps(&namespace)), &json!({"data": {"n": n}}));
        lines.extend(running.stdout.json_until("the change", |line| line["type"] == "MODIFIED"));
        let resumes = lines.iter().filter(|line| line.get("resume").is_some()).count();
        assert_eq!(resumes, if words.is_empty() { 2 } else { 0 }, "{words:?} {lines:#?}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn signal_ends_a_watch_blocked_on_its_output() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let large = json!({"metadata": {"name": "large"}, "data": {"x": "x".repeat(LARGE)}});
    api.create(&config_maps(&namespace), &large);
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let mut command =
            env.kdelta_on(testbed, &["watch", "cm", "-n", &namespace, "-o", "json"]).into_command();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut stdout = child.stdout.take().expect("a pipe");
        // After its first byte the program is blocked in the middle of the line.
        stdout.read_exact(&mut [0]).expect("a byte");
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
        let status = eventually("the program ends", || child.try_wait().expect("a child"));
        assert_eq!(status.code(), Some(code));
    }
}
