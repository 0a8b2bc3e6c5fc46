//! `kdelta serve` with kubectl and client-go as clients.

use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::{Timestamp, ToSpan};
use kdelta::lines::ChangeKind;
use serde_json::json;

use super::{fill, masked, record, resource};
use crate::support::{Kdelta, OnServer, Recorder, ServedRecording, TestEnv, kubectl, synced, tool};

/// Runs kubectl and returns its exit code and both its output streams.
fn run(home: &Path, kubeconfig: &str, namespace: &str, line: &str) -> String {
    let mut command = Command::new(kubectl());
    command.args(["--kubeconfig", kubeconfig, "-n", namespace]).args(line.split(' '));
    // Each server has its own HOME, where kubectl caches discovery.
    let ended = Kdelta::other(command).env("HOME", home).finish();
    format!("{}: {}{}", ended.code, ended.stdout, ended.stderr)
}

/// Asserts that kubectl prints the same with both servers. Returns the home of the served one.
fn assert_same_output(on: &OnServer, served: &ServedRecording) -> PathBuf {
    let OnServer { env, testbed, namespace, .. } = on;
    let [real, past] = ["real", "served"].map(|name| env.home().join(name));
    for home in [&real, &past] {
        std::fs::create_dir_all(home).expect("a folder");
    }
    let mut differences = Vec::new();
    for line in [
        "version",
        "api-versions",
        "api-resources",
        "get pods",
        "get po -o wide",
        "get pods --chunk-size=1",
        "get pod web-1 -o json",
        "get pod web-1 -o yaml",
        "get deploy,cm,events",
        "get events.events.k8s.io",
        "get events.events.k8s.io -o json --field-selector regarding.name=web-1",
        "get pods -l app=web -L app --show-labels",
        "get pods --field-selector metadata.name=web-2 -o name",
        "get pods --sort-by=.metadata.name -o custom-columns=N:.metadata.name",
        "get pod missing",
        "get pods -w --request-timeout=1s",
        "describe pod web-1",
        "describe deploy web",
        "describe cm settings",
        "events",
        "events --for pod/web-1",
        "explain pods.spec.containers",
        "explain deployment --recursive",
        "auth can-i list pods",
        "get --raw /version",
    ] {
        let expected = run(&real, testbed.kubeconfig(), namespace, line);
        let actual = run(&past, served.kubeconfig(), namespace, line);
        if masked(&actual) != masked(&expected) {
            differences.push(format!("kubectl {line}\nserver {expected}\nserved {actual}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    past
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn kubectl_prints_what_it_prints_on_the_server() {
    let on = TestEnv::on_server();
    fill(&on);
    let OnServer { env, namespace, .. } = &on;
    let dir = env.home().join("rec");
    record(&on, &dir);
    let served = ServedRecording::start(env, &["--from", dir.to_str().expect("UTF-8")]);
    let past = assert_same_output(&on, &served);
    for (line, expected) in [
        ("delete pod web-1", "1: Error from server (MethodNotAllowed): a recording is read-only\n"),
        ("label pod web-1 a=b", "1: Error from server (MethodNotAllowed): a recording is read-only\n"),
        ("auth can-i delete pods", "1: no - a recording is read-only\n"),
        (
            "auth can-i list secrets",
            "1: no - secrets was not recorded: the recording has configmaps, events, pods, deployments.apps, replicasets.apps\n",
        ),
        ("logs web-1", "1: Error from server (MethodNotAllowed): a recording has no logs\n"),
        ("exec web-1 -- sh", "1: error: unable to upgrade connection: a recording can't run commands\n"),
    ] {
        assert_eq!(run(&past, served.kubeconfig(), namespace, line), expected, "{line}");
    }
    let refused = run(&past, served.kubeconfig(), namespace, "get secrets");
    assert!(
        refused.contains("secrets was not recorded: the recording has configmaps, events, pods"),
        "{refused}"
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn kubectl_reads_a_recording_without_documents() {
    let env = TestEnv::new();
    let beginning: Timestamp = "2026-11-24T03:00:00Z".parse().expect("a time");
    let events = resource("", "events", "Event");
    let mut recorder = Recorder::new(&env.home().join("rec"), "test", beginning);
    let event = json!({
        "metadata": {"name": "e", "namespace": "n", "uid": "u", "resourceVersion": "100"},
        "involvedObject": {"kind": "Pod", "name": "web"}, "message": "no image", "reason": "Failed", "type": "Warning",
    });
    recorder.json(ChangeKind::Added, &events, &event, beginning);
    recorder.mark(synced(100), &events, beginning);
    recorder.finish(beginning.checked_add(1.minutes()).expect("a time"));
    let served = ServedRecording::start(&env, &["--from", "rec"]);
    let run = |line: &str| run(env.home(), served.kubeconfig(), "n", line);
    let version = run("version");
    assert!(version.contains("Server Version: v0.0.0-kdelta-recording\n"), "{version}");
    assert_eq!(run("get events.events.k8s.io -o jsonpath={.items[*].note}"), "0: no image");
    assert_eq!(run("get events -o jsonpath={.items[*].message}"), "0: no image");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn kubectl_prints_the_same_with_a_live_mirror() {
    let on = TestEnv::on_server();
    fill(&on);
    let OnServer { env, testbed, namespace, api } = &on;
    let types = "pods,configmaps,events,deployments,replicasets";
    let arguments = ["--follow", types, "-n", namespace, "--kubeconfig", testbed.kubeconfig()];
    let served = ServedRecording::start(env, &arguments);
    let home = assert_same_output(&on, &served);
    for (line, expected) in [
        ("delete pod web-1", "1: Error from server (MethodNotAllowed): a mirror is read-only\n"),
        ("label pod web-1 a=b", "1: Error from server (MethodNotAllowed): a mirror is read-only\n"),
        ("auth can-i delete pods", "1: no - a mirror is read-only\n"),
    ] {
        assert_eq!(run(&home, served.kubeconfig(), namespace, line), expected, "{line}");
    }
    let refused = run(&home, served.kubeconfig(), namespace, "get secrets");
    assert!(refused.contains("secrets is not mirrored: the mirror has"), "{refused}");
    let mut command = Command::new(kubectl());
    command.args(["--kubeconfig", served.kubeconfig(), "-n", namespace]);
    command.args(["get", "pods", "-w", "--output-watch-events", "--no-headers"]);
    let watch = Kdelta::other(command).env("HOME", &home).start();
    watch.stdout.find("the initial state", |line| line.starts_with("ADDED") && line.contains("web-2"));
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let spec = json!({"containers": [{"name": "c", "image": "registry/web:1"}]});
    api.create(&pods, &json!({"metadata": {"name": "web-3"}, "spec": spec}));
    watch.stdout.find("the creation", |line| line.starts_with("ADDED") && line.contains("web-3"));
    api.patch(&format!("{pods}/web-3"), &json!({"metadata": {"labels": {"a": "b"}}}));
    watch.stdout.find("the update", |line| line.starts_with("MODIFIED") && line.contains("web-3"));
    api.delete(&format!("{pods}/web-3?gracePeriodSeconds=0"));
    watch.stdout.find("the deletion", |line| line.starts_with("DELETED") && line.contains("web-3"));
    let mut informer = tool();
    informer.args(["informer", "--kubeconfig", served.kubeconfig(), "-n", namespace, "--watch-list=true"]);
    let informer = Kdelta::other(informer).start();
    informer.stdout.json_until("the sync", |line| line["type"] == "SYNCED");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn client_go_informer_follows_a_replay_and_a_move() {
    // Needed only for the testbed's informer.
    let OnServer { env, .. } = TestEnv::on_server();
    let dir = env.home().join("rec");
    let beginning: Timestamp = "2026-11-24T03:00:00Z".parse().expect("a time");
    let pods = resource("", "pods", "Pod");
    let mut recorder = Recorder::new(&dir, "test", beginning);
    let pod = |version: u64| json!({"metadata": {"name": "web", "namespace": "n", "uid": "u", "resourceVersion": version.to_string()}});
    recorder.json(ChangeKind::Added, &pods, &pod(100), beginning);
    recorder.mark(synced(100), &pods, beginning);
    for round in 1..=12 {
        let time = beginning.checked_add((30 * round).seconds()).expect("a time");
        recorder.json(
            ChangeKind::Modified,
            &pods,
            &pod(100 + u64::try_from(round).expect("a version")),
            time,
        );
    }
    recorder.finish(beginning.checked_add(10.minutes()).expect("a time"));
    let arguments = ["--from", "rec", "--since", "2026-11-24T03:00:00Z", "--speed", "60"];
    let served = ServedRecording::start(&env, &arguments);
    for flags in [&["--watch-list=true"][..], &["--watch-list=false"]] {
        let mut informer = tool();
        informer.args(["informer", "--kubeconfig", served.kubeconfig(), "-n", "n"]).args(flags);
        let informer = Kdelta::other(informer).start();
        informer.stdout.json_until("the sync", |line| line["type"] == "SYNCED");
        let words = ["serve", "--move-to", "2026-11-24T03:00:00Z", "--kubeconfig", served.kubeconfig()];
        env.kdelta(&words).finish().quiet_success();
        let lines = informer.stdout.json_until("the last change", |line| line["resourceVersion"] == "112");
        let seen: Vec<u64> =
            lines.iter().filter_map(|line| line["resourceVersion"].as_str()?.parse().ok()).collect();
        // The relist after the move takes about a second, in which the replay goes on.
        let start = seen.iter().rposition(|version| *version < 106).map_or(0, |at| at + 1);
        let tail: Vec<u64> = seen[start..].to_vec();
        assert_eq!(tail, (tail[0]..=112).collect::<Vec<_>>(), "{flags:?}: {seen:?}");
        assert!(tail.len() > 2, "{flags:?}: {seen:?}");
    }
}
