//! Impersonation: the permissions to impersonate, and the permissions of the impersonated user.

use serde_json::{Value, json};

use crate::support::{Api, OnServer, TestEnv};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

/// Allows the user nobody to impersonate jane with the uid 7, the group dev and one extra; each needs its own
/// permission.
fn let_nobody_impersonate(api: &Api, namespace: &str) {
    let right = |group: &str, resource: &str, name: &str| json!({"apiGroups": [group], "resources": [resource], "verbs": ["impersonate"], "resourceNames": [name]});
    let own = "authentication.k8s.io";
    let name = format!("{namespace}:impersonator");
    let rules = [
        right("", "users", "jane"),
        right("", "groups", &format!("dev-{namespace}")),
        right(own, "uids", "7"),
        right(own, "userextras/kdelta.test/scope%", "view=all"),
    ];
    api.create(&format!("{RBAC}/clusterroles"), &json!({"metadata": {"name": name}, "rules": rules}));
    let nobody = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "nobody"});
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
    let binding = json!({"metadata": {"name": name}, "roleRef": role, "subjects": [nobody]});
    api.create(&format!("{RBAC}/clusterrolebindings"), &binding);
}

/// Allows the group to read the config maps of the namespace.
fn let_read(api: &Api, namespace: &str, group: &str) {
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}]);
    let path = format!("{RBAC}/namespaces/{namespace}");
    api.create(&format!("{path}/roles"), &json!({"metadata": {"name": group}, "rules": rules}));
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": group});
    let subject = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group});
    let binding = json!({"metadata": {"name": group}, "roleRef": role, "subjects": [subject]});
    api.create(&format!("{path}/rolebindings"), &binding);
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn each_impersonated_attribute_is_sent_and_needs_its_permission() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "seen", &json!({}));
    let dev = format!("dev-{namespace}");
    let_nobody_impersonate(&api, &namespace);
    let_read(&api, &namespace, &dev);
    let nobody = json!({"token": testbed.token("nobody")});
    let call = |flags: &[&str], user: &Value| {
        let config = env.kubeconfig_with(testbed, json!({}), user.clone());
        let words = [&["get", "cm", "seen", "-o", "name", "-n", &namespace][..], flags].concat();
        env.kdelta(&words).env("KUBECONFIG", &config).finish()
    };
    let jane = ["--as", "jane", "--as-group", &dev];
    // RBAC takes effect with a delay.
    crate::support::eventually("nobody may act as jane", || (call(&jane, &nobody).code == 0).then_some(()));
    let with = |more: &[&'static str]| [&jane[..], more].concat();
    let everything = with(&["--as-uid", "7", "--as-user-extra", "kdelta.test/scope%=view=all"]);
    assert_eq!(call(&everything, &nobody).quiet_success(), "configmap/seen\n");

    let not_seen = call(&["--as", "jane"], &nobody).failure(1);
    assert!(not_seen.contains("User \"jane\" cannot get resource \"configmaps\""), "{not_seen}");
    for (flags, refused) in [
        (vec!["--as", "john"], "users \"john\" is forbidden"),
        (with(&["--as-group", "ops"]), "groups \"ops\" is forbidden"),
        (with(&["--as-uid", "8"]), "uids.authentication.k8s.io \"8\" is forbidden"),
        (
            with(&["--as-user-extra", "kdelta.test/scope%=edit"]),
            "userextras.authentication.k8s.io \"edit\" is forbidden",
        ),
        (
            with(&["--as-user-extra", "kdelta.test/other=view=all"]),
            "userextras.authentication.k8s.io \"view=all\" is forbidden",
        ),
    ] {
        let error = call(&flags, &nobody).failure(1);
        assert!(error.starts_with("Error from server (Forbidden): ") && error.contains(refused), "{error}");
        assert!(error.contains("User \"nobody\" cannot impersonate resource"), "{error}");
    }

    // The same from a kubeconfig, which flags override.
    let mut in_file = nobody.clone();
    for (key, value) in [
        ("as", json!("jane")),
        ("as-uid", json!("7")),
        ("as-groups", json!([dev])),
        ("as-user-extra", json!({"kdelta.test/scope%": ["view=all"]})),
    ] {
        in_file[key] = value;
    }
    assert_eq!(call(&[], &in_file).quiet_success(), "configmap/seen\n");
    let error = call(&["--as-uid", "8"], &in_file).failure(1);
    assert!(error.contains("uids.authentication.k8s.io \"8\" is forbidden"), "{error}");
    in_file["as-user-extra"] = json!({"kdelta.test/scope%": ["view=all", "edit"]});
    let error = call(&[], &in_file).failure(1);
    assert!(error.contains("userextras.authentication.k8s.io \"edit\" is forbidden"), "{error}");
}

#[test]
fn impersonated_attributes_without_a_user_fail_before_any_request() {
    let env = TestEnv::new();
    for flags in [["--as-uid", "7"], ["--as-group", "dev"], ["--as-user-extra", "a=b"]] {
        let server = ["--server", "https://127.0.0.1:1"];
        let error = env.kdelta(&[&["get", "pods"][..], &flags, &server].concat()).finish().failure(1);
        assert!(error.contains("without impersonating a user"), "{error}");
    }
}
