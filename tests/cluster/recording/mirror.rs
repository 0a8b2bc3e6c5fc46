//! `kdelta serve --follow` when the cluster is gone for a while, without rights for a type, with a type that is deleted, and
//! with two contexts.

use std::fs;

use serde_json::{Value, json};

use crate::cluster::watches::many::{contexts, create_namespace};
use crate::support::{Api, OnServer, Proxy, ServedRecording, TestEnv, config_maps, eventually};

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn watch_of_a_mirror_survives_a_relist() {
    let env = TestEnv::new();
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let path = config_maps(&namespace);
    for name in ["kept", "changed", "gone"] {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let mut proxy = Proxy::before(testbed.port());
    let config = env.kubeconfig(&testbed, "admin", &namespace, proxy.port());
    let arguments = ["--follow", "cm", "--kubeconfig", config.to_str().expect("UTF-8")];
    let served = ServedRecording::start(&env, &arguments);
    let watch = ["watch", "cm", "-o", "json", "--kubeconfig", served.kubeconfig()];
    let watch = env.kdelta(&watch).start();
    watch.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
    proxy.cut();
    served.running.stderr.find("the loss", |line| line.contains("lost"));
    api.patch(&format!("{path}/changed"), &json!({"data": {"n": "1"}}));
    api.delete(&format!("{path}/gone"));
    api.create_config_map(&namespace, "fresh", &json!({}));
    testbed.stop();
    let names = || {
        let words = ["get", "cm", "-o", "name", "--kubeconfig", served.kubeconfig()];
        env.kdelta(&words).finish().quiet_success()
    };
    assert!(names().contains("configmap/gone"), "the last known state is served meanwhile");
    // A restarted server has no history: it responds to the watch with 410.
    let testbed = env.own_server();
    proxy.reopen();
    served.running.stderr.find("the recovery", |line| line.contains("re-listed"));
    Api::of(&testbed).create_config_map(&namespace, "marker", &json!({}));
    let lines = watch.stdout.json_until("the marker", |line| line["name"] == "marker");
    let mut changes: Vec<_> = lines
        .iter()
        .map(|line| {
            let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
            [text("type"), text("name"), text("origin")]
        })
        .collect();
    changes.sort();
    let expected = [
        ["ADDED", "fresh", "watch"],
        ["ADDED", "marker", "watch"],
        ["DELETED", "gone", "watch"],
        ["MODIFIED", "changed", "watch"],
    ];
    assert_eq!(changes, expected, "ordinary events, each once");
    assert!(!names().contains("configmap/gone"));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn forbidden_types_are_named_and_skipped() {
    let OnServer { env, testbed, namespace, api } = TestEnv::on_server();
    let root = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}");
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]);
    api.create(&format!("{root}/roles"), &json!({"metadata": {"name": "reader"}, "rules": rules}));
    let group = "rbac.authorization.k8s.io";
    let subjects = json!([{"kind": "User", "name": "nobody", "apiGroup": group}]);
    let role = json!({"kind": "Role", "name": "reader", "apiGroup": group});
    let binding = json!({"metadata": {"name": "reader"}, "roleRef": role, "subjects": subjects});
    api.create(&format!("{root}/rolebindings"), &binding);
    api.create_config_map(&namespace, "settings", &json!({}));
    let config = env.kubeconfig(testbed, "nobody", &namespace, testbed.port());
    let config = config.to_str().expect("UTF-8");
    // The authorizer of the server applies the role after a while.
    eventually("the role", || {
        (env.kdelta(&["get", "cm", "--kubeconfig", config]).finish().code == 0).then_some(())
    });
    let served = ServedRecording::start(&env, &["--follow", "cm,secrets", "--kubeconfig", config]);
    served.running.stderr.find("the refusal", |line| line.contains("secrets is forbidden"));
    let run = |words: &[&str]| env.kdelta(&[words, &["--kubeconfig", served.kubeconfig()]].concat()).finish();
    assert!(run(&["get", "cm", "-o", "name"]).quiet_success().contains("configmap/settings"));
    let error = run(&["get", "secrets"]).failure(1);
    assert!(error.contains("secrets is not mirrored: the mirror has configmaps"), "{error}");
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Defines the type `gadgets` of a group, and creates a gadget.
fn define_gadgets(api: &Api, namespace: &str, group: &str, name: &str) {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let versions =
        json!([{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]);
    let names = json!({"plural": "gadgets", "singular": "gadget", "kind": "Gadget"});
    let definition = json!({"metadata": {"name": format!("gadgets.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": versions}});
    api.create(DEFINITIONS, &definition);
    let path = format!("/apis/{group}/v1/namespaces/{namespace}/gadgets");
    eventually("the type is discovered", || api.discovers(group, "gadgets").then_some(()));
    eventually("the type is served", || api.find(&path));
    let metadata = json!({ "name": name });
    api.create(&path, &json!({"apiVersion": format!("{group}/v1"), "kind": "Gadget", "metadata": metadata}));
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn deleted_type_is_not_served_until_it_is_back() {
    let OnServer { env, testbed, namespace, api } = TestEnv::on_server();
    let config = env.kubeconfig(testbed, "admin", &namespace, testbed.port());
    let config = config.to_str().expect("UTF-8");
    // A pattern selects the types that there are; the objects of a type that is named are waited for.
    for (group, prefix) in [("pattern", "*"), ("named", "gadgets")] {
        let is_pattern = group == "pattern";
        let group = format!("{group}.{namespace}.test");
        define_gadgets(&api, &namespace, &group, "first");
        let types = format!("cm,{prefix}.{group}");
        let served = ServedRecording::start(&env, &["--follow", &types, "--kubeconfig", config]);
        let with = ["-o", "json", "--kubeconfig", served.kubeconfig()];
        let gadgets = format!("gadgets.{group}");
        let names = || {
            let words = ["get", &gadgets, "-o", "name", "--kubeconfig", served.kubeconfig()];
            let ended = env.kdelta(&words).finish();
            (ended.code, ended.stdout)
        };
        assert_eq!(names(), (0, format!("gadget.{group}/first\n")), "{types}");
        let watch = env.kdelta(&[&["watch", gadgets.as_str()], &with[..]].concat()).start();
        watch.stdout.json_until("SYNCED", |line| line["type"] == "SYNCED");
        api.delete(&format!("{DEFINITIONS}/gadgets.{group}"));
        watch.stdout.json_until("the deletion", |line| line["type"] == "DELETED" && line["name"] == "first");
        let gone = if is_pattern { (1, String::new()) } else { (0, String::new()) };
        eventually("the type is gone", || (names() == gone).then_some(()));
        let words = ["get", "cm", "-o", "name", "--kubeconfig", served.kubeconfig()];
        env.kdelta(&words).finish().quiet_success();
        eventually("the definition is gone", || {
            api.find(&format!("{DEFINITIONS}/gadgets.{group}")).is_none().then_some(())
        });
        define_gadgets(&api, &namespace, &group, "second");
        let back = (0, format!("gadget.{group}/second\n"));
        eventually("the type is back", || (names() == back).then_some(()));
        api.delete(&format!("{DEFINITIONS}/gadgets.{group}"));
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn each_context_has_a_mirror_of_its_own() {
    let OnServer { env, testbed: one, namespace, api } = TestEnv::on_server();
    let two = env.own_server();
    let of_two = Api::of(&two);
    api.create_config_map(&namespace, "in-one", &json!({}));
    create_namespace(&of_two, &namespace, &json!({}));
    of_two.create_config_map(&namespace, "in-two", &json!({}));
    let config = contexts(&env, &[("one", one), ("two", &two)]);
    let words = ["--follow", "cm", "-n", &namespace, "--context", "one,two", "--kubeconfig", &config];
    let error = env.kdelta(&[&["serve", "--port", "1"], &words[..]].concat()).finish().failure(1);
    assert!(error.contains("several contexts can't share a port"), "{error}");
    let served = ServedRecording::start(&env, &words);
    let text = fs::read_to_string(&served.kubeconfig).expect("a kubeconfig");
    let written: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(written["current-context"], "one");
    let names = |context: &str| {
        let words = ["get", "cm", "-o", "name", "--context", context, "--kubeconfig", served.kubeconfig()];
        env.kdelta(&words).finish().quiet_success()
    };
    for (context, own, other) in [("one", "in-one", "in-two"), ("two", "in-two", "in-one")] {
        let names = names(context);
        assert!(names.contains(own) && !names.contains(other), "{context}: {names}");
    }
    // The loss of one cluster does not end the mirror of the other.
    two.stop();
    served.running.stderr.find("the loss", |line| line.starts_with("two: ") && line.contains("lost"));
    api.create_config_map(&namespace, "later", &json!({}));
    eventually("the later change", || names("one").contains("configmap/later").then_some(()));
    assert!(names("two").contains("in-two"), "the last known state is served");
}
