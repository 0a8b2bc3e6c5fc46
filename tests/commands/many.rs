//! Matched namespaces that join and leave on the in-process demo cluster.

use std::collections::BTreeSet;

use serde_json::json;

use crate::support::{Api, DemoServer, TestEnv};

#[test]
fn matched_namespaces_and_all_kinds_of_the_demo_are_watched() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let api = Api::open(&demo.url);
    let words = ["watch", "cm,secrets", "-n", "team-*", "--server", &demo.url, "-o", "name"];
    let running = env.kdelta(&words).start();
    for name in ["team-a", "other", "team-b"] {
        api.create("/api/v1/namespaces", &json!({"metadata": {"name": name}}));
        api.create_config_map(name, &format!("of-{name}"), &json!({}));
    }
    // The order of two namespaces is unspecified.
    let mut waited_for = BTreeSet::from(["configmap/of-team-a\n", "configmap/of-team-b\n"]);
    running.stdout.find("both, and nothing else", |line| {
        assert_ne!(line, "configmap/of-other\n");
        // Every namespace also has the root certificates.
        waited_for.remove(line);
        waited_for.is_empty()
    });
    let words = ["watch", "--all-kinds", "-A", "--until-synced", "-o", "name", "--server", &demo.url];
    let stdout = env.kdelta(&words).finish().quiet_success();
    for line in ["namespace/team-a", "configmap/of-other", "node/"] {
        assert!(stdout.lines().any(|other| other.starts_with(line)), "{line}: {stdout}");
    }
}

#[test]
fn single_cluster_flags_conflict_with_several_contexts() {
    let env = TestEnv::new();
    for (words, output) in [
        (
            &["watch", "po", "--context", "a,b", "--server", "x"][..],
            "--server applies to one cluster, but several",
        ),
        (&["api-resources", "--all-contexts"], "api-resources takes one context"),
        (&["get", "po", "--demo", "--all-contexts"], "--all-contexts names a server, and --demo"),
        (&["watch", "*"], "\"*\" is no type; --all-kinds means every type"),
        (&["watch", "*.apps", "web"], "names can't be given with \"*.apps\""),
    ] {
        let error = env.kdelta(words).finish().failure(2);
        assert!(error.starts_with(&format!("error: {output}")), "{error}");
    }
}
