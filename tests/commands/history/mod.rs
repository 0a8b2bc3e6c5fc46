//! `kdelta history`: the versions of objects in a recording, and of a live object.

use serde_json::Value;

use crate::support::{Incident, TestEnv};

#[test]
fn versions_have_times_authors_and_changes() {
    let text = Incident::new().run("history pod/web-2-c").quiet_success();
    let expected = "\
TIME                       EVENT      AUTHOR                    WHAT
2026-11-24T03:11:00.000Z   ADDED      kube-controller-manager   created
2026-11-24T03:12:00.000Z   MODIFIED   kubelet (status)          Ready: False → True
  status.conditions[Ready].reason: ContainersNotReady → \"\"
  status.conditions[Ready].status: False → True
2026-11-24T03:15:00.000Z   MODIFIED   kubelet (status)          container web restarted: 0 → 1 (OOMKilled, exit code 137); container web waits: CrashLoopBackOff; Ready: True → False (ContainersNotReady)
";
    assert!(text.starts_with(expected), "{text}");
    let gap = "── pods were not observed from 2026-11-24T03:30:00.000Z to 2026-11-24T03:40:00.000Z ──\n";
    assert!(text.ends_with(gap), "{text}");
}

#[test]
fn recreations_and_deletions_are_named() {
    let incident = Incident::new();
    let text = incident.run("history pod db-0 --no-headers --until 2026-11-24T03:29:00Z").quiet_success();
    assert_eq!(
        text,
        "\
2026-11-24T03:00:00.000Z   ADDED     -                         in the initial list
2026-11-24T03:20:00.000Z   DELETED   -                         deleted
2026-11-24T03:20:00.000Z   ADDED     kube-controller-manager   re-created 0s after the deletion, uid u-2
"
    );
    let text = incident.run("history cm/settings --since -20m").quiet_success();
    assert!(text.contains("MODIFIED   kubectl-edit") && text.contains("data.limit: 1 → 2"), "{text}");
    assert!(text.contains("DELETED    -              deleted"), "{text}");
}

#[test]
fn several_objects_share_one_order_of_time() {
    let text = Incident::new().run("history deploy/web node/worker-1 --no-headers").quiet_success();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("2026")).collect();
    let columns = |row: &str| row.split_whitespace().skip(1).take(4).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = rows.into_iter().map(columns).collect();
    assert_eq!(
        rows,
        [
            "deployment.apps/web in default ADDED",
            "node/worker-1 ADDED - in",
            "deployment.apps/web in default MODIFIED",
            "node/worker-1 MODIFIED kube-controller-manager (status)",
        ]
    );
}

#[test]
fn json_lines_have_managers_changes_and_gaps() {
    let text = Incident::new().run("history pod/web-2-c -o json --since -50m").quiet_success();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().expect("a type")).collect();
    assert_eq!(types, ["ADDED", "MODIFIED", "MODIFIED", "GAP"]);
    assert_eq!(lines[2]["manager"], "kubelet");
    assert_eq!(lines[2]["ts"], "2026-11-24T03:15:00.000Z");
    let changed: Vec<&str> =
        lines[1]["changes"].as_array().expect("changes").iter().filter_map(|c| c["path"].as_str()).collect();
    assert_eq!(changed, ["/status/conditions/0/reason", "/status/conditions/0/status"]);
    assert_eq!((&lines[3]["seconds"], &lines[3]["resource"]), (&600.0.into(), &"pods".into()));
}

#[test]
fn moment_is_the_end_of_the_history() {
    let text =
        Incident::new().run("history deploy/web --at 2026-11-24T03:05:00Z --no-headers").quiet_success();
    assert_eq!(text, "2026-11-24T03:00:00.000Z   ADDED   -     in the initial list\n");
}

#[test]
fn unknown_objects_and_ranges_are_errors() {
    let incident = Incident::new();
    let error = incident.run("history pod/none").failure(1);
    assert!(error.contains("pods \"none\" not found"), "{error}");
    let error = incident.run("history pod/db-0 --since -1m --until -2m").failure(2);
    assert!(error.contains("--until is before --since"), "{error}");
    let error = incident.run("history pods").failure(2);
    assert!(error.contains("history needs names: TYPE/NAME or TYPE NAME"), "{error}");
    let error = incident.run("history pod/web-*").failure(2);
    assert!(error.contains("history takes names, not patterns such as \"web-*\""), "{error}");
}

#[test]
fn range_without_versions_is_reported() {
    let ended = Incident::new().run("history cm/settings --since 2026-11-24T03:59:00Z");
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""));
    assert_eq!(ended.stderr, "No versions found in the range.\n");
}

#[test]
fn live_object_has_no_past() {
    let env = TestEnv::new();
    let error = env.kdelta(&["history", "deploy/web", "--demo"]).finish().failure(2);
    assert!(error.contains("a cluster keeps no earlier versions: --from DIR"), "{error}");
    let ended = env.kdelta(&["history", "deploy/web", "--demo", "-w", "--duration", "1"]).finish();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(
        ended.stdout.starts_with("TIME ") && ended.stdout.contains("in the initial list"),
        "{}",
        ended.stdout
    );
}
