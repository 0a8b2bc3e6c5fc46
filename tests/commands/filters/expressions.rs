//! `--where` on the demo, and its errors.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Finished, TestEnv};

/// Whether a pod, as the server returns it, matches.
type Oracle<'a> = &'a dyn Fn(&Value) -> bool;

fn call(words: &[&str]) -> Finished {
    let env = TestEnv::new();
    let call = env.kdelta(&[words, &["--demo", "--speed", "0.0001"]].concat());
    call.env("KDELTA_DEMO_SEED", "7").finish()
}

fn names(words: &[&str]) -> BTreeSet<String> {
    call(words).quiet_success().lines().map(str::to_owned).collect()
}

#[test]
fn expressions_select_objects_of_the_demo() {
    let text = call(&["get", "pods", "-A", "-o", "json"]).quiet_success();
    let list: Value = serde_json::from_str(&text).expect("a List");
    let pods = list["items"].as_array().expect("items");
    let name = |pod: &Value| pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let cases: &[(&[&str], Oracle<'_>)] = &[
        (&["--where", "object.spec.nodeName == 'worker-1'"], &|pod| pod["spec"]["nodeName"] == "worker-1"),
        (&["--where", "object.metadata.name.startsWith('web-')"], &|pod| name(pod).starts_with("web-")),
        (
            &["--where", "object.status.phase == 'Running'", "--where", "object.spec.nodeName.endsWith('2')"],
            &|pod| pod["status"]["phase"] == "Running" && pod["spec"]["nodeName"] == "worker-2",
        ),
        (&["--where", "timestamp(object.metadata.creationTimestamp) < now"], &|_| true),
        (&["--where", "object.metadata.namespace in ['shop', 'monitoring']", "--newer-than", "9y"], &|pod| {
            ["shop", "monitoring"].map(Value::from).contains(&pod["metadata"]["namespace"])
        }),
    ];
    for (flags, matches) in cases {
        let selected: Vec<&Value> = pods.iter().filter(|pod| matches(pod)).collect();
        let expected: BTreeSet<String> = selected.iter().map(|pod| format!("pod/{}", name(pod))).collect();
        assert!(!expected.is_empty(), "{flags:?}");
        assert_eq!(names(&[&["get", "pods", "-A", "-o", "name"], *flags].concat()), expected, "{flags:?}");
        let watch = ["watch", "pods", "-A", "-o", "name", "--until-synced"];
        assert_eq!(names(&[&watch, *flags].concat()), expected, "{flags:?}");
        let index = ["index", "pods", "-A", "--by", "name", "-o", "name"];
        let values: BTreeSet<String> = selected.iter().map(|pod| name(pod)).collect();
        assert_eq!(names(&[&index, *flags].concat()), values, "{flags:?}");
    }
}

#[test]
fn objects_without_a_result_are_counted_and_reported_once() {
    let nodes = call(&["get", "nodes", "-o", "name"]).quiet_success().lines().count();
    let report = format!("--where: {nodes} objects have no field spec.foo\n");
    for (words, expected) in [
        (&["get", "nodes", "-o", "name"][..], report.clone()),
        (&["get", "nodes"], format!("{report}No resources found\n")),
        // The server sends only this one.
        (
            &["get", "nodes", "--by", "name=worker-1"],
            "--where: 1 object has no field spec.foo\nNo resources found\n".to_owned(),
        ),
        (&["index", "nodes", "--by", "name"], format!("{report}No resources found\n")),
        (&["watch", "nodes", "--until-synced", "-o", "name"], report.clone()),
        (&["tree", "nodes"], format!("{report}No resources found\n")),
        (
            &["get", "node", "worker-1"],
            "--where: 1 object has no field spec.foo\nNo resources found\n".to_owned(),
        ),
    ] {
        let found = call(&[words, &["--where", "object.spec.foo == 1"]].concat());
        assert_eq!((found.code, found.stdout.as_str()), (0, ""), "{words:?}: {}", found.stderr);
        assert_eq!(found.stderr, expected, "{words:?}");
    }
    let hidden = names(&["get", "nodes", "-o", "name", "--where", "object.spec.foo == 1 || true"]);
    assert_eq!(hidden.len(), nodes);
    let text = call(&["get", "nodes", "-o", "name", "--where", "object.metadata.name"]).stderr;
    assert_eq!(text, format!("--where: {nodes} objects have no result: the result is no boolean\n"));
}

#[test]
fn invalid_expressions_are_usage_errors_with_their_position() {
    for (expression, error) in [
        (
            "object.spec.replicas > 2 && paused",
            "error: invalid --where: line 1, column 29: unknown variable \"paused\"\n\
             \x20 object.spec.replicas > 2 && paused\n\
             \x20                             ^\n",
        ),
        ("object.spec.", "line 1, column 13: expected a name, found the end\n"),
        ("size(object.spec, 1) > 0", "line 1, column 1: the function \"size\" takes 1 argument, not 2\n"),
        ("object.a.b() == 1", "line 1, column 10: unknown function \"b\"\n"),
        ("1 + 'a' == 2", "line 1, column 3: + does not accept int and string\n"),
        ("object.spec.replicas + 1", "line 1, column 22: the expression is of type int, not bool\n"),
    ] {
        for command in ["get", "watch", "index", "tree"] {
            let by: &[&str] = if command == "index" { &["--by", "name"] } else { &[] };
            let stderr = call(&[&[command, "pods", "--where", expression], by].concat()).failure(2);
            assert!(stderr.contains(error), "{command} {expression}: {stderr}");
        }
    }
    for command in [&["get", "pods"][..], &["index", "pods", "-w", "--by", "name"], &["tree", "pods"]] {
        let stderr = call(&[command, &["--where", "old == null"]].concat()).failure(2);
        let problem =
            "line 1, column 1: old is the state before a change, and only watch and get -w print changes\n";
        assert!(stderr.contains(problem), "{command:?}: {stderr}");
    }
}
