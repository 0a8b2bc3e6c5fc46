//! Many collections in one stream: types, namespaces and clusters, named or matched, that join and leave.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Api, OnServer, TestEnv, Testbed, config_maps, eventually};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

pub(in crate::cluster) fn create_namespace(api: &Api, name: &str, labels: &Value) {
    api.create("/api/v1/namespaces", &json!({"metadata": {"name": name, "labels": labels}}));
}

/// Deletes and finalizes a namespace: no controller runs that would do so.
fn delete_namespace(api: &Api, name: &str) {
    let path = format!("/api/v1/namespaces/{name}");
    api.delete(&path);
    let done = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {"finalizers": []}});
    let json = [("Content-Type", "application/json")];
    let response = api.request("PUT", &format!("{path}/finalize"), &json, &done.to_string());
    assert_eq!(response.code, 200, "{}", response.text);
}

/// Returns `ADDED ns/name` or `SYNCED ns`.
fn summary(line: &Value) -> String {
    let text = |field: &str| line[field].as_str().unwrap_or_default();
    match text("name") {
        "" => format!("{} {}", text("type"), text("namespace")),
        name => format!("{} {}/{name}", text("type"), text("namespace")),
    }
}

pub(in crate::cluster) fn is(expected: String) -> impl FnMut(&Value) -> bool {
    move |line| summary(line) == expected
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn types_and_names_can_be_mixed() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    for name in ["a", "b"] {
        api.create_config_map(&namespace, name, &json!({}));
        let secret = json!({"metadata": {"name": name}});
        api.create(&format!("/api/v1/namespaces/{namespace}/secrets"), &secret);
    }
    for words in [&["cm,secrets/b"][..], &["cm", "secrets/b"]] {
        let rest = ["-n", &namespace, "-o", "name", "--until-synced"];
        let stdout = env.kdelta_on(testbed, &[&["watch"], words, &rest].concat()).finish().quiet_success();
        let lines: BTreeSet<&str> = stdout.lines().collect();
        assert_eq!(lines, BTreeSet::from(["configmap/a", "configmap/b", "secret/b"]), "{words:?}");
    }
    let error = env.kdelta_on(testbed, &["watch", "cm,nosuch,secrets", "-n", &namespace]).finish().failure(1);
    assert!(error.starts_with("error: the server doesn't have a resource type \"nosuch\""), "{error}");
    let error = env.kdelta_on(testbed, &["watch", "cm,*.nosuch", "-n", &namespace]).finish().failure(1);
    assert!(
        error.starts_with("error: the server doesn't have a resource type that matches \"*.nosuch\""),
        "{error}"
    );
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn namespaces_matched_by_name_join_and_leave() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let [first, second] = ["a", "b"].map(|end| format!("{namespace}-team-{end}"));
    create_namespace(&api, &first, &json!({}));
    api.create_config_map(&first, "x", &json!({}));
    let pattern = format!("{namespace},{namespace}-team-*");
    let running = env.kdelta_on(testbed, &["watch", "cm", "-n", &pattern, "-o", "json"]).start();
    let mut marks: Vec<Value> = Vec::new();
    running.stdout.json_until("two marks", |line| {
        marks.extend((line["type"] == "SYNCED").then(|| line.clone()));
        marks.len() == 2
    });
    let of: BTreeSet<_> = marks.iter().map(|mark| mark["namespace"].as_str().expect("text")).collect();
    assert_eq!(of, BTreeSet::from([namespace.as_str(), &first]));

    create_namespace(&api, &second, &json!({}));
    api.create_config_map(&second, "y", &json!({}));
    let lines = running.stdout.json_until("the new one", is(format!("SYNCED {second}")));
    assert!(lines.iter().all(|line| line["namespace"] == second.as_str()), "{lines:#?}");
    if lines.len() == 1 {
        running.stdout.json_until("its object", is(format!("ADDED {second}/y")));
    }
    api.delete(&format!("{}/y", config_maps(&second)));
    delete_namespace(&api, &second);
    running.stdout.json_until("its end", is(format!("DELETED {second}/y")));
    // Objects are reported again when their namespace returns.
    create_namespace(&api, &second, &json!({}));
    api.create_config_map(&second, "y", &json!({}));
    running.stdout.json_until("it comes again", is(format!("ADDED {second}/y")));
    api.create_config_map(&first, "z", &json!({}));
    running.stdout.json_until("the others go on", is(format!("ADDED {first}/z")));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn namespaces_matched_by_label_join_and_leave() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "x", &json!({}));
    let selector = format!("env={namespace}");
    let words = ["watch", "cm", "--namespace-selector", &selector, "-o", "json", "--watch-only"];
    create_namespace(&api, &format!("{namespace}-first"), &json!({"env": namespace}));
    let running = env.kdelta_on(testbed, &words).start();
    running.stdout.json_until("the beginning", |line| line["type"] == "SYNCED");
    let label = |value: &Value| {
        let labels = json!({"metadata": {"labels": {"env": value}}});
        api.patch(&format!("/api/v1/namespaces/{namespace}"), &labels)
    };
    label(&json!(namespace));
    running.stdout.json_until("it joins", is(format!("ADDED {namespace}/x")));
    label(&Value::Null);
    let gone = running.stdout.json_until("it leaves", is(format!("DELETED {namespace}/x"))).pop();
    let gone = gone.expect("a line");
    assert_eq!((&gone["finalStateUnknown"], &gone["origin"]), (&json!(true), &json!("relist")));
    assert!(gone.get("resume").is_none(), "{gone}");
    api.patch(&format!("{}/x", config_maps(&namespace)), &json!({"data": {"n": "1"}}));
    label(&json!(namespace));
    let back = running.stdout.json_until("it is back", is(format!("ADDED {namespace}/x")));
    assert!(back.iter().all(|line| line["type"] != "MODIFIED"), "nothing while it was away: {back:#?}");
}

