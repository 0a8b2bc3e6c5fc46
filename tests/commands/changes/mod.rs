//! `kdelta changes`: summaries of a recording.

use serde_json::Value;

use crate::support::{Incident, TestEnv};

#[test]
fn groups_are_owners_and_the_most_important_is_first() {
    let text = Incident::new().run("changes").quiet_success();
    let mut lines = text.lines();
    let head = lines.next().expect("a head");
    assert!(
        head.starts_with("prod: 13 changes of 8 objects in 4 groups, 2026-11-24T03:00:00Z to "),
        "{text}"
    );
    let gap =
        "pods were not observed from 2026-11-24T03:30:00Z to 2026-11-24T03:40:00Z: changes may be missing";
    assert_eq!(lines.next(), Some(gap), "{text}");
    assert_eq!(
        lines.next().map(|line| line.split_whitespace().collect::<Vec<_>>()),
        Some(vec!["NAMESPACE", "OWNER", "STATE", "WHAT"])
    );
    let web = lines.next().expect("a group");
    assert!(
        web.starts_with("default     deployment.apps/web   unready    1 pod unready (CrashLoopBackOff)"),
        "{text}"
    );
    for part in [
        "1 restart (OOMKilled, exit code 137)",
        "spec.template.spec.containers[web].image: web:1 → web:2 (by helm)",
        "1 pod, 1 replicaset appeared",
        "2 pods vanished",
        "1 warning (BackOff)",
    ] {
        assert!(web.contains(part), "{part}: {web}");
    }
    let rest: Vec<&str> = lines.map(str::trim).collect();
    assert!(rest[0].starts_with("node/worker-1         unready    unready (NodeStatusUnknown)"), "{text}");
    assert!(rest[1].contains("configmap/settings    vanished   deleted;"), "{text}");
    assert!(rest[2].contains("pod/db-0              appeared   deleted and created again"), "{text}");
    assert_eq!(rest.len(), 3, "{text}");
}

#[test]
fn range_types_and_namespaces_select() {
    let incident = Incident::new();
    let owners = |line: &str| {
        let text = incident.run(&format!("changes --no-headers {line}")).quiet_success();
        let rows = text.lines().filter(|line| line.contains('/'));
        let owner = |row: &str| row.split_whitespace().find(|word| word.contains('/')).map(str::to_owned);
        rows.filter_map(owner).collect::<Vec<_>>()
    };
    assert_eq!(owners("--since 2026-11-24T03:49:00Z"), ["node/worker-1"]);
    assert_eq!(owners("--until 2026-11-24T03:11:00Z"), ["deployment.apps/web"]);
    assert_eq!(owners("cm no"), ["node/worker-1", "configmap/settings"]);
    assert_eq!(owners("--since -16m -n default"), ["configmap/settings"]);
    let ended = incident.run("changes -n kube-*,default --since -1m");
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 1), "{}", ended.stdout);
    assert_eq!(ended.stderr, "Warning: no object in the namespace \"kube-*\" was recorded\n");
    let ended = incident.run("changes -n kube-*");
    assert!(ended.code == 0 && ended.stdout.starts_with("prod: 0 changes of 0 objects"), "{}", ended.stdout);
    assert_eq!(ended.stderr, "Warning: no object in the namespace \"kube-*\" was recorded\n");
}

#[test]
fn document_has_stable_fields() {
    let text = Incident::new().run("changes -o json").quiet_success();
    let document: Value = serde_json::from_str(&text).expect("one document");
    assert_eq!(document["gaps"][0]["resource"], "pods");
    let web = &document["groups"][0];
    assert_eq!(
        [&web["kind"], &web["group"], &web["name"], &web["importance"]],
        ["Deployment", "apps", "web", "unready"]
    );
    assert_eq!(web["unready"], serde_json::json!({"pods": 1}));
    assert_eq!(web["restarts"], serde_json::json!({"OOMKilled, exit code 137": 1}));
    assert_eq!(web["vanished"], serde_json::json!({"pods": 2}));
    let lost =
        document["groups"].as_array().expect("groups").iter().find(|group| group["kind"] == "ConfigMap");
    assert_eq!(lost.map(|group| &group["deleted"]), Some(&true.into()));
}

#[test]
fn brief_is_short() {
    let text = Incident::new().run("changes --brief").quiet_success();
    assert!(text.len() <= 2048 && text.lines().count() == 6, "{text}");
    assert!(text.contains("default deployment.apps/web: 1 pod unready (CrashLoopBackOff)"), "{text}");
    assert!(text.contains("\nnode/worker-1: unready (NodeStatusUnknown)"), "{text}");
}

#[test]
fn what_was_not_recorded_is_an_error() {
    let incident = Incident::new();
    let error = incident.run("changes --until 2026-11-23T00:00:00Z").failure(1);
    assert!(error.contains("--until 2026-11-23T00:00:00Z is outside of the recording"), "{error}");
    let error = incident.run("changes pods,nopes").failure(1);
    assert!(error.contains("the server doesn't have a resource type \"nopes\""), "{error}");
    let error = incident.run("changes services").failure(1);
    assert!(error.contains("\"services\""), "{error}");
    for time in ["soon", "2026-11-24", "25:00"] {
        let error = incident.run(&format!("changes --since {time}")).failure(2);
        assert!(error.contains(&format!("invalid --since {time:?}: it takes a time such as")), "{error}");
        assert!(!error.contains("rv:"), "versions are refused: {error}");
    }
    let error = incident.run("changes --since rv:12").failure(2);
    assert!(error.contains("--since takes a time, not a version: --at takes versions"), "{error}");
    let error = incident.run("changes pod/web").failure(2);
    assert!(error.contains("changes takes types without names"), "{error}");
    let error = TestEnv::new().kdelta(&["changes", "--demo"]).finish().failure(2);
    assert!(error.contains("--from DIR reads a recording"), "{error}");
}
