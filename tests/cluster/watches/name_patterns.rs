//! Names as patterns on a real server: filtering on the client, in all formats and for new objects.

use serde_json::json;

use crate::support::{OnServer, TestEnv, config_maps};

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn new_objects_that_match_appear() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    for name in ["web-1", "db-1", "exact"] {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let words = ["watch", "cm", "exact", "web-*", "-n", &namespace, "-o", "json", "--fields", "type,name"];
    let watch = env.kdelta_on(testbed, &words).start();
    let mut names: Vec<String> = Vec::new();
    watch.stdout.json_until("SYNCED", |line| {
        names.extend(line["name"].as_str().map(str::to_owned));
        line["type"] == "SYNCED"
    });
    names.sort();
    assert_eq!(names, ["exact", "web-1"]);
    for name in ["db-2", "web-2"] {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let added = watch.stdout.json_until("an addition", |line| line["type"] == "ADDED");
    assert_eq!(added.last().map(|line| &line["name"]), Some(&json!("web-2")));
    for name in ["db-1", "web-1"] {
        api.delete(&format!("{}/{name}", config_maps(&namespace)));
    }
    let deleted = watch.stdout.json_until("a deletion", |line| line["type"] == "DELETED");
    assert_eq!(deleted.last().map(|line| &line["name"]), Some(&json!("web-1")));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn resumed_watch_prints_no_other_object() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let version = api.create_config_map(&namespace, "web-1", &json!({}));
    let version = version["metadata"]["resourceVersion"].as_str().expect("a version").to_owned();
    for name in ["db-1", "web-2"] {
        api.create_config_map(&namespace, name, &json!({}));
    }
    for name in ["db-1", "web-1"] {
        api.delete(&format!("{}/{name}", config_maps(&namespace)));
    }
    let words = [
        "watch",
        "cm",
        "web-*",
        "-n",
        &namespace,
        "--resource-version",
        &version,
        "--count",
        "2",
        "-o",
        "json",
        "--fields",
        "type,name",
    ];
    let printed = env.kdelta_on(testbed, &words).finish();
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let lines: Vec<_> = printed.stdout.lines().collect();
    assert_eq!(lines, [r#"{"type":"ADDED","name":"web-2"}"#, r#"{"type":"DELETED","name":"web-1"}"#]);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn tables_csv_and_jq_agree() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    for name in ["web-1", "web-2", "db-1"] {
        api.create_config_map(&namespace, name, &json!({"a": "1"}));
    }
    let get = |words: &[&str]| {
        env.kdelta_on(testbed, &[&["get", "cm", "web-*", "-n", &namespace], words].concat())
            .finish()
            .quiet_success()
    };
    let first = |text: String, separator: &str| -> Vec<String> {
        text.lines().map(|line| line.split(separator).next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(first(get(&[]), " "), ["NAME", "web-1", "web-2"]);
    assert_eq!(first(get(&["-o", "csv"]), ","), ["NAME", "web-1", "web-2"]);
    assert_eq!(
        get(&["-o", "csv", "--no-headers"]).lines().next().map(|line| line.matches(',').count()),
        Some(2)
    );
    assert_eq!(first(get(&["-r", "-o", "jq=.items[].metadata.name"]), " "), ["web-1", "web-2"]);
    assert_eq!(get(&["-o", "jq=[.items[].data.n | tonumber] | length"]), "2\n");
    let hidden = env.kdelta_on(testbed, &["get", "cm", "no-*", "-n", &namespace]).finish();
    assert_eq!(hidden.stderr, format!("No resources found in {namespace} namespace that match \"no-*\"\n"));
}
