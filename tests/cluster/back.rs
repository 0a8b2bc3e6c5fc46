//! A server whose versions went back: it was restored from a backup. Such a server answers a watch of a version that it
//! has not come to with silence, and has forgotten what the watch has told.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::recovery::{Row, told};
use crate::support::{Api, Proxy, TestEnv, Testbed, config_maps};

/// Changes that a backup does not know: more than what a server writes for itself when it starts.
const LOST: usize = 400;

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().expect("cp");
    assert!(copied.success(), "{} to {}", from.display(), to.display());
}

/// Takes the server down, and up again with what was there when the backup was made.
fn restore(env: &TestEnv, testbed: Testbed, backup: &Path) -> Testbed {
    let data = testbed.state().join("etcd");
    testbed.stop();
    std::fs::remove_dir_all(&data).expect("it was there");
    copy(backup, &data);
    env.own_server().expect("it was there before")
}

/// The server's version, as a list tells it.
fn latest(api: &Api, namespace: &str) -> u64 {
    let list = api.get(&format!("{}?limit=1", config_maps(namespace)));
    list["metadata"]["resourceVersion"].as_str().and_then(|version| version.parse().ok()).expect("a version")
}

#[test]
fn a_server_that_was_restored_from_a_backup_is_listed_and_the_difference_told() {
    let row = Row::of_this_test();
    let env = TestEnv::new();
    let Some(testbed) = env.own_server() else { return };
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let path = config_maps(&namespace);
    for name in ["changed", "gone", "kept"] {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let (data, backup) = (testbed.state().join("etcd"), env.home().join("backup"));
    testbed.stop();
    copy(&data, &backup);
    let testbed = env.own_server().expect("it was there before");
    let api = Api::of(&testbed);
    api.delete(&format!("{path}/gone"));
    for n in 0..LOST {
        api.patch(&format!("{path}/changed"), &json!({"data": {"n": n.to_string()}}));
    }
    api.create_config_map(&namespace, "made", &json!({}));

    let mut proxy = Proxy::before(testbed.port());
    let config = env.kubeconfig(&testbed, "admin", &namespace, proxy.port());
    let running = env.kdelta(&["watch", "cm", "-o", "json"]).env("KUBECONFIG", &config).start();
    let synced = running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED").pop();
    let before: u64 = synced
        .and_then(|line| line["resume"].as_str().map(str::to_owned))
        .and_then(|version| version.parse().ok())
        .expect("a version");
    proxy.cut();
    let mut said = vec![running.stderr.find("the loss", |line| line.contains("lost"))];
    let testbed = restore(&env, testbed, &backup);
    let api = Api::of(&testbed);
    assert!(latest(&api, &namespace) < before, "it has come too far again: {before}");
    proxy.reopen();

    let mut lines = running.stdout.json_until("GAP", |line| line["type"] == "GAP");
    let version = |field: &str| -> Option<u64> { lines[0][field].as_str()?.parse().ok() };
    assert!(version("from") == Some(before) && version("to") < version("from"), "{lines:#?}");
    said.push(running.stderr.find("why", |line| !line.contains("lost")));
    said.push(running.stderr.find("the recovery", |line| line.contains("re-listed")));
    api.create_config_map(&namespace, "after", &json!({}));
    lines.extend(running.stdout.json_until("what comes after", |line| line["name"] == "after"));
    let mut found: Vec<String> = lines.iter().map(told).collect();
    assert_eq!(found.pop().as_deref(), Some("ADDED after watch"), "{found:?}");
    found[1..].sort();
    assert_eq!(found, ["GAP", "ADDED gone relist", "DELETED made* relist", "MODIFIED changed relist"]);
    said.retain(|line| !line.contains("refused"));
    row.check_stderr("kdelta", &said);
}

#[test]
fn a_version_that_the_server_has_not_come_to_ends_it_at_once_with_both() {
    let env = TestEnv::new();
    let Some(testbed) = env.own_server() else { return };
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let (before, asked) = (latest(&api, &namespace), "987654321");
    let watch = ["watch", "cm", "-n", &namespace, "--resource-version", asked];
    let error = env.kdelta_on(&testbed, &watch).finish().failure(1);
    let wanted = format!(
        "Error from server (Timeout): version {asked} is newer than the server's, so it is of another cluster or of a time before a restore (Too large resource version: {asked}, current: "
    );
    let rest = error.strip_prefix(&wanted).unwrap_or_else(|| panic!("{error}"));
    let current: u64 = rest.split(')').next().and_then(|number| number.parse().ok()).expect("a version");
    assert!((before..before + 1000).contains(&current), "{current} after {before}");
    let lines = env.kdelta_on(&testbed, &[&watch[..], &["-o", "json"]].concat()).finish();
    let line: Value = serde_json::from_str(&lines.stdout).expect("one line");
    assert_eq!((lines.code, &line["type"]), (1, &json!("ERROR")), "{line}");

    for wrong in ["abc", "0", "017", "1e3", ""] {
        let word = format!("--resource-version={wrong}");
        let error = env.kdelta_on(&testbed, &["watch", "cm", &word]).finish().failure(2);
        assert!(error.starts_with("error: --resource-version must be the version to go on after"), "{error}");
        assert!(error.contains(&format!("a number above 0, not {wrong:?}")), "{error}");
    }
}
