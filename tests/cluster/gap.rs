//! A watch that was cut and missed changes: it continues and reports the net difference once.

use serde_json::{Value, json};

use crate::support::{Api, OnServer, Proxy, TestEnv, config_maps};

/// Returns the type, the name, and whether the delete was inferred.
fn summary(line: &Value) -> (String, String, bool) {
    let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
    (text("type"), text("name"), line["finalStateUnknown"] == true)
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn gap_reports_the_net_difference_once() {
    let env = TestEnv::new();
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let path = config_maps(&namespace);
    for name in ["kept", "changed", "gone", "reborn"] {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let old_uid = api.get(&format!("{path}/reborn"))["metadata"]["uid"].clone();

    let mut proxy = Proxy::before(testbed.port());
    let config = env.kubeconfig(&testbed, "admin", &namespace, proxy.port());
    let running = env.kdelta(&["watch", "cm", "-o", "json"]).env("KUBECONFIG", config).start();
    let initial = running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    assert_eq!(initial.len(), 5, "four objects and the mark");

    proxy.cut();
    running.stderr.find("the loss", |line| line.contains("lost"));
    api.patch(&format!("{path}/changed"), &json!({"data": {"n": "1"}}));
    api.patch(&format!("{path}/changed"), &json!({"data": {"n": "2"}}));
    api.delete(&format!("{path}/gone"));
    api.create_config_map(&namespace, "fresh", &json!({}));
    api.create_config_map(&namespace, "never-seen", &json!({}));
    api.delete(&format!("{path}/never-seen"));
    api.delete(&format!("{path}/reborn"));
    let new_uid = api.create_config_map(&namespace, "reborn", &json!({}))["metadata"]["uid"].clone();
    testbed.stop();
    // A restarted server has no history: it responds to the watch with 410.
    let testbed = env.own_server();
    proxy.reopen();

    let gap = running.stdout.json_until("GAP", |line| line["type"] == "GAP");
    assert_eq!(gap.len(), 1, "nothing before the GAP: {gap:#?}");
    assert!(
        gap[0]["from"].is_string() && gap[0]["to"].is_string() && gap[0]["seconds"].is_number(),
        "{gap:#?}"
    );
    running.stderr.find("the recovery", |line| line.contains("re-listed"));
    Api::of(&testbed).create_config_map(&namespace, "marker", &json!({}));
    let mut lines = running.stdout.json_until("the marker", |line| line["name"] == "marker");
    let marker = lines.pop().expect("the marker");
    assert_eq!((&marker["type"], &marker["origin"]), (&json!("ADDED"), &json!("watch")));

    assert!(lines.iter().all(|line| line["origin"] == "relist"), "{lines:#?}");
    let of_reborn: Vec<_> =
        lines.iter().filter(|line| line["name"] == "reborn").map(|line| &line["uid"]).collect();
    assert_eq!(of_reborn, [&old_uid, &new_uid], "the old one goes before the new one comes");
    let mut summary: Vec<_> = lines.iter().map(summary).collect();
    summary.sort();
    let expected = [
        ("ADDED", "fresh", false),
        ("ADDED", "reborn", false),
        ("DELETED", "gone", true),
        ("DELETED", "reborn", true),
        ("MODIFIED", "changed", false),
    ];
    assert_eq!(
        summary,
        expected.map(|(change, name, inferred)| (change.to_owned(), name.to_owned(), inferred))
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn cut_without_missed_changes_prints_nothing() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({}));
    let mut proxy = Proxy::before(testbed.port());
    let config = env.kubeconfig(testbed, "admin", &namespace, proxy.port());
    let running = env.kdelta(&["watch", "cm", "-o", "json"]).env("KUBECONFIG", config).start();
    running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    proxy.cut();
    running.stderr.find("the loss", |line| line.contains("lost"));
    api.create_config_map(&namespace, "b", &json!({}));
    proxy.reopen();
    let lines = running.stdout.json_until("b", |line| line["name"] == "b");
    assert_eq!(lines.len(), 1, "the old version is still served, so nothing was lost: {lines:#?}");
    assert_eq!((&lines[0]["type"], &lines[0]["origin"]), (&json!("ADDED"), &json!("watch")));
    running.stderr.find("the recovery", |line| line.contains("resumed"));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn requested_end_summarizes_the_losses() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let mut proxy = Proxy::before(testbed.port());
    let config = env.kubeconfig(testbed, "admin", &namespace, proxy.port());
    let watch = ["watch", "cm", "-o", "json", "--count", "1"];
    let mut running = env.kdelta(&watch).env("KUBECONFIG", &config).start();
    running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    running.signal("USR1");
    running.stderr.find("what was counted", |line| line.contains("0 received, 0 printed"));
    proxy.cut();
    running.stderr.find("the loss", |line| line.contains("lost"));
    proxy.reopen();
    running.stderr.find("the recovery", |line| line.contains("resumed"));
    api.create_config_map(&namespace, "a", &json!({}));
    assert_eq!(running.wait(), 0);
    running.stderr.find("the summary", |line| {
        line == "1 received, 1 printed, 0 suppressed, 0 coalesced, 1 reconnect, 0 relists\n"
    });
    // Without losses a script gets no summary.
    let done = env.kdelta_on(testbed, &[&watch[..], &["-n", &namespace]].concat()).finish();
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
}
