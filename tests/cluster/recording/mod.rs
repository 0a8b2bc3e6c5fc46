//! A recording of the real server: every reading command prints what it prints on the server at that version.

mod history;
mod mirror;
mod serve;
mod tools;

use std::sync::Arc;

use jiff::Timestamp;
use kdelta::api::Client;
use kdelta::kubeconfig::{Config, ConfigOptions};
use kdelta::object::ApiResource;
use serde_json::{Value, json};

use crate::support::{OnServer, Recorder, TestEnv};

fn resource(group: &str, plural: &str, kind: &str) -> Arc<ApiResource> {
    let namespaced = plural != "customresourcedefinitions";
    let [group, version, resource, kind] = [group, "v1", plural, kind].map(str::to_owned);
    Arc::new(ApiResource { group, version, resource, kind, namespaced })
}

/// Creates objects that no controller changes: the server has none.
fn fill(on: &OnServer) {
    let OnServer { api, namespace, .. } = on;
    api.create_config_map(namespace, "settings", &json!({"app": "web"}));
    let pod = |name: &str| {
        json!({
            "metadata": {"name": name, "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "registry/web:1", "ports": [{"containerPort": 80}]}]},
        })
    };
    for name in ["web-1", "web-2"] {
        api.create(&format!("/api/v1/namespaces/{namespace}/pods"), &pod(name));
    }
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": pod("x")["spec"]});
    let deployment = json!({
        "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    });
    api.create(&format!("/apis/apps/v1/namespaces/{namespace}/deployments"), &deployment);
    let event = json!({
        "metadata": {"name": "web-1.1"}, "type": "Warning", "reason": "Failed", "message": "Failed to pull",
        "lastTimestamp": "2026-11-24T03:00:00Z", "count": 3, "source": {"component": "kubelet"},
        "involvedObject": {"kind": "Pod", "apiVersion": "v1", "name": "web-1", "namespace": namespace},
    });
    api.create(&format!("/api/v1/namespaces/{namespace}/events"), &event);
}

fn record(on: &OnServer, dir: &std::path::Path) {
    let config = ConfigOptions::default().kubeconfig(Some(on.testbed.kubeconfig().into()));
    let client = Client::new(&Config::load(&config).expect("a config")).expect("a client");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let now = Timestamp::now();
        let mut recorder = Recorder::new(dir, "test", now);
        recorder.documents_of(&client, now).await;
        for resource in [
            resource("", "pods", "Pod"),
            resource("", "configmaps", "ConfigMap"),
            resource("", "events", "Event"),
            resource("apps", "deployments", "Deployment"),
            resource("apps", "replicasets", "ReplicaSet"),
        ] {
            recorder.collection_of(&client, &resource, Some(&on.namespace), Timestamp::now()).await;
        }
        recorder.finish(Timestamp::now());
    });
}

/// Replaces ages, which pass between two commands, and the spaces after them.
fn masked(text: &str) -> String {
    let is_age = |word: &str| {
        word.len() > 1
            && word.starts_with(|first: char| first.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_digit() || "smhd".contains(c))
            && word.ends_with(['s', 'm', 'h', 'd'])
    };
    let mut masked = String::new();
    let mut follows_age = false;
    for word in text.split_inclusive([' ', '\n', '(', ')']) {
        let end = word.len() - usize::from(word.ends_with([' ', '\n', '(', ')']));
        match (is_age(&word[..end]), &word[end..]) {
            (true, " ") => {
                masked.push_str("AGE ");
                follows_age = true;
                continue;
            }
            (true, rest) => masked.extend(["AGE", rest]),
            (false, " ") if follows_age && end == 0 => continue,
            (false, _) => masked.push_str(word),
        }
        follows_age = false;
    }
    masked
}

#[test]
fn ages_are_masked_with_their_padding() {
    let shorter = "NAME  AGE   NODE\na     9s    n  x\nb (2m ago)\n";
    let longer = "NAME  AGE   NODE\na     12s   n  x\nb (3m ago)\n";
    assert_eq!(masked(shorter), masked(longer));
    assert_ne!(masked(shorter), masked("NAME  AGE   NODE\na     9s    n x\nb (2m ago)\n"));
    assert!(masked("10s6 2x a9s").contains("10s6 2x a9s"));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn commands_on_a_recording_equal_those_on_the_server() {
    let on = TestEnv::on_server();
    fill(&on);
    let dir = on.env.home().join("rec");
    record(&on, &dir);
    let dir = dir.to_str().expect("UTF-8");
    for line in [
        "get pods",
        "get po -o wide",
        "get pods web-1 -o json",
        "get pods -o yaml",
        "get pods -o json -l app=web",
        "get pods --field-selector metadata.name=web-2 -o name",
        "get deploy,cm,events",
        "get deploy web -o yaml",
        "get pods --show-labels",
        "get pods --sort-by metadata.name -L app",
        "get pods --by label:app=web",
        "index pods --by label:app",
        "tree deploy/web",
        "events",
        "events --for pod/web-1",
        "explain pods.spec.containers",
        "explain deployment --recursive",
        "api-versions",
        "api-resources",
        "version",
    ] {
        let words: Vec<&str> = line.split_whitespace().chain(["-n", &on.namespace]).collect();
        let live = on.env.kdelta_on(on.testbed, &words).finish().quiet_success();
        let past = on.env.kdelta(&[words.as_slice(), &["--from", dir]].concat()).finish().quiet_success();
        // Documents are equal byte for byte, tables apart from the ages.
        let is_document = line.contains("-o json") || line.contains("-o yaml");
        let shown = |text: &str| if is_document { text.to_owned() } else { masked(text) };
        assert_eq!(shown(&past), shown(&live), "{line}");
        assert!(!past.is_empty(), "{line}");
    }
    let watch = ["watch", "pods", "-o", "json", "-n", &on.namespace, "--from", dir];
    let lines = on.env.kdelta(&watch).finish().quiet_success();
    let types: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["type"].clone())
        .collect();
    assert_eq!(types, ["ADDED", "ADDED", "SYNCED"]);
}
