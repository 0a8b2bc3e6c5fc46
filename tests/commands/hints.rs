//! Suggestions on a terminal, and the exit codes of empty results.

use std::process::Command;

use serde_json::json;

use crate::support::{DemoServer, Kdelta, OnServer, TestEnv, eventually};

/// Returns the output on a terminal created by `script`.
fn on_terminal(env: &TestEnv, line: &str) -> String {
    let mut command = Command::new("script");
    let program = env!("CARGO_BIN_EXE_kdelta");
    command.env_clear().env("HOME", env.home()).current_dir(env.home()).env("PATH", "/usr/bin:/bin");
    command.env("SHELL", "/bin/sh").env("TERM", "dumb");
    command.args(["-q", "-e", "-c", &format!("{program} {line}"), "/dev/null"]);
    Kdelta::other(command).finish().stdout.replace('\r', "")
}

/// The same where a hint is expected: a call is repeated if the server took longer than the hint's limit of one
/// second.
fn output_with_hint(env: &TestEnv, line: &str) -> String {
    eventually(&format!("a hint after {line:?}"), || {
        Some(on_terminal(env, line)).filter(|reported| reported.contains("hint: "))
    })
}

/// The same where no hint is expected although this response arrived in time.
fn output_after_response(env: &TestEnv, line: &str, response: &str) -> String {
    eventually(&format!("{response} for {line:?}"), || {
        let reported = on_terminal(env, &format!("{line} -v=6"));
        let (log, reported): (Vec<_>, Vec<_>) =
            reported.split_inclusive('\n').partition(|line| line.starts_with("20"));
        let has_response = log.iter().any(|line| line.contains(response));
        (has_response || reported.iter().any(|line| line.contains("hint"))).then(|| reported.concat())
    })
}

#[test]
#[cfg_attr(not(has_script), ignore = "needs script")]
fn unknown_namespace_gets_a_similar_suggestion() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let on = format!("-s {}", demo.url);
    for (line, printed) in [
        (
            "get pods -n shpo",
            "No resources found in shpo namespace.\nhint: there is no namespace \"shpo\"; did you mean shop?\n",
        ),
        (
            "index pods -n defualt --by node",
            "No values of node found\nhint: there is no namespace \"defualt\"; did you mean default?\n",
        ),
        (
            "index pods -n defualt --by owner",
            "No resources found in defualt namespace.\nhint: there is no namespace \"defualt\"; did you mean default?\n",
        ),
    ] {
        let reported = output_with_hint(&env, &format!("{line} {on}"));
        assert_eq!(reported, printed, "{line}");
    }
    for (namespace, response) in [
        ("nothing-like-it", "/api/v1/namespaces?limit=500 200 OK in "),
        ("kube-public", "/api/v1/namespaces/kube-public 200 OK in "),
    ] {
        let get = format!("get pods -n {namespace} {on}");
        let reported = output_after_response(&env, &get, response);
        assert_eq!(reported, format!("No resources found in {namespace} namespace.\n"));
    }
    let piped = env.kdelta(&["get", "pods", "-n", "shpo", "-s", &demo.url]).finish();
    assert_eq!((piped.code, &*piped.stderr), (0, "No resources found in shpo namespace.\n"));
}

#[test]
#[cfg_attr(not(has_script), ignore = "needs script")]
fn missing_object_gets_a_similar_suggestion() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let on = format!("-s {}", demo.url);
    for (line, printed) in [
        (
            "get svc checkot -n shop",
            "Error from server (NotFound): services \"checkot\" not found\nhint: did you mean checkout?\n",
        ),
        (
            "get svc/checkot -n shop -w",
            "Error from server (NotFound): services \"checkot\" not found\nhint: did you mean checkout?\n",
        ),
        (
            "watch svc/checkot -n shop",
            "Error from server (NotFound): services \"checkot\" not found\nhint: did you mean checkout?\n",
        ),
        (
            "get svc checkout -n shpo",
            "Error from server (NotFound): namespaces \"shpo\" not found\nhint: did you mean shop?\n",
        ),
        (
            "get svc -n shop --by label:app=",
            "No resources found in shop namespace.\nhint: label:app= selects objects with an empty value; `kdelta index TYPE --by label:app` lists the values\n",
        ),
    ] {
        assert_eq!(output_with_hint(&env, &format!("{line} {on}")), printed, "{line}");
    }
    let unlike = env.kdelta(&["get", "svc", "zzzzzzzz", "-n", "shop", "-s", &demo.url]).finish();
    assert_eq!(unlike.failure(1), "Error from server (NotFound): services \"zzzzzzzz\" not found\n");
}

#[test]
fn namespace_pattern_without_a_match_is_named() {
    let env = TestEnv::new();
    for (line, printed) in [
        ("get pods -n zzz*", "No namespace matches \"zzz*\".\n"),
        ("index pods -n zzz*,y? --by node", "No namespace matches \"zzz*\" or \"y?\".\n"),
        (
            "get pods -n sh* --namespace-selector no=such",
            "No namespace matches \"sh*\" with the labels \"no=such\".\n",
        ),
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--demo"]).collect();
        let ended = env.kdelta(&words).finish();
        assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (0, "", printed), "{line}");
    }
}

