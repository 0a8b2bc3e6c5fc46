//! The output of `watch`, compared with client-go's informer and `kubectl get -w` on the same changes.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use super::kubectl;
use crate::support::{
    Api, Kdelta, OnServer, PATIENCE, Running, TestEnv, Testbed, config_maps, eventually, tool,
};

/// The type, name and version of a delta.
type Delta = (String, String, String);

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn delta_of_event(line: &Value) -> Delta {
    let metadata = &line["object"]["metadata"];
    (text(&line["type"]), text(&metadata["name"]), text(&metadata["resourceVersion"]))
}

fn delta_of_informer(line: &Value) -> Delta {
    (text(&line["type"]), text(&line["name"]), text(&line["resourceVersion"]))
}

fn without_managed_fields(line: &Value) -> Value {
    let mut object = line["object"].clone();
    object["metadata"].as_object_mut().expect("metadata").remove("managedFields");
    object
}

/// Makes every kind of change that a selector can see; the last one creates `end`.
fn change_things(api: &Api, namespace: &str) {
    let path = config_maps(namespace);
    let at = |name: &str| format!("{path}/{name}");
    let web = json!({"app": "web"});
    api.create_config_map(namespace, "c", &web);
    api.patch(&at("a"), &json!({"data": {"n": "1"}}));
    api.patch(&at("b"), &json!({"metadata": {"labels": {"app": "web"}}}));
    api.patch(&at("a"), &json!({"metadata": {"labels": {"app": "db"}}}));
    api.patch(&at("a"), &json!({"data": {"n": "2"}}));
    api.patch(&at("c"), &json!({"data": {"n": "3"}}));
    api.delete(&at("c"));
    api.create_config_map(namespace, "c", &web);
    api.delete(&at("b"));
    api.patch(&at("a"), &json!({"metadata": {"labels": {"app": "web"}}}));
    api.create_config_map(namespace, "end", &web);
}

