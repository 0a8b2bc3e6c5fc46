//! A server whose resource versions went back because it was restored from a backup. It does not respond to a watch
//! from a version it has not reached, and has lost changes that the watch reported.

use std::path::{Path, PathBuf};
use std::process::Command;

use kdelta::recording::Moment;
use serde_json::{Value, json};

use super::recovery::{Row, summary};
use super::watches::many::{contexts, create_namespace};
use crate::support::{
    Api, Fault, FaultProxy, OnServer, Proxy, TestEnv, Testbed, config_maps, eventually, open_recording,
    recorded_objects, recorded_resource,
};

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().expect("cp");
    assert!(copied.success(), "{} to {}", from.display(), to.display());
}

/// Stops the server and starts it again on the backup.
fn restore(env: &TestEnv, testbed: Testbed, backup: &Path) -> Testbed {
    let data = testbed.state().join("etcd");
    testbed.stop();
    std::fs::remove_dir_all(&data).expect("it was there");
    copy(backup, &data);
    env.own_server()
}

/// Returns the server's resource version, from a list.
fn latest(api: &Api, namespace: &str) -> u64 {
    let list = api.get(&format!("{}?limit=1", config_maps(namespace)));
    list["metadata"]["resourceVersion"].as_str().and_then(|version| version.parse().ok()).expect("a version")
}

/// Starts a server, copies its state, and writes so much after the copy that a server restored from it stays behind:
/// `before` creates the objects in the copy, including `changed`, and `since` the later ones.
fn server_ahead_of_backup(
    env: &TestEnv,
    namespace: &str,
    before: impl FnOnce(&Api),
    since: impl FnOnce(&Api),
) -> (Testbed, PathBuf) {
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    create_namespace(&api, namespace, &json!({}));
    before(&api);
    let backed_up = latest(&api, namespace);
    let (data, backup) = (testbed.state().join("etcd"), env.home().join("backup"));
    testbed.stop();
    copy(&data, &backup);
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    let own = latest(&api, namespace).saturating_sub(backed_up);
    let enough = backed_up + 3 * own + 100;
    for n in 0.. {
        api.patch(&format!("{}/changed", config_maps(namespace)), &json!({"data": {"n": n.to_string()}}));
        if latest(&api, namespace) > enough {
            break;
        }
    }
    since(&api);
    (testbed, backup)
}

const NAMESPACE: &str = "restored";

/// Prepares a server with one object modified, one deleted and one created since the copy.
fn with_changes(env: &TestEnv, namespace: &str) -> (Testbed, PathBuf) {
    let before = |api: &Api| {
        for name in ["changed", "gone", "kept"] {
            api.create_config_map(namespace, name, &json!({}));
        }
    };
    let since = |api: &Api| {
        api.delete(&format!("{}/gone", config_maps(namespace)));
        api.create_config_map(namespace, "made", &json!({}));
    };
    server_ahead_of_backup(env, namespace, before, since)
}

/// The lines after the restore; those after the gap in any order.
const DIFFERENCE: [&str; 4] = ["GAP", "ADDED gone relist", "DELETED made* relist", "MODIFIED changed relist"];

