//! Merged kubeconfig files, compared with kubectl.

use std::ffi::OsString;
use std::process::Command;

use kdelta::kubeconfig::{Config, ConfigOptions, Contexts};
use serde_json::{Value, json};

use crate::support::{OnServer, TestEnv};

/// Writes a kubeconfig with these clusters and contexts: name and server, and name, cluster and namespace.
fn file(env: &TestEnv, name: &str, current: &str, clusters: &[[&str; 2]], contexts: &[[&str; 3]]) {
    let clusters: Vec<_> =
        clusters.iter().map(|[name, server]| json!({"name": name, "cluster": {"server": server}})).collect();
    let context = |[name, cluster, namespace]: &[&str; 3]| json!({"name": name, "context": {"cluster": cluster, "user": "", "namespace": namespace}});
    let contexts: Vec<_> = contexts.iter().map(context).collect();
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": current, "clusters": clusters,
        "contexts": contexts,
    });
    env.file(name, &config.to_string());
}

fn joined(env: &TestEnv, list: &[&str]) -> OsString {
    let paths = list.iter().map(|name| if name.is_empty() { "".into() } else { env.home().join(name) });
    std::env::join_paths(paths).expect("a list of paths")
}

/// Returns kubectl's merge of a list of files.
fn merged_by_kubectl(list: &OsString) -> Value {
    let mut command = Command::new(crate::support::kubectl());
    command.args(["config", "view", "--merge", "--raw", "-o", "json"]).env("KUBECONFIG", list);
    let output = command.output().expect("kubectl runs");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn merged_files_equal_those_of_kubectl() {
    let env = TestEnv::new();
    file(&env, "a", "", &[["c", "https://a.example"]], &[["x", "c", "in-a"]]);
    file(
        &env,
        "b",
        "y",
        &[["c", "https://b.example"], ["d", "https://d.example"]],
        &[["y", "c", ""], ["x", "d", "in-b"]],
    );
    file(
        &env,
        "c",
        "z",
        &[["e", "https://e.example:6443/prefix"]],
        &[["z", "e", "in-c"], ["y", "d", "in-c"]],
    );
    env.file("empty", "");
    for list in [
        &["a", "b", "c"][..],
        &["c", "b", "a"],
        &["b", "a"],
        &["missing", "a", "", "empty", "b", "a"],
        &["empty", "missing", "b"],
    ] {
        let list = joined(&env, list);
        let options = |context: &str| {
            ConfigOptions::default()
                .kubeconfig_env(Some(list.clone()))
                .context(Some(context.to_owned()).filter(|context| !context.is_empty()))
        };
        let expected = merged_by_kubectl(&list);
        let own = Contexts::load(&options("")).expect("contexts");
        let current = expected["current-context"].as_str().filter(|current| !current.is_empty());
        assert_eq!(own.current.as_deref(), current, "{list:?}");
        let contexts = expected["contexts"].as_array().expect("contexts");
        assert_eq!(own.names.len(), contexts.len(), "{list:?}");
        for context in contexts {
            let config =
                Config::load(&options(context["name"].as_str().expect("a name"))).expect("a context");
            let context = &context["context"];
            let clusters = expected["clusters"].as_array().expect("clusters");
            let cluster =
                clusters.iter().find(|cluster| cluster["name"] == context["cluster"]).expect("there");
            assert_eq!(Some(config.server()), cluster["cluster"]["server"].as_str(), "{list:?}");
            assert_eq!(
                config.default_namespace(),
                context["namespace"].as_str().unwrap_or("default"),
                "{list:?}"
            );
        }
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn first_user_of_a_name_wins_and_paths_are_relative_to_their_file() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    std::fs::create_dir_all(env.home().join("far")).expect("a folder");
    env.file("far/token", testbed.token("reader"));
    std::fs::copy(testbed.ca_file(), env.home().join("far/ca.crt")).expect("the authority");
    let user = |user: Value| json!([{"name": "u", "user": user}]);
    let cluster = json!({"server": testbed.server(), "certificate-authority": "ca.crt"});
    let right = json!({
        "current-context": "x", "users": user(json!({"tokenFile": "token"})),
        "clusters": [{"name": "c", "cluster": cluster}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    });
    env.file("far/right", &right.to_string());
    // With any field of the other user as well, the login would succeed or contradict itself.
    env.file("wrong", &json!({"users": user(json!({"token": "wrong"}))}).to_string());
    let call = |list: &[&str]| {
        env.kdelta(&["get", "ns", "default", "-o", "name"]).env("KUBECONFIG", joined(&env, list)).finish()
    };
    assert_eq!(call(&["far/right", "wrong"]).quiet_success(), "namespace/default\n");
    let error = call(&["wrong", "far/right"]).failure(1);
    assert!(error.contains("You must be logged in to the server (Unauthorized)"), "{error}");
}

#[test]
fn duplicate_names_in_one_file_fail() {
    let env = TestEnv::new();
    env.file("twice", "clusters: [{name: c, cluster: {}}, {name: c, cluster: {}}]");
    for list in [&["twice"][..], &["missing", "twice"]] {
        let error = env.kdelta(&["get", "pods"]).env("KUBECONFIG", joined(&env, list)).finish().failure(1);
        assert!(error.starts_with("error: error loading config file \""), "{error}");
        assert!(error.contains("duplicate name \"c\" in list: "), "{error}");
    }
}

#[test]
fn server_variable_applies_without_another_server() {
    let env = TestEnv::new();
    let demo = crate::support::DemoServer::start(&env, &[]);
    let call = || env.kdelta(&["get", "ns", "default", "-o", "name"]).env("KUBERNETES_MASTER", &demo.url);
    assert_eq!(call().finish().quiet_success(), "namespace/default\n");
    file(&env, "a", "x", &[["c", "http://127.0.0.1:1"]], &[["x", "c", ""]]);
    let error = call().env("KUBECONFIG", env.home().join("a")).finish().failure(1);
    assert!(error.contains("127.0.0.1:1 was refused"), "{error}");
}