fn start_informer(testbed: &Testbed, namespace: &str) -> Running {
    let mut informer = tool();
    let resource = ["--resource", "configmaps", "-n", namespace, "--selector", "app=web"];
    informer.args(["informer", "--kubeconfig", testbed.kubeconfig(), "--mode", "dynamic"]).args(resource);
    let running = Kdelta::other(informer).start();
    running.stdout.json_until("the informer's sync", |line| line["type"] == "SYNCED");
    running
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn deltas_after_sync_equal_those_of_client_go_and_kubectl() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({"app": "web"}));
    api.create_config_map(&namespace, "b", &json!({"app": "db"}));

    let selected = ["-n", &namespace, "-l", "app=web", "-o", "json"];
    let ours = env.kdelta_on(testbed, &[&["watch", "configmaps"], &selected[..]].concat()).start();
    let initial = ours.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    assert_eq!(initial.len(), 2, "a and the mark: {initial:#?}");
    assert_eq!((&initial[0]["type"], &initial[0]["origin"]), (&json!("ADDED"), &json!("list")));

    let informer = start_informer(testbed, &namespace);
    let arguments = [&["get", "configmaps", "-w", "--output-watch-events"], &selected[..]].concat();
    let kubectl = Kdelta::other(kubectl(testbed.kubeconfig(), &arguments)).start();
    kubectl.stdout.json_until("kubectl's initial state", |line| line["type"] == "ADDED");

    change_things(&api, &namespace);
    let is_end = |reported: Delta| reported.0 == "ADDED" && reported.1 == "end";
    let lines = ours.stdout.json_until("end", |line| is_end(delta_of_event(line)));
    assert!(lines.iter().all(|line| line["origin"] == "watch"), "{lines:#?}");
    let ours: Vec<_> = lines.iter().map(delta_of_event).collect();
    let client_go = informer.stdout.json_until("end", |line| is_end(delta_of_informer(line)));
    assert_eq!(ours, client_go.iter().map(delta_of_informer).collect::<Vec<_>>());
    let kubectl = kubectl.stdout.json_until("end", |line| is_end(delta_of_event(line)));
    assert_eq!(ours, kubectl.iter().map(delta_of_event).collect::<Vec<_>>());
    // kubectl keeps managedFields in watch events.
    let objects = |lines: &[Value]| lines.iter().map(without_managed_fields).collect::<Vec<_>>();
    assert_eq!(objects(&lines), objects(&kubectl));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn json_line_has_all_documented_fields() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let made = api.create_config_map(&namespace, "one", &json!({}));
    let watch = ["watch", "cm", "-n", &namespace, "-o", "json", "--until-synced"];
    let stdout = env.kdelta_on(testbed, &watch).finish().quiet_success();
    let lines: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [line, mark] = &lines[..] else { panic!("an object and a mark: {lines:#?}") };
    let metadata = &made["metadata"];
    for (field, expected) in [
        ("v", json!(1)),
        ("seq", json!(1)),
        ("type", json!("ADDED")),
        ("origin", json!("list")),
        ("context", json!("admin")),
        ("group", json!("")),
        ("version", json!("v1")),
        ("kind", json!("ConfigMap")),
        ("resource", json!("configmaps")),
        ("namespace", json!(namespace)),
        ("name", json!("one")),
        ("uid", metadata["uid"].clone()),
        ("resourceVersion", metadata["resourceVersion"].clone()),
    ] {
        assert_eq!(line[field], expected, "{field} of {line}");
    }
    assert_eq!(line["object"]["kind"], "ConfigMap");
    assert!(line["object"]["metadata"].get("managedFields").is_none());
    assert!(line.get("resume").is_none(), "nothing to resume from before SYNCED: {line}");
    assert_eq!(
        (&mark["type"], &mark["seq"], &mark["kind"]),
        (&json!("SYNCED"), &json!(2), &json!("ConfigMap"))
    );
    assert!(mark["object"]["metadata"]["resourceVersion"].is_string(), "{mark}");
    assert!(mark.get("origin").is_none(), "{mark}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn closed_pipe_ends_an_idle_watch() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "only", &json!({}));
    let mut command = env.kdelta_on(testbed, &["watch", "cm", "-n", &namespace, "-o", "json"]).into_command();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("kdelta");
    let mut line = String::new();
    // Reads one line and closes the pipe, like `head -1`.
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let status = eventually("the end of watch", || child.try_wait().expect("a child"));
    assert!(line.contains("\"ADDED\""), "{line}");
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().expect("a pipe"), &mut stderr).expect("stderr");
    assert_eq!((status.code(), stderr.as_str()), (Some(141), ""), "a closed pipe is a quiet end");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn several_types_share_a_stream_and_deletes_are_printed() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let watch = ["watch", "cm,secrets", "-n", &namespace, "-o", "json", "--count", "3"];
    let mut running = env.kdelta_on(testbed, &watch).start();
    let mut marks = 0;
    running.stdout.json_until("both SYNCED", |line| {
        marks += i32::from(line["type"] == "SYNCED");
        marks == 2
    });
    api.create_config_map(&namespace, "m", &json!({}));
    let secrets = format!("/api/v1/namespaces/{namespace}/secrets");
    api.create(&secrets, &json!({"metadata": {"name": "s"}, "stringData": {"k": "v"}}));
    api.delete(&format!("{secrets}/s"));
    let mut count = 0;
    let lines = running.stdout.json_until("three deltas", |_| {
        count += 1;
        count == 3
    });
    let mut reported: Vec<_> = lines.iter().map(|line| (text(&line["kind"]), text(&line["type"]))).collect();
    reported.sort();
    let expected = [("ConfigMap", "ADDED"), ("Secret", "ADDED"), ("Secret", "DELETED")];
    assert_eq!(reported, expected.map(|(kind, change)| (kind.to_owned(), change.to_owned())));
    assert_eq!(running.wait(), 0, "--count ends it");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn watch_table_has_kubectls_event_column() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "first", &json!({}));
    let running = env.kdelta_on(testbed, &["watch", "cm", "-n", &namespace]).start();
    let line = |what| running.stdout.within(PATIENCE).unwrap_or_else(|| panic!("no {what}"));
    assert_eq!(line("header").split_whitespace().collect::<Vec<_>>(), ["EVENT", "NAME", "DATA", "AGE"]);
    assert!(line("first").starts_with("ADDED      first   1      "), "kubectl pads EVENT to 8 and adds 3");
    api.delete(&format!("{}/first", config_maps(&namespace)));
    assert!(line("delete").starts_with("DELETED    first   1      "));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn interrupt_ends_watch_with_a_summary() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({}));
    let mut running = env.kdelta_on(testbed, &["watch", "cm", "-n", &namespace, "-o", "json"]).start();
    running.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    running.signal("INT");
    assert_eq!(running.wait(), 130);
    let summary = running.stderr.within(PATIENCE).expect("a summary");
    assert!(summary.contains("1 printed"), "{summary}");
    assert_eq!(running.stderr.within(PATIENCE), None, "one line");
}
