//! `kdelta serve --follow` when the cluster is gone for a while, and without rights for a type.

use serde_json::json;

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
