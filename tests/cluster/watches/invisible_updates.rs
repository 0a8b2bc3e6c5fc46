//! Updates without visible changes: hidden in output for people, and in output for programs only on request.

use serde_json::{Value, json};

use crate::support::{OnServer, PATIENCE, Running, TestEnv, config_maps};

fn words(running: &Running) -> Vec<String> {
    let line = running.stdout.within(PATIENCE).expect("a line");
    line.split_whitespace().take(3).map(str::to_owned).collect()
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn lease_renewals_are_hidden_and_holder_changes_shown() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
    let lease = format!("{leases}/l");
    api.create(&leases, &json!({"metadata": {"name": "l"}, "spec": {"holderIdentity": "one"}}));
    let start = |more: &[&str]| {
        env.kdelta_on(testbed, &[&["watch", "leases", "-n", &namespace], more].concat()).start()
    };
    let [quiet, all, json, ignoring, changes] = [
        &[][..],
        &["--show-all"],
        &["-o", "json"],
        &["-o", "json", "--ignore", "spec.renewTime"],
        &["--changes"],
    ]
    .map(start);
    for table in [&quiet, &all, &changes] {
        assert_eq!(words(table), ["EVENT", "NAME", "HOLDER"]);
        assert_eq!(words(table), ["ADDED", "l", "one"]);
    }
    for lines in [&json, &ignoring] {
        lines.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    }
    for second in 1..=3 {
        api.patch(&lease, &json!({"spec": {"renewTime": format!("2026-01-01T00:00:0{second}.000000Z")}}));
    }
    api.patch(&lease, &json!({"spec": {"holderIdentity": "two"}}));
    api.delete(&lease);

    for table in [&quiet, &changes] {
        assert_eq!(words(table), ["MODIFIED", "l", "two"]);
    }
    assert_eq!(words(&changes)[..2], ["spec.holderIdentity:", "one"]);
    assert_eq!(words(&quiet), ["DELETED", "l", "two"]);
    for _ in 0..3 {
        assert_eq!(words(&all), ["MODIFIED", "l", "one"]);
    }
    let reported = |running: &Running| {
        let lines = running.stdout.json_until("DELETED", |line| line["type"] == "DELETED");
        lines.iter().map(|line| line["object"]["spec"]["holderIdentity"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(reported(&json), ["one", "one", "one", "two", "two"]);
    assert_eq!(reported(&ignoring), ["two", "two"], "a delete is never passed over");
    quiet.signal("INT");
    let summary = quiet.stderr.within(PATIENCE).expect("a summary");
    assert!(summary.starts_with("6 received, 3 printed, 3 suppressed, "), "{summary}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn node_heartbeats_are_hidden() {
    let OnServer { env, testbed, api, namespace: name } = TestEnv::on_server();
    api.create("/api/v1/nodes", &json!({"metadata": {"name": name}}));
    let node = format!("/api/v1/nodes/{name}");
    let beat = |time: u8, status: &str| {
        let time = format!("2026-01-01T00:00:0{time}Z");
        let ready = json!({"type": "Ready", "status": status, "reason": "R", "message": "m", "lastHeartbeatTime": time, "lastTransitionTime": time});
        api.patch(&format!("{node}/status"), &json!({"status": {"conditions": [ready]}}));
    };
    beat(1, "True");
    let running = env.kdelta_on(testbed, &["watch", "nodes", &name]).start();
    assert_eq!(words(&running), ["EVENT", "NAME", "STATUS"]);
    assert_eq!(words(&running), ["ADDED", &name, "Ready"]);
    for time in 2..5 {
        beat(time, "True");
    }
    beat(5, "False");
    assert_eq!(words(&running), ["MODIFIED", &name, "NotReady"]);
    api.delete(&node);
    assert_eq!(words(&running), ["DELETED", &name, "NotReady"]);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn repeated_events_are_shown_each_time() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let events = format!("/api/v1/namespaces/{namespace}/events");
    let about = json!({"kind": "Pod", "name": "p", "namespace": namespace});
    api.create(&events, &json!({"metadata": {"name": "e"}, "involvedObject": about, "reason": "Back", "message": "off", "type": "Warning", "count": 1}));
    let running = env.kdelta_on(testbed, &["watch", "events", "-n", &namespace]).start();
    assert_eq!(words(&running)[0], "EVENT");
    assert_eq!(words(&running)[0], "ADDED");
    api.patch(&format!("{events}/e"), &json!({"count": 2}));
    assert_eq!(words(&running)[0], "MODIFIED");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn selected_paths_decide_about_updates() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({}));
    let watch = ["watch", "cm", "-n", &namespace, "--only", "data.n", "-o"];
    let formats = ["json", "name"].map(|format| {
        let running = env.kdelta_on(testbed, &[&watch[..], &[format]].concat()).start();
        running.stdout.find("the initial state", |line| line.contains("configmap") || line.contains("ADDED"));
        running
    });
    let path = format!("{}/a", config_maps(&namespace));
    api.patch(&path, &json!({"data": {"m": "1"}}));
    api.patch(&path, &json!({"metadata": {"annotations": {"x": "1"}}}));
    api.patch(&path, &json!({"data": {"n": "1"}}));
    api.delete(&path);
    let [lines, names] = &formats;
    let lines = lines.stdout.json_until("DELETED", |line| line["type"] == "DELETED");
    let updates: Vec<_> = lines.iter().filter(|line| line["type"] == "MODIFIED").collect();
    assert_eq!(updates.len(), 1, "{updates:#?}");
    assert_eq!(updates[0]["object"]["data"]["n"], "1");
    for _ in 0..2 {
        assert_eq!(
            names.stdout.within(PATIENCE).as_deref(),
            Some("configmap/a\n"),
            "the update and the delete"
        );
    }
}
