//! Five thousand pods: `get` and `index` compared with kubectl and a filter over its JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::{Value, json};

use crate::cluster::kubectl;
use crate::support::{Api, TestEnv, Testbed, tool};

const PODS: usize = 5_000;

fn stdout_of(mut command: Command) -> String {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Returns a table without its last column, AGE: two programs never run in the same second.
fn without_age(table: &str) -> Vec<&str> {
    table.lines().map(|line| line.trim_end().rsplit_once(' ').map_or(line, |(rest, _)| rest)).collect()
}

fn key(pod: &Value) -> String {
    let metadata = &pod["metadata"];
    format!("{}/{}", metadata["namespace"].as_str().unwrap_or(""), metadata["name"].as_str().unwrap_or(""))
}

fn without_managed_fields(mut pod: Value) -> Value {
    pod["metadata"].as_object_mut().expect("metadata").remove("managedFields");
    pod["kind"] = json!("Pod");
    pod["apiVersion"] = json!("v1");
    pod
}

/// Returns the keys that `get --by` prints, from its JSON.
fn keys_by(env: &TestEnv, testbed: &Testbed, by: &str) -> BTreeSet<String> {
    let arguments = ["get", "pods", "-A", "--by", by, "-o", "json"];
    let stdout = env.kdelta_on(testbed, &arguments).finish().quiet_success();
    let list: Value = serde_json::from_str(&stdout).expect("a List");
    list["items"].as_array().expect("items").iter().map(key).collect()
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn output_for_five_thousand_pods_equals_kubectls() {
    let env = TestEnv::new();
    let testbed = env.own_server();
    let mut load = tool();
    load.args([
        "load",
        "--kubeconfig",
        testbed.kubeconfig(),
        "--namespaces",
        "7",
        "--pods",
        &PODS.to_string(),
    ]);
    stdout_of(load);
    let list = Api::of(&testbed).get("/api/v1/pods");
    let pods: BTreeMap<String, Value> = list["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|pod| (key(pod), without_managed_fields(pod.clone())))
        .collect();
    assert_eq!(pods.len(), PODS);

    same_rows_as_kubectl(&env, &testbed);

    let ours = env.kdelta_on(&testbed, &["get", "pods", "-A", "-o", "json"]).finish().quiet_success();
    let ours: Value = serde_json::from_str(&ours).expect("a List");
    let items = ours["items"].as_array().expect("items");
    assert!(items.iter().all(|item| pods.get(&key(item)) == Some(item)), "the same objects as the server's");
    assert_eq!(items.len(), PODS);

    let keys_of = |predicate: &dyn Fn(&Value) -> bool| -> BTreeSet<String> {
        pods.iter().filter(|(_, pod)| predicate(pod)).map(|(key, _)| key.clone()).collect()
    };
    for (by, predicate) in [
        ("label:app=web", keys_of(&|pod| pod["metadata"]["labels"]["app"] == "web")),
        ("field:status.phase=Pending", keys_of(&|pod| pod["status"]["phase"] == "Pending")),
    ] {
        assert!(!predicate.is_empty(), "the load has pods for {by}");
        assert_eq!(keys_by(&env, &testbed, by), predicate, "{by}");
    }

    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in pods.values() {
        *counts.entry(pod["metadata"]["namespace"].as_str().expect("a namespace")).or_default() += 1;
    }
    let index =
        env.kdelta_on(&testbed, &["index", "pods", "-A", "--by", "namespace"]).finish().quiet_success();
    let mut rows: Vec<Vec<&str>> = index.lines().map(|line| line.split_whitespace().collect()).collect();
    rows.remove(0);
    let printed: BTreeMap<&str, usize> =
        rows.iter().map(|row| (row[0], row[1].parse().expect("a count"))).collect();
    assert_eq!(printed, counts);
    super::bytes::questions_take_few_bytes(&env, &testbed);
}

fn same_rows_as_kubectl(env: &TestEnv, testbed: &Testbed) {
    for arguments in [&["get", "pods", "-A"][..], &["get", "pods", "-n", "load-0", "-o", "wide"]] {
        let theirs = stdout_of(kubectl(testbed.kubeconfig(), arguments));
        let ours = env.kdelta_on(testbed, arguments).finish().quiet_success();
        if arguments.contains(&"wide") {
            let words = |table: &str| -> Vec<Vec<String>> {
                // Column 4 is AGE.
                let row = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
                table
                    .lines()
                    .map(row)
                    .map(|mut row| {
                        row.remove(4);
                        row
                    })
                    .collect()
            };
            assert_eq!(words(&ours), words(&theirs));
        } else {
            assert_eq!(without_age(&ours), without_age(&theirs));
        }
    }
    let name = ["get", "pods", "-A", "-o", "name"];
    let theirs = stdout_of(kubectl(testbed.kubeconfig(), &name));
    assert_eq!(env.kdelta_on(testbed, &name).finish().quiet_success(), theirs);
}
