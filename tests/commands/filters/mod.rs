//! Local filters on the demo, and their errors.

mod expressions;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{Finished, TestEnv};

fn call(words: &[&str]) -> Finished {
    let env = TestEnv::new();
    let call = env.kdelta(&[words, &["--demo", "--speed", "0.0001"]].concat());
    call.env("KDELTA_DEMO_SEED", "7").finish()
}

fn lines(words: &[&str]) -> Vec<String> {
    call(words).quiet_success().lines().map(str::to_owned).collect()
}

/// Whether a pod, as the server returns it, matches.
type Oracle<'a> = &'a dyn Fn(&Value) -> bool;

/// Whether the condition Ready of a pod is true.
fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|one| one["type"] == "Ready" && one["status"] == "True"))
}

#[test]
fn filters_select_some_objects_of_the_demo() {
    let text = call(&["get", "pods", "-A", "-o", "json"]).quiet_success();
    let list: Value = serde_json::from_str(&text).expect("a List");
    let pods = list["items"].as_array().expect("items");
    let name = |pod: &Value| pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let cases: &[(&[&str], Oracle<'_>)] = &[
        (&["--name", "web-*"], &|pod| name(pod).starts_with("web-")),
        (&["--name", "/^(web|coredns)-/"], &|pod| {
            name(pod).starts_with("web-") || name(pod).starts_with("coredns-")
        }),
        (&["--field-selector", "spec.nodeName in (worker-1)"], &|pod| pod["spec"]["nodeName"] == "worker-1"),
        (&["--field-selector", "status.phase notin (Running)"], &|pod| pod["status"]["phase"] != "Running"),
        (&["-l", "app=web", "-l", "k8s-app"], &|pod| {
            let labels = &pod["metadata"]["labels"];
            labels["app"] == "web" || !labels["k8s-app"].is_null()
        }),
        (&["--ready", "--name", "web-*"], &|pod| name(pod).starts_with("web-") && is_ready(pod)),
        (&["--not-ready"], &|pod| !is_ready(pod) && pod["status"]["phase"] != "Succeeded"),
        (&["--newer-than", "9y"], &|_| true),
        (&["--older-than", "9y"], &|_| false),
        (&["--restarted-within", "9y"], &|pod| {
            let statuses =
                ["containerStatuses", "initContainerStatuses"].map(|list| pod["status"][list].clone());
            let mut statuses = statuses.iter().filter_map(Value::as_array).flatten();
            statuses.any(|status| !status["lastState"]["terminated"]["finishedAt"].is_null())
        }),
    ];
    for (flags, matches) in cases {
        let expected: BTreeSet<String> =
            pods.iter().filter(|pod| matches(pod)).map(|pod| format!("pod/{}", name(pod))).collect();
        for words in [&["get", "pods", "-A"][..], &["watch", "pods", "-A", "--until-synced"]] {
            let found = lines(&[words, &["-o", "name"], *flags].concat());
            assert_eq!(found.len(), expected.len(), "{words:?} {flags:?}: no row repeats");
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "{words:?} {flags:?}");
        }
    }
}

#[test]
fn status_is_that_of_the_column() {
    let rows = lines(&["get", "pods", "-A", "--no-headers"]);
    let running: Vec<_> =
        rows.into_iter().filter(|row| row.split_whitespace().nth(3) == Some("Running")).collect();
    assert!(!running.is_empty());
    let names = |rows: &[String]| -> Vec<String> {
        rows.iter().filter_map(|row| row.split_whitespace().nth(1)).map(str::to_owned).collect()
    };
    let found = lines(&["get", "pods", "-A", "--no-headers", "--status", "Running"]);
    assert_eq!(names(&found), names(&running));
}

#[test]
fn invalid_filters_are_usage_errors() {
    for (flags, error) in [
        (&["--older-than", "1w"][..], "invalid --older-than: time: unknown unit \"w\" in duration \"1w\""),
        (&["--restarted-within", "x"], "invalid --restarted-within: time: invalid duration \"x\""),
        (&["--name", "/[/"], "invalid --name /[/: "),
        (&["--status", ""], "--status needs a status"),
        (&["--ready", "--not-ready"], "--ready and --not-ready exclude each other"),
        (&["-l", "a=b", "-l", "c in d"], "invalid --selector \"c in d\": "),
        (&["--field-selector", "a in (b"], "invalid field selector: the set in 'a in (b' has no closing"),
        (&["--changed-by", "spec"], "--changed-by needs --watch"),
        (&["-w", "--changed-by", "jq=.x |"], "invalid --changed-by: error parsing jq .x |: "),
        (&["-w", "--changed-by", "a..b"], "invalid field path \"a..b\""),
        (
            &["--resource-version", "5", "-w", "--newer-than", "1h"],
            "--resource-version and --newer-than exclude",
        ),
    ] {
        let stderr = call(&[&["get", "pods"], flags].concat()).failure(2);
        assert!(stderr.contains(error), "{flags:?}: {stderr}");
    }
}

#[test]
fn named_object_that_does_not_match_is_not_missing() {
    for words in [
        &["get", "node", "worker-1", "--older-than", "9y"][..],
        &["get", "node", "worker-1", "--older-than", "9y", "--by", "name=worker-1"],
        &["index", "node", "worker-1", "--older-than", "9y", "--by", "name"],
        &["index", "node", "worker-1", "--older-than", "9y", "--by", "name", "--by", "label:a"],
        &["tree", "node/worker-1", "--older-than", "9y"],
        &["tree", "nodes", "--older-than", "9y"],
    ] {
        let nothing = call(words);
        assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""), "{words:?}: {}", nothing.stderr);
        assert_eq!(nothing.stderr, "No resources found\n", "{words:?}");
    }
    assert_eq!(lines(&["get", "node", "worker-1", "--newer-than", "9y", "-o", "name"]), ["node/worker-1"]);
    let empty = call(&["get", "node", "worker-1", "--older-than", "9y", "-o", "json"]);
    assert_eq!(
        (empty.code, empty.stdout.as_str()),
        (0, ""),
        "one object was requested, and it does not match"
    );
    let watched = call(&["watch", "node", "worker-1", "--older-than", "9y", "--until-synced", "-o", "name"]);
    assert_eq!((watched.code, watched.stdout.as_str()), (0, ""), "{}", watched.stderr);
    assert_eq!(call(&["get", "pods", "--older-than", "9y", "--fail-if-empty"]).code, 3);
}