/// Allows a user to read these objects, cluster-wide or in a namespace, and waits until the server applies it.
pub(in crate::cluster) fn allow(api: &Api, user: &str, namespace: Option<&str>, resource: &str) {
    allow_to(api, user, namespace, resource, &["get", "list", "watch"]);
}

/// The same with these verbs, including list.
pub(in crate::cluster) fn allow_to(
    api: &Api,
    user: &str,
    namespace: Option<&str>,
    resource: &str,
    verbs: &[&str],
) {
    let root = "/apis/rbac.authorization.k8s.io/v1";
    let (place, kind) = match namespace {
        Some(namespace) => (format!("{root}/namespaces/{namespace}/role"), "Role"),
        None => (format!("{root}/clusterrole"), "ClusterRole"),
    };
    let name = format!("{user}-{resource}");
    let rules = json!([{"apiGroups": [""], "resources": [resource], "verbs": verbs}]);
    api.create(&format!("{place}s"), &json!({"metadata": {"name": name}, "rules": rules}));
    let subjects = json!([{"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}]);
    let to = json!({"kind": kind, "name": name, "apiGroup": "rbac.authorization.k8s.io"});
    let binding = json!({"metadata": {"name": name}, "subjects": subjects, "roleRef": to});
    api.create(&format!("{place}bindings"), &binding);
    let path = match namespace {
        Some(namespace) => format!("/api/v1/namespaces/{namespace}/{resource}"),
        None => format!("/api/v1/{resource}"),
    };
    eventually("it is allowed", || {
        (api.request("GET", &path, &[("Impersonate-User", user)], "").code == 200).then_some(())
    });
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn forbidden_cluster_wide_list_falls_back_to_each_namespace() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let user = format!("user-{namespace}");
    api.create_config_map(&namespace, "x", &json!({}));
    let words = ["watch", "cm", "-A", "-o", "name", "--count", "2", "--as", &user];
    allow(&api, &user, Some(&namespace), "configmaps");

    let done = env.kdelta_on(testbed, &words).finish();
    let refused = "Error from server (Forbidden): configmaps is forbidden: ";
    assert_eq!((done.code, done.stdout.as_str()), (1, ""), "{}", done.stderr);
    assert!(done.stderr.contains(refused), "{}", done.stderr);

    let done = env.kdelta_on(testbed, &["get", "cm", "-A", "--as", &user]).finish();
    assert!(done.code == 1 && done.stderr.contains(refused), "{} {}", done.code, done.stderr);
    let done = env.kdelta_on(testbed, &["watch", "cm", "-n", "x-*", "--as", &user]).finish();
    assert!(
        done.stderr.starts_with("Error from server (Forbidden): namespaces is forbidden: "),
        "{}",
        done.stderr
    );

    allow(&api, &user, None, "namespaces");
    let mut running = env.kdelta_on(testbed, &words).start();
    let fallback = "not allowed in all namespaces at once, listing each: configmaps\n";
    assert_eq!(running.stderr.find("the other way", |_| true), fallback);
    running.stdout.find("what is allowed", |line| line == "configmap/x\n");
    let left_out = running.stderr.find("what is left out", |_| true);
    assert!(left_out.starts_with("not allowed, skipped: configmaps in "), "{left_out}");
    assert!(!left_out.contains(&namespace), "{left_out}");
    api.create_config_map(&namespace, "y", &json!({}));
    running.stdout.find("what comes", |line| line == "configmap/y\n");
    assert_eq!(running.wait(), 4);

    let done = env.kdelta_on(testbed, &["get", "cm", "-A", "-o", "name", "--as", &user]).finish();
    assert_eq!((done.code, done.stdout.as_str()), (4, "configmap/x\nconfigmap/y\n"), "{}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 2, "{}", done.stderr);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn named_namespace_is_watched_without_permission_to_list_namespaces() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let user = format!("user-{namespace}");
    api.create_config_map(&namespace, "x", &json!({}));
    allow(&api, &user, Some(&namespace), "configmaps");
    let pattern = format!("{namespace},x-*");
    let refused = "Error from server (Forbidden): namespaces is forbidden: ";

    let words = ["watch", "cm", "-n", &pattern, "-o", "name", "--count", "2", "--as", &user];
    let mut running = env.kdelta_on(testbed, &words).start();
    let output = running.stderr.find("what can't be had", |_| true);
    assert!(output.starts_with(refused), "{output}");
    running.stdout.find("what is named", |line| line == "configmap/x\n");
    api.create_config_map(&namespace, "y", &json!({}));
    running.stdout.find("what comes", |line| line == "configmap/y\n");
    assert_eq!(running.wait(), 4);

    let done = env.kdelta_on(testbed, &["get", "cm", "-n", &pattern, "-o", "name", "--as", &user]).finish();
    assert_eq!((done.code, done.stdout.as_str()), (4, "configmap/x\nconfigmap/y\n"), "{}", done.stderr);
    assert!(done.stderr.starts_with(refused) && done.stderr.lines().count() == 1, "{}", done.stderr);

    // As one of several contexts.
    let config = contexts(&env, &[("all", testbed), ("some", testbed)]);
    change(&config, |config| config["users"][1]["user"]["as"] = json!(user));
    let words = ["watch", "cm", "-n", &pattern, "--context", "all,some", "-o", "json"];
    let running = env.kdelta(&words).env("KUBECONFIG", &config).start();
    let output = running.stderr.find("what can't be had", |_| true);
    assert!(output.starts_with(&format!("some: {refused}")), "{output}");
    let mut synced = BTreeSet::new();
    let mut lines = running.stdout.json_until("both", |line| {
        synced.extend((line["type"] == "SYNCED").then(|| line["context"].to_string()));
        synced.len() == 2
    });
    api.create_config_map(&namespace, "z", &json!({}));
    let mut contexts = BTreeSet::new();
    lines.extend(running.stdout.json_until("what comes, from both", |line| {
        contexts.extend((line["name"] == "z").then(|| line["context"].to_string()));
        contexts.len() == 2
    }));
    assert!(lines.iter().all(|line| line["type"] != "DELETED"), "nothing was deleted: {lines:#?}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn each_context_reports_its_own_fallback() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let [lists, names] = ["lists", "names"].map(|what| format!("{what}-{namespace}"));
    api.create_config_map(&namespace, "x", &json!({}));
    allow(&api, &lists, Some(&namespace), "configmaps");
    allow(&api, &lists, None, "namespaces");
    let config = contexts(&env, &[("lists", testbed), ("names", testbed)]);
    change(&config, |config| {
        config["users"][0]["user"]["as"] = json!(lists);
        config["users"][1]["user"]["as"] = json!(names);
    });
    let words = ["watch", "cm", "-A", "--context", "lists,names", "-o", "name", "--until-synced"];
    let done = env.kdelta(&words).env("KUBECONFIG", &config).finish();
    assert_eq!((done.code, done.stdout.as_str()), (4, "configmap/x\n"), "{}", done.stderr);
    let output: Vec<&str> = done.stderr.lines().collect();
    assert!(
        output[0].starts_with("names: Error from server (Forbidden): configmaps is forbidden: "),
        "{output:?}"
    );
    assert_eq!(output[1], "not allowed in all namespaces at once, listing each: lists: configmaps");
    assert!(output[2].starts_with("not allowed, skipped: lists: configmaps in "), "{output:?}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn joining_namespace_is_watched_once_allowed_and_the_last_leaving_does_not_end_the_watch() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let user = format!("late-{namespace}");
    allow(&api, &user, None, "namespaces");
    let [never, first, late] = ["never", "first", "late"].map(|end| format!("{namespace}-{end}"));
    for name in [&never, &first] {
        create_namespace(&api, name, &json!({}));
    }
    allow(&api, &user, Some(&first), "configmaps");
    let pattern = format!("{namespace}-*");
    let running =
        env.kdelta_on(testbed, &["watch", "cm", "-n", &pattern, "-o", "json", "--as", &user]).start();
    running.stdout.json_until("the first", is(format!("SYNCED {first}")));
    running.stderr.find("what is left out", |line| line.starts_with("not allowed, skipped: "));
    delete_namespace(&api, &first);
    create_namespace(&api, &late, &json!({}));
    let left_out = format!("not allowed, skipped: configmaps in {late}\n");
    running.stderr.find("what is not allowed yet", |line| line == left_out);
    allow(&api, &user, Some(&late), "configmaps");
    api.create_config_map(&late, "c", &json!({}));
    running.stdout.json_until("what is in it", is(format!("ADDED {late}/c")));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn each_kind_is_watched_once() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "x", &json!({}));
    let words = ["watch", "--all-kinds", "-n", &namespace, "--until-synced", "-o", "json"];
    let done = env.kdelta_on(testbed, &words).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    // The server warns about deprecated types.
    assert!(done.stderr.lines().all(|line| line.starts_with("Warning: ")), "{}", done.stderr);
    let stdout = done.stdout;
    let lines: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let marks: Vec<String> = lines
        .iter()
        .filter(|line| line["type"] == "SYNCED")
        .map(|line| {
            format!("{}.{}", line["resource"].as_str().expect("text"), line["group"].as_str().expect("text"))
        })
        .collect();
    let each: BTreeSet<&str> = marks.iter().map(String::as_str).collect();
    assert_eq!(each.len(), marks.len(), "{marks:?}");
    for there in ["pods.", "configmaps.", "deployments.apps", "ingresses.networking.k8s.io"] {
        assert!(each.contains(there), "{there}: {marks:?}");
    }
    for left_out in ["events.", "events.events.k8s.io", "leases.coordination.k8s.io", "nodes."] {
        assert!(!each.contains(left_out), "{left_out}: {marks:?}");
    }
    assert!(lines.iter().any(|line| line["kind"] == "ConfigMap" && line["name"] == "x"), "{stdout}");

    let words = ["get", "--all-kinds", "events", "-n", &namespace, "-o", "name"];
    let done = env.kdelta_on(testbed, &words).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.lines().any(|line| line == "configmap/x"), "{}", done.stdout);
}

fn define(api: &Api, group: &str, plural: &str, kind: &str) {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let versions =
        json!([{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": open}}]);
    // The category is one word, the first label of the group.
    let category = group.split('.').next();
    let names = json!({"plural": plural, "kind": kind, "categories": [category]});
    let spec = json!({"group": group, "scope": "Namespaced", "names": names, "versions": versions});
    api.create(CRDS, &json!({"metadata": {"name": format!("{plural}.{group}")}, "spec": spec}));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn types_of_a_group_join_and_leave() {
    types_join_and_leave(|group| format!("*.{group}"));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn types_of_a_category_join_and_leave() {
    types_join_and_leave(|group| group.split('.').next().expect("a category").to_owned());
}

/// Watches the types that a word selects while types are created and deleted.
fn types_join_and_leave(word: impl FnOnce(&str) -> String) {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let group = format!("{namespace}.kdelta.test");
    let create = |plural: &str, kind: &str, name: &str| {
        let path = format!("/apis/{group}/v1/namespaces/{namespace}/{plural}");
        eventually("the server serves it in its discovery", || {
            api.find(&path).filter(|_| api.discovers(&group, plural))
        });
        let object = json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": {"name": name}});
        api.create(&path, &object);
    };
    define(&api, &group, "gears", "Gear");
    create("gears", "Gear", "g1");
    let word = word(&group);
    let running = env.kdelta_on(testbed, &["watch", &word, "-n", &namespace, "-o", "json"]).start();
    running.stdout.json_until("the one that is there", is(format!("ADDED {namespace}/g1")));

    define(&api, &group, "wheels", "Wheel");
    create("wheels", "Wheel", "w1");
    let lines = running.stdout.json_until("the new one", is(format!("ADDED {namespace}/w1")));
    assert_eq!(lines.last().expect("a line")["kind"], "Wheel");

    api.delete(&format!("{CRDS}/gears.{group}"));
    running.stdout.json_until("the end of the first", is(format!("DELETED {namespace}/g1")));
    create("wheels", "Wheel", "w2");
    running.stdout.json_until("the other goes on", is(format!("ADDED {namespace}/w2")));
    // Its type may be created again.
    eventually("it is gone", || api.find(&format!("{CRDS}/gears.{group}")).is_none().then_some(()));
    define(&api, &group, "gears", "Gear");
    create("gears", "Gear", "g2");
    running.stdout.json_until("it is there again", is(format!("ADDED {namespace}/g2")));
    running.signal("INT");
    running.stderr.find("the end", |line| {
        // A new type may fail for a moment, which is a different message.
        let is_lost = line.contains("lost") && line.contains("could not find the requested resource");
        assert!(!is_lost, "it is not lost, it is gone: {line}");
        line.contains("received")
    });
}

/// Writes a kubeconfig with a context for each of these servers, as its administrator, and one context of an
/// unreachable server.
pub(in crate::cluster) fn contexts(env: &TestEnv, servers: &[(&str, &Testbed)]) -> String {
    let mut config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": servers[0].0,
        "clusters": [{"name": "down", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [], "contexts": [{"name": "down", "context": {"cluster": "down", "user": "nobody"}}],
    });
    for (name, testbed) in servers {
        let cluster = json!({"server": testbed.server(), "certificate-authority": testbed.ca_file()});
        let add = |config: &mut Value, list: &str, key: &str, value: Value| {
            let list = config[list].as_array_mut().expect("a list");
            list.push(json!({"name": name, key: value}));
        };
        add(&mut config, "clusters", "cluster", cluster);
        add(&mut config, "users", "user", json!({"token": testbed.token("admin")}));
        add(&mut config, "contexts", "context", json!({"cluster": name, "user": name}));
    }
    env.file("contexts", &config.to_string()).to_str().expect("UTF-8").to_owned()
}

fn change(config: &str, change: impl FnOnce(&mut Value)) {
    let text = std::fs::read_to_string(config).expect("the file");
    let mut value = serde_json::from_str(&text).expect("JSON");
    change(&mut value);
    std::fs::write(config, value.to_string()).expect("the file is written");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn contexts_with_different_namespaces_always_have_a_namespace_column() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let other = format!("{namespace}-other");
    create_namespace(&api, &other, &json!({}));
    api.create_config_map(&namespace, "x", &json!({}));
    api.create_config_map(&other, "x", &json!({}));
    let config = contexts(&env, &[("one", testbed), ("two", testbed)]);
    change(&config, |config| {
        config["contexts"][1]["context"]["namespace"] = json!(namespace);
        config["contexts"][2]["context"]["namespace"] = json!(other);
    });
    for words in [&["watch", "--until-synced"][..], &["get"]] {
        let words = [words, &["cm", "--context", "one,two"]].concat();
        let table = env.kdelta(&words).env("KUBECONFIG", &config).finish().quiet_success();
        let heading: Vec<&str> = table.lines().next().expect("a heading").split_whitespace().collect();
        assert!(heading.contains(&"NAMESPACE"), "{words:?} {table}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn loss_of_one_cluster_does_not_stop_the_other() {
    let OnServer { env, testbed: stays, api, namespace } = TestEnv::on_server();
    let goes = env.own_server();
    let config = contexts(&env, &[("stays", stays), ("goes", &goes)]);
    let other = Api::of(&goes);
    create_namespace(&other, &namespace, &json!({}));
    api.create_config_map(&namespace, "x", &json!({}));
    other.create_config_map(&namespace, "x", &json!({}));
    let on = |words: &[&str]| env.kdelta(words).env("KUBECONFIG", &config);

    let table = on(&["watch", "cm", "-n", &namespace, "--context", "stays,go*", "--until-synced"]);
    let table = table.finish().quiet_success();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["CONTEXT", "EVENT", "NAME", "DATA", "AGE"], "{table}");
    let rows: BTreeSet<_> = rows[1..].iter().map(|row| row[..3].to_vec()).collect();
    assert_eq!(rows, BTreeSet::from([vec!["goes", "ADDED", "x"], vec!["stays", "ADDED", "x"]]), "{table}");

    // The counts are per cluster.
    other.create_config_map(&namespace, "y", &json!({}));
    let index = ["index", "cm", "-n", &namespace, "--by", "name", "--context", "stays,goes"];
    let counted = on(&index).finish().quiet_success();
    let rows: Vec<Vec<&str>> = counted.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        rows,
        [["CONTEXT", "VALUE", "COUNT"], ["stays", "x", "1"], ["goes", "x", "1"], ["goes", "y", "1"]],
        "{counted}"
    );

    let running = on(&["watch", "cm", "-n", &namespace, "--context", "stays,goes", "-o", "json"]).start();
    let mut synced = BTreeSet::new();
    running.stdout.json_until("both", |line| {
        synced.extend((line["type"] == "SYNCED").then(|| line["context"].to_string()));
        synced.len() == 2
    });
    goes.stop();
    let lost = running.stderr.find("the loss", |line| line.contains("lost"));
    assert!(lost.starts_with("goes: configmaps: lost: "), "{lost}");
    for number in 0..5 {
        api.create_config_map(&namespace, &format!("meanwhile-{number}"), &json!({}));
        let lines = running.stdout.json_until("it", is(format!("ADDED {namespace}/meanwhile-{number}")));
        assert!(lines.iter().all(|line| line["context"] == "stays"), "{lines:#?}");
    }
    let goes = env.own_server();
    Api::of(&goes).create_config_map(&namespace, "back", &json!({}));
    let lines = running.stdout.json_until("it is back", is(format!("ADDED {namespace}/back")));
    assert!(lines.iter().all(|line| line["context"] == "goes"), "{lines:#?}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn unreachable_context_does_not_end_the_others() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let config = contexts(&env, &[("up", testbed)]);
    api.create_config_map(&namespace, "x", &json!({}));
    let on = |words: &[&str]| env.kdelta(words).env("KUBECONFIG", &config).finish();
    let down = "down: The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n";
    let cases: [(&[&str], &str); 3] = [
        (&["watch", "--until-synced", "-o", "name", "cm,secrets"], "configmap/x"),
        (&["get", "cm,secrets", "--no-headers"], "up configmap/x 1 "),
        (&["index", "cm,secrets", "--by", "name", "--no-headers"], "up x 1"),
    ];
    for (words, printed) in cases {
        let words = [words, &["-n", &namespace, "--all-contexts"]].concat();
        let done = on(&words);
        let cells: Vec<&str> = done.stdout.split_whitespace().collect();
        assert!(cells.join(" ").starts_with(printed), "{words:?} {} {}", done.stdout, done.stderr);
        assert_eq!((done.code, done.stdout.lines().count()), (4, 1), "{words:?} {}", done.stderr);
        assert_eq!(done.stderr, down, "{words:?}");
    }
    for format in ["json", "yaml", "name"] {
        let error = on(&["get", "cm", "-n", &namespace, "-o", format, "--all-contexts"]).failure(2);
        let expected = format!("error: -o {format} can't show the context of an object");
        assert!(error.starts_with(&expected), "{error}");
    }
    let done = on(&["watch", "cm", "--context", "down,d*"]);
    assert_eq!(done.failure(1), down["down: ".len()..], "one context is one, however it is named");
    let error = on(&["get", "cm", "--context", "up,nosuch"]).failure(1);
    assert_eq!(error, "Error in configuration: context was not found for specified context: nosuch\n");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn five_hundred_watches_share_a_few_connections() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let names: Vec<String> = (0..500).map(|number| format!("c{number}")).collect();
    let proxy = crate::support::Proxy::before(testbed.port());
    let config = env.kubeconfig(testbed, "admin", &namespace, proxy.port());
    for name in names.iter().step_by(50) {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let mut words = vec!["watch", "cm", "-o", "json", "--ignore-not-found"];
    words.extend(names.iter().map(String::as_str));
    let running = env.kdelta(&words).env("KUBECONFIG", config).start();
    running.stdout.json_until("all of them", |line| line["type"] == "SYNCED");
    for name in ["c1", "c251", "c499"] {
        api.create_config_map(&namespace, name, &json!({}));
        running.stdout.json_until("it", is(format!("ADDED {namespace}/{name}")));
    }
    // Eight watches have one connection each, and 80 share each of the others. A slow dial is not waited for.
    let needed = 8 + (500_usize - 8).div_ceil(80);
    eventually("what is needed", || (needed..=needed + 2).contains(&proxy.connections()).then_some(()));
    assert!(proxy.accepted() < 2 * needed, "{} were started", proxy.accepted());
}
