//! The history of an object of the real server, with the authors that it names.

use jiff::Timestamp;
use kdelta::api::Client;
use kdelta::kubeconfig::{Config, ConfigOptions};
use serde_json::{Value, json};

use super::resource;
use crate::support::{OnServer, Recorder, TestEnv};

/// Changes the config map twice, deletes it and creates it again: five events. Within one second, the last manager in the
/// order of the alphabet is taken for the author.
fn change(on: &OnServer) {
    let path = format!("/api/v1/namespaces/{}/configmaps", on.namespace);
    on.api.create(&format!("{path}?fieldManager=argocd"), &settings("1"));
    on.api.patch(&format!("{path}/settings?fieldManager=helm"), &json!({"data": {"limit": "2"}}));
    on.api.patch(&format!("{path}/settings?fieldManager=kubectl-edit"), &json!({"data": {"limit": "3"}}));
    on.api.delete(&format!("{path}/settings"));
    on.api.create(&format!("{path}?fieldManager=argocd"), &settings("4"));
}

fn settings(limit: &str) -> Value {
    json!({"metadata": {"name": "settings"}, "data": {"limit": limit}})
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn versions_have_the_authors_that_the_server_names() {
    let on = TestEnv::on_server();
    let dir = on.env.home().join("rec");
    let config = ConfigOptions::default().kubeconfig(Some(on.testbed.kubeconfig().into()));
    let client = Client::new(&Config::load(&config).expect("a config")).expect("a client");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let config_maps = resource("", "configmaps", "ConfigMap");
    let mut recorder = Recorder::new(&dir, "test", Timestamp::now());
    let version = runtime.block_on(async {
        recorder.documents_of(&client, Timestamp::now()).await;
        recorder.list_of(&client, &config_maps, &on.namespace).await
    });
    change(&on);
    runtime.block_on(recorder.events_of(&client, &config_maps, &on.namespace, version, 5));
    recorder.finish(Timestamp::now());
    let dir = dir.to_str().expect("UTF-8");
    let words = ["history", "cm/settings", "-n", &on.namespace, "--from", dir, "--no-headers"];
    let text = on.env.kdelta(&words).finish().quiet_success();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let shown: Vec<String> = rows
        .iter()
        .map(
            |row| if row[0].starts_with("data") { row.join(" ") } else { row[1..row.len().min(4)].join(" ") },
        )
        .collect();
    assert_eq!(
        shown,
        [
            "ADDED argocd created",
            "MODIFIED helm",
            "data.limit: 1 → 2",
            "MODIFIED kubectl-edit",
            "data.limit: 2 → 3",
            "DELETED - deleted",
            "ADDED argocd re-created",
        ],
        "{text}"
    );
    let all = ["changes", "-n", &on.namespace, "--from", dir, "--brief"];
    let text = on.env.kdelta(&all).finish().quiet_success();
    assert!(text.contains("configmap/settings: deleted and created again; changed 2 times"), "{text}");
    let replay = ["watch", "cm", "-n", &on.namespace, "--from", dir, "--until", "-0s", "-o", "name"];
    let names = on.env.kdelta(&replay).finish().stdout;
    assert_eq!(names.lines().filter(|name| *name == "configmap/settings").count(), 5, "{names}");
    let wait =
        ["wait", "cm/settings", "-n", &on.namespace, "--from", dir, "--for", "object.data.limit == '3'"];
    let found = on.env.kdelta(&wait).finish().quiet_success();
    assert!(found.starts_with("condition met: "), "{found}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn live_history_has_the_lines_of_a_watch() {
    let on = TestEnv::on_server();
    let created = on.api.create_config_map(&on.namespace, "settings", &json!({}));
    let created: u64 =
        created["metadata"]["resourceVersion"].as_str().expect("a version").parse().expect("a number");
    let lines = |words: &[&str]| {
        let flags = ["-n", &on.namespace, "-o", "json", "--duration", "1"];
        let ended = on.env.kdelta_on(on.testbed, &[words, &flags].concat()).finish();
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let line = |line: &str| {
            let mut line: Value = serde_json::from_str(line).expect("JSON");
            line["ts"] = Value::Null;
            if line["type"] == "SYNCED" {
                // Other tests write to the server between both commands.
                let number = |version: &Value| version.as_str().and_then(|text| text.parse::<u64>().ok());
                let version = number(&line["resourceVersion"]).expect("a version");
                assert!(version >= created, "{line}");
                assert_eq!(number(&line["resume"]), Some(version));
                assert_eq!(number(&line["object"]["metadata"]["resourceVersion"]), Some(version));
                (line["resourceVersion"], line["resume"]) = (Value::Null, Value::Null);
                line["object"]["metadata"]["resourceVersion"] = Value::Null;
            }
            line
        };
        ended.stdout.lines().map(line).collect::<Vec<_>>()
    };
    let history = lines(&["history", "cm/settings", "-w"]);
    assert_eq!(history, lines(&["watch", "cm/settings", "--changes"]));
    assert_eq!(history.len(), 2);
}
