//! `--where` on a real server: the same objects as those computed from kubectl's JSON, and crossings in a watch.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::cluster::kubectl;
use crate::support::{OnServer, TestEnv, config_maps};

/// Whether a pod, as kubectl prints it, matches.
type Oracle<'a> = &'a dyn Fn(&Value) -> bool;

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn expressions_select_what_kubectls_json_has() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    for number in 0..30 {
        let memory = ["512Mi", "1Gi", "1500M"][number % 3];
        let requests = if number % 5 == 0 { json!({}) } else { json!({"requests": {"memory": memory}}) };
        let labels = json!({"app": format!("a{}", number % 4)});
        let container =
            json!({"name": "c", "image": format!("registry.test/i:{number}"), "resources": requests});
        let pod = json!({"metadata": {"name": format!("p{number}"), "labels": labels}, "spec": {"containers": [container]}});
        api.create(&format!("/api/v1/namespaces/{namespace}/pods"), &pod);
    }
    let json = kubectl(testbed.kubeconfig(), &["get", "pods", "-n", &namespace, "-o", "json"]).output();
    let list: Value = serde_json::from_slice(&json.expect("kubectl runs").stdout).expect("a List");
    let pods = list["items"].as_array().expect("items");
    let memory = |pod: &Value| pod["spec"]["containers"][0]["resources"]["requests"]["memory"].clone();
    let cases: &[(&str, usize, Oracle<'_>)] = &[
        ("object.metadata.labels.app == 'a1'", 0, &|pod| pod["metadata"]["labels"]["app"] == "a1"),
        ("object.spec.containers.exists(c, c.image.matches(':[0-9]$'))", 0, &|pod| {
            let image = pod["spec"]["containers"][0]["image"].as_str().unwrap_or_default();
            image.len() == "registry.test/i:0".len()
        }),
        (
            "quantity(object.spec.containers[0].resources.requests.memory).isGreaterThan(quantity('1G'))",
            6,
            &|pod| ["1Gi", "1500M"].map(Value::from).contains(&memory(pod)),
        ),
        ("has(object.spec.containers[0].resources.requests)", 0, &|pod| !memory(pod).is_null()),
        (
            "object.metadata.?deletionTimestamp.hasValue() || object.spec.restartPolicy != 'Always'",
            0,
            &|_| false,
        ),
    ];
    for (expression, failed, matches) in cases {
        let expected: BTreeSet<String> = pods
            .iter()
            .filter(|pod| matches(pod))
            .map(|pod| format!("pod/{}", pod["metadata"]["name"].as_str().unwrap_or_default()))
            .collect();
        let words = ["get", "pods", "-n", &namespace, "-o", "name", "--where", expression];
        let found = env.kdelta_on(testbed, &words).finish();
        let names: BTreeSet<String> = found.stdout.lines().map(str::to_owned).collect();
        assert_eq!(names, expected, "{expression}");
        let report = match failed {
            0 => String::new(),
            count => {
                format!("--where: {count} objects have no field spec.containers[0].resources.requests\n")
            }
        };
        assert_eq!(found.stderr, report, "{expression}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn object_that_crosses_the_border_is_added_or_deleted() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let path = format!("{}/web", config_maps(&namespace));
    let words = ["watch", "cm", "-n", &namespace, "-o", "json", "--where", "int(object.data.n) > 5"];
    let watch = env.kdelta_on(testbed, &words).start();
    watch.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    api.create_config_map(&namespace, "web", &json!({}));
    for n in ["7", "8", "x", "9"] {
        api.patch(&path, &json!({"data": {"n": n}}));
    }
    api.delete(&path);
    let lines = watch.stdout.json_until("the second DELETED", |line| {
        line["type"] == "DELETED" && line["object"]["data"]["n"] == "9"
    });
    let found: Vec<String> = lines
        .iter()
        .filter(|line| line["name"] == "web")
        .map(|line| format!("{} {}", line["type"].as_str().unwrap_or_default(), line["object"]["data"]["n"]))
        .collect();
    assert_eq!(
        found,
        ["ADDED \"7\"", "MODIFIED \"8\"", "DELETED \"8\"", "ADDED \"9\"", "DELETED \"9\""],
        "a state without a result is outside"
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn expression_with_the_time_is_evaluated_again() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let age = "now - timestamp(object.metadata.creationTimestamp) < duration('3s')";
    let words = ["watch", "cm", "web", "-n", &namespace, "-o", "json", "--ignore-not-found", "--where", age];
    let watch = env.kdelta_on(testbed, &words).start();
    watch.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    api.create_config_map(&namespace, "web", &json!({}));
    let lines = watch.stdout.json_until("DELETED", |line| line["type"] == "DELETED");
    let origins: Vec<_> = lines.iter().map(|line| (line["type"].clone(), line["origin"].clone())).collect();
    assert_eq!(origins, [(json!("ADDED"), json!("watch")), (json!("DELETED"), json!("filter"))]);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn expression_with_the_state_before_selects_changes() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let path = format!("{}/web", config_maps(&namespace));
    let start = |command: &[&str], expression: &str| {
        let words = [command, &["cm", "-n", &namespace, "--where", expression]].concat();
        env.kdelta_on(testbed, &words).start()
    };
    api.create_config_map(&namespace, "first", &json!({}));
    let json = &["watch", "-o", "json"][..];
    let changes = start(json, "int(object.data.n) > int(old.data.n)");
    let all = start(json, "old == null || object == null || object.data.n != old.data.n");
    for watch in [&changes, &all] {
        watch.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    }
    api.create_config_map(&namespace, "web", &json!({}));
    for data in [
        json!({"n": "1"}),
        json!({"n": "1", "m": "x"}),
        json!({"n": "5"}),
        json!({"n": "3"}),
        json!({"n": "4"}),
    ] {
        api.patch(&path, &json!({"data": data}));
    }
    api.delete(&path);
    api.create_config_map(&namespace, "last", &json!({}));
    api.patch(&format!("{}/last", config_maps(&namespace)), &json!({"data": {"n": "9"}}));
    let printed = |watch: &crate::support::Running| -> Vec<String> {
        let is_last = |line: &Value| line["name"] == "last" && line["object"]["data"]["n"] == "9";
        let lines = watch.stdout.json_until("the last", is_last);
        let lines = lines.iter().filter(|line| line["name"] == "web");
        lines
            .map(|line| {
                format!("{} {}", line["type"].as_str().unwrap_or_default(), line["object"]["data"]["n"])
            })
            .collect()
    };
    assert_eq!(printed(&changes), ["MODIFIED \"1\"", "MODIFIED \"5\"", "MODIFIED \"4\""]);
    assert_eq!(
        printed(&all),
        [
            "ADDED \"0\"",
            "MODIFIED \"1\"",
            "MODIFIED \"5\"",
            "MODIFIED \"3\"",
            "MODIFIED \"4\"",
            "DELETED \"4\""
        ]
    );
}