#[test]
#[cfg_attr(not(all(has_go, has_script)), ignore = "needs Go and script")]
fn no_namespace_hint_without_permission() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let (role, user) = (format!("lister-{namespace}"), format!("user-{namespace}"));
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]);
    api.create(&format!("{rbac}/clusterroles"), &json!({"metadata": {"name": role}, "rules": rules}));
    api.create(
        &format!("{rbac}/clusterrolebindings"),
        &json!({
            "metadata": {"name": role},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
        }),
    );
    let get = format!("get cm -n {namespace}x --kubeconfig {}", testbed.kubeconfig());
    let nothing = format!("No resources found in {namespace}x namespace.\n");
    let reported = output_with_hint(&env, &get);
    assert!(reported.contains(&format!("did you mean {namespace}")), "{reported}");
    // The permission takes effect on the server with a delay.
    let refusal = format!("/api/v1/namespaces/{namespace}x 403 Forbidden in ");
    let reported = eventually("the user may list", || {
        Some(on_terminal(&env, &format!("{get} --as {user}")))
            .filter(|reported| !reported.contains("Forbidden"))
    });
    assert_eq!(reported, nothing);
    assert_eq!(output_after_response(&env, &format!("{get} --as {user}"), &refusal), nothing);
}

#[test]
#[cfg_attr(not(has_script), ignore = "needs script")]
fn missing_kubeconfig_hints_at_the_demo() {
    let env = TestEnv::new();
    let reported = on_terminal(&env, "get pods");
    let (error, hint) = reported.split_once('\n').expect("two lines");
    assert!(error.starts_with("error: invalid configuration: no configuration has been provided"), "{error}");
    assert!(hint.starts_with("hint: ") && hint.contains("--demo"), "{hint}");
}

#[test]
#[cfg_attr(not(has_script), ignore = "needs script")]
fn unknown_context_cluster_or_user_gets_a_similar_suggestion() {
    let env = TestEnv::new();
    let config = "{contexts: [{name: prod, context: {cluster: c}}], clusters: [{name: cluster-eu, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: admin, user: {}}]}";
    env.file("config", config);
    for (flag, printed) in [
        (
            "--context=pord",
            "Error in configuration: context was not found for specified context: pord\nhint: did you mean prod?\n",
        ),
        ("--context=zzz", "Error in configuration: context was not found for specified context: zzz\n"),
        (
            "--context=prod --cluster=cluster-ue",
            "error: no server found for cluster \"cluster-ue\"\nhint: did you mean cluster-eu?\n",
        ),
        (
            "--cluster=cluster-eu --user=amdin",
            "error: auth info \"amdin\" does not exist\nhint: did you mean admin?\n",
        ),
    ] {
        let reported = on_terminal(&env, &format!("get pods --kubeconfig config {flag}"));
        assert_eq!(reported, printed, "{flag}");
    }
}

#[test]
#[cfg_attr(not(has_script), ignore = "needs script")]
fn misspelled_types_get_a_suggestion_in_every_command() {
    let env = TestEnv::new();
    for command in ["get deploymets", "watch deploymets", "index deploymets --by node"] {
        let reported = on_terminal(&env, &format!("{command} --demo"));
        let printed = "error: the server doesn't have a resource type \"deploymets\"\nhint: did you mean deployments.apps?\n";
        assert_eq!(reported, printed, "{command}");
    }
}

#[test]
fn empty_result_fails_only_with_the_flag() {
    let env = TestEnv::new();
    for (line, code) in [
        ("get pods -n kube-public --demo", 0),
        ("get pods -n kube-public --demo --fail-if-empty", 3),
        ("get pods -n kube-public --demo --fail-if-empty -o json", 3),
        ("get pods --demo --fail-if-empty", 0),
        ("get pods --demo --by label:app=none --fail-if-empty", 3),
        ("get pods none --demo --ignore-not-found --fail-if-empty", 3),
        ("get pods none --demo --fail-if-empty", 1),
        ("index pods --demo --by node --fail-if-empty", 0),
        ("index pods --demo --by label:none --fail-if-empty", 3),
        ("get pods --demo -w --fail-if-empty", 2),
    ] {
        let finished = env.kdelta(&line.split(' ').collect::<Vec<_>>()).finish();
        assert_eq!(finished.code, code, "{line}: {}", finished.stderr);
    }
}

#[test]
#[cfg_attr(not(has_script), ignore = "needs script")]
fn summary_follows_the_rows_on_a_terminal() {
    let env = TestEnv::new();
    for line in ["watch pods --demo --until-synced", "watch pods --demo --count 3"] {
        let reported = on_terminal(&env, line);
        let last = reported.lines().last().unwrap_or_default();
        assert!(last.contains(" received, ") && last.ends_with(" 0 relists"), "{line}: {reported}");
        assert_eq!(reported.matches(" received, ").count(), 1, "{line}: {reported}");
    }
}

#[test]
#[cfg_attr(not(has_script), ignore = "needs script")]
fn short_name_in_a_recording_without_discovery_is_explained() {
    let env = TestEnv::new();
    let line = json!({
        "ts": "2026-11-24T03:00:00.000Z", "type": "ADDED", "context": "prod", "group": "", "version": "v1",
        "kind": "Pod", "resource": "pods", "object": {"metadata": {"name": "web", "namespace": "shop", "uid": "u"}},
    });
    env.file("lines", &line.to_string());
    let imported = env.kdelta(&["recording", "import", "lines", "--to", "rec"]).finish();
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    let error = on_terminal(&env, "get po --from rec");
    let expected =
        "error: the server doesn't have a resource type \"po\"\nhint: no type has a short name here, ";
    assert!(error.starts_with(expected), "{error}");
}