/// Returns the summaries of these lines, with the differences sorted.
fn sorted(lines: &[Value]) -> Vec<String> {
    let mut found: Vec<String> = lines.iter().map(summary).collect();
    found[1..].sort();
    found
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn restored_server_is_relisted_and_differences_are_reported() {
    let row = Row::of_this_test();
    let env = TestEnv::new();
    let (testbed, backup) = with_changes(&env, NAMESPACE);
    let namespace = NAMESPACE;
    let mut proxy = Proxy::before(testbed.port());
    let config = env.kubeconfig(&testbed, "admin", namespace, proxy.port());
    let running = env.kdelta(&["watch", "cm", "-o", "json"]).env("KUBECONFIG", &config).start();
    let synced = running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED").pop();
    let before: u64 = synced
        .and_then(|line| line["resume"].as_str().map(str::to_owned))
        .and_then(|version| version.parse().ok())
        .expect("a version");
    proxy.cut();
    let mut output = vec![running.stderr.find("the loss", |line| line.contains("lost"))];
    let testbed = restore(&env, testbed, &backup);
    let api = Api::of(&testbed);
    assert!(latest(&api, namespace) < before, "it has come too far again: {before}");
    proxy.reopen();

    let mut lines = running.stdout.json_until("GAP", |line| line["type"] == "GAP");
    let version = |field: &str| -> Option<u64> { lines[0][field].as_str()?.parse().ok() };
    assert!(version("from") == Some(before) && version("to") < version("from"), "{lines:#?}");
    output.push(running.stderr.find("why", |line| !line.contains("lost")));
    output.push(running.stderr.find("the recovery", |line| line.contains("re-listed")));
    api.create_config_map(namespace, "after", &json!({}));
    lines.extend(running.stdout.json_until("what comes after", |line| line["name"] == "after"));
    let after = lines.pop().expect("it was found");
    assert_eq!(summary(&after), "ADDED after watch", "{lines:#?}");
    assert_eq!(sorted(&lines), DIFFERENCE);
    output.retain(|line| !line.contains("refused"));
    row.check_stderr("kdelta", &output);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn restarted_recorder_lists_a_restored_server_again() {
    let env = TestEnv::new();
    let (testbed, backup) = with_changes(&env, NAMESPACE);
    let dir = env.home().join("recordings");
    let record = ["record", "cm", "-n", NAMESPACE, "--to", dir.to_str().expect("text")];
    let done = env.kdelta_on(&testbed, &[&record[..], &["--until-synced"]].concat()).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let names = || {
        let recording = open_recording(&dir);
        let state = recording.state(Moment::End).ok()?;
        let objects = recorded_objects(&state, &recorded_resource(&recording, "configmaps"));
        Some(objects.into_keys().collect::<Vec<_>>())
    };
    let end = open_recording(&dir).end().expect("an end");
    let testbed = restore(&env, testbed, &backup);
    let mut running = env.kdelta_on(&testbed, &record).start();
    let reason = "configmaps: the server's versions went back from ";
    running.stderr.find("the reason", |line| line.starts_with(reason));
    running.stderr.find("the recovery", |line| line.contains("re-listed"));
    Api::of(&testbed).create_config_map(NAMESPACE, "after", &json!({}));
    let expected = ["after", "changed", "gone", "kept"].map(|name| format!("{NAMESPACE}/{name}"));
    eventually("the objects of the server", || (names()? == expected).then_some(()));
    running.signal("TERM");
    assert_eq!(running.wait(), 143);
    // Nothing was observed since the last entry of the first recorder.
    let gaps = open_recording(&dir).gaps().expect("gaps");
    let of_type = gaps.iter().find(|gap| gap.resource.is_some()).expect("a gap of the config maps");
    let early = end.duration_since(of_type.from).as_millis();
    assert!((0..=1).contains(&early), "{gaps:?} after {end}");
    // The next recorder continues from the versions of the restored server.
    let done = env.kdelta_on(&testbed, &[&record[..], &["--duration", "2s"]].concat()).finish();
    assert!(done.code == 0 && !done.stderr.contains("went back"), "{}", done.stderr);
    assert!(done.stderr.trim_end().ends_with(", 0 gaps"), "{}", done.stderr);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn only_the_restored_one_of_several_clusters_is_relisted() {
    let OnServer { env, testbed: stays, api, namespace } = TestEnv::on_server();
    let (goes, backup) = with_changes(&env, &namespace);
    // Both clusters use the same names, so mixed-up clusters would show.
    for name in ["changed", "gone", "made"] {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let config = contexts(&env, &[("stays", stays), ("goes", &goes)]);
    let watch = ["watch", "cm", "-n", &namespace, "--context", "stays,goes", "-o", "json"];
    let running = env.kdelta(&watch).env("KUBECONFIG", &config).start();
    let mut synced = 0;
    running.stdout.json_until("both", |line| {
        synced += usize::from(line["type"] == "SYNCED");
        synced == 2
    });
    let lost = |line: &str| line.starts_with("goes: configmaps: lost: ");
    // Both clusters report changes all the time.
    let goes = std::thread::scope(|scope| {
        let restored = scope.spawn(|| restore(&env, goes, &backup));
        running.stderr.find("the loss", lost);
        api.create_config_map(&namespace, "meanwhile", &json!({}));
        restored.join().expect("no panic")
    });
    // An object created before the list would be in it.
    running.stderr.find("the recovery", |line| line.starts_with("goes: ") && line.contains("re-listed"));
    Api::of(&goes).create_config_map(&namespace, "after", &json!({}));
    api.create_config_map(&namespace, "after", &json!({}));
    let mut after = 0;
    let lines = running.stdout.json_until("what comes after", |line| {
        after += usize::from(line["name"] == "after");
        after == 2
    });
    let (mut goes, stays): (Vec<Value>, Vec<Value>) =
        lines.into_iter().partition(|line| line["context"] == "goes");
    assert_eq!(
        stays.iter().map(summary).collect::<Vec<_>>(),
        ["ADDED meanwhile watch", "ADDED after watch"],
        "{stays:#?}"
    );
    let after = goes.pop().expect("it was found");
    assert_eq!(summary(&after), "ADDED after watch", "{goes:#?}");
    assert_eq!(sorted(&goes), DIFFERENCE);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn index_filter_reports_objects_that_a_restore_moves_across_it() {
    let env = TestEnv::new();
    let [front, back] = ["front", "back"].map(|tier| json!({"tier": tier}));
    let objects =
        [("changed", &front), ("kept", &front), ("left", &front), ("came", &back), ("outside", &back)];
    let before = |api: &Api| {
        for (name, labels) in objects {
            api.create_config_map(NAMESPACE, name, labels);
        }
    };
    let since = |api: &Api| {
        for (name, labels) in [("left", &back), ("came", &front), ("outside", &back)] {
            let path = format!("{}/{name}", config_maps(NAMESPACE));
            api.patch(&path, &json!({"metadata": {"labels": labels}, "data": {"n": "1"}}));
        }
        api.create_config_map(NAMESPACE, "made", &front);
    };
    let (testbed, backup) = server_ahead_of_backup(&env, NAMESPACE, before, since);
    let watch = ["watch", "cm", "-n", NAMESPACE, "--by", "label:tier=front", "-o", "json"];
    let running = env.kdelta_on(&testbed, &watch).start();
    let lines = running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    let names: Vec<&str> = lines.iter().filter_map(|line| line["name"].as_str()).collect();
    assert_eq!(names, ["came", "changed", "kept", "made"]);
    let testbed = restore(&env, testbed, &backup);
    // An object created before the list would be in it.
    running.stderr.find("the recovery", |line| line.contains("re-listed"));
    Api::of(&testbed).create_config_map(NAMESPACE, "after", &front);
    let mut lines = running.stdout.json_until("what comes after", |line| line["name"] == "after");
    let after = lines.pop().expect("it was found");
    assert_eq!(summary(&after), "ADDED after watch", "{lines:#?}");
    assert_eq!(
        sorted(&lines),
        [
            "GAP",
            "ADDED left relist",
            "DELETED came* relist",
            "DELETED made* relist",
            "MODIFIED changed relist"
        ]
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn resume_from_a_future_version_fails_with_both_versions() {
    let env = TestEnv::new();
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let (before, requested) = (latest(&api, &namespace), "987654321");
    let watch = ["watch", "cm", "-n", &namespace, "--resource-version", requested];
    let error = env.kdelta_on(&testbed, &watch).finish().failure(1);
    let expected = format!(
        "Error from server (Timeout): version {requested} is newer than the server's: it belongs to another cluster, or the server was restored from a backup (Too large resource version: {requested}, current: "
    );
    let rest = error.strip_prefix(&expected).unwrap_or_else(|| panic!("{error}"));
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

/// A busy server takes seconds for a most-recent read.
#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn early_watch_ends_are_checked_against_the_watch_cache_only() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let proxy = FaultProxy::before(testbed);
    let config = proxy.kubeconfig(&env, &namespace);
    for (arguments, scope) in [(&["-n", &*namespace][..], &*namespace), (&["-A"], "default")] {
        let watch = env
            .kdelta(&[&["watch", "cm", "-o", "json"], arguments].concat())
            .env("KUBECONFIG", &config)
            .start();
        watch.stdout.json_until("the sync", |line| line["type"] == "SYNCED");
        eventually("the watch stands", || (proxy.open_watches() == 1).then_some(()));
        let name = format!("of-{scope}");
        api.create_config_map(&namespace, &name, &json!({}));
        watch.stdout.json_until("the change", |line| line["name"] == *name);
        let _before = proxy.take_requests();
        proxy.inject(Fault::End);
        let next = format!("{name}-next");
        api.create_config_map(&namespace, &next, &json!({}));
        watch.stdout.json_until("the next change", |line| line["name"] == *next);
        let requests = proxy.take_requests();
        let [lists, watches] = [false, true].map(|is_watch| {
            requests
                .iter()
                .filter(move |target| target.contains("watch=true") == is_watch)
                .collect::<Vec<_>>()
        });
        let memory = format!(
            "/api/v1/namespaces/{scope}/configmaps?fieldSelector=metadata.name%3Dkdelta&limit=1&resourceVersion=0"
        );
        assert!(lists.iter().all(|target| target.ends_with(&memory)) && !lists.is_empty(), "{requests:?}");
        assert!(!watches.is_empty(), "{requests:?}");
    }
}
