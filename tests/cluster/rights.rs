//! Rights that are not there, not there for all, or not there yet.

use serde_json::json;

use super::many::{allow, allow_to, create_namespace, is};
use crate::support::{OnServer, TestEnv};

#[test]
fn what_was_left_out_joins_once_it_is_allowed() {
    let Some(OnServer { env, testbed, api, namespace }) = TestEnv::on_server() else { return };
    let user = format!("patient-{namespace}");
    let later = format!("{namespace}-later");
    create_namespace(&api, &later, &json!({}));
    for namespace in [&namespace, &later] {
        api.create_config_map(namespace, "x", &json!({}));
    }
    allow(&api, &user, None, "namespaces");
    allow(&api, &user, Some(&namespace), "configmaps");
    let running = env.kdelta_on(testbed, &["watch", "cm", "-A", "-o", "json", "--as", &user]).start();
    let lines = running.stdout.json_until("what is allowed", is(format!("SYNCED {namespace}")));
    assert!(lines.iter().any(|line| line["namespace"] == namespace.as_str() && line["name"] == "x"));
    running.stderr.find("what is left out", |line| line.starts_with("not allowed, and so left out: "));
    allow(&api, &user, Some(&later), "configmaps");
    let lines = running.stdout.json_until("it joins", is(format!("SYNCED {later}")));
    let added: Vec<_> = lines.iter().filter(|line| line["type"] == "ADDED").collect();
    assert!(
        added.iter().all(|line| line["namespace"] == later.as_str()),
        "nothing is told again: {added:#?}"
    );
    assert_eq!(added.iter().filter(|line| line["name"] == "x").count(), 1, "{added:#?}");
    // The tests beside this one make namespaces, too.
    let joins = format!("can be had now, and so is watched: configmaps in {later}\n");
    running.stderr.find("that it joins", |line| line == joins);
    api.create_config_map(&later, "y", &json!({}));
    running.stdout.json_until("it is watched", is(format!("ADDED {later}/y")));
}

#[test]
fn a_type_that_can_be_had_neither_everywhere_nor_in_each_namespace_is_one_error() {
    let Some(OnServer { env, testbed, api, namespace }) = TestEnv::on_server() else { return };
    let user = format!("nobody-{namespace}");
    let watch = ["watch", "cm", "-A", "-o", "json", "--as", &user];
    let done = env.kdelta_on(testbed, &watch).finish();
    let lines: Vec<serde_json::Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((done.code, lines.len()), (1, 1), "{} {}", done.stdout, done.stderr);
    assert_eq!((&lines[0]["type"], &lines[0]["object"]["code"]), (&json!("ERROR"), &json!(403)));
    assert!(
        done.stderr.contains("the namespaces can't be listed either") || done.stderr.contains("Forbidden")
    );

    // The namespaces are known, and none of them is allowed.
    allow(&api, &user, None, "namespaces");
    let done = env.kdelta_on(testbed, &watch).finish();
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(!done.stdout.is_empty() && done.stdout.lines().all(|line| line.contains(r#""type":"ERROR""#)));
}

#[test]
fn what_may_be_listed_and_not_watched_is_told_and_then_an_error() {
    let Some(OnServer { env, testbed, api, namespace }) = TestEnv::on_server() else { return };
    let user = format!("lists-{namespace}");
    api.create_config_map(&namespace, "x", &json!({}));
    allow_to(&api, &user, Some(&namespace), "configmaps", &["get", "list"]);
    let watch = ["watch", "cm", "-n", &namespace, "-o", "json", "--as", &user];
    let done = env.kdelta_on(testbed, &watch).finish();
    let types: Vec<String> = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["type"].to_string())
        .collect();
    assert_eq!(types, [r#""ADDED""#, r#""SYNCED""#, r#""ERROR""#], "{}", done.stderr);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(done.stderr.contains("cannot watch resource \"configmaps\""), "{}", done.stderr);
    // What needs no watch does without.
    let done = env.kdelta_on(testbed, &[&watch[..], &["--until-synced"]].concat()).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let index = ["index", "cm", "--by", "name", "-n", &namespace, "--as", &user, "--no-headers"];
    for _ in 0..5 {
        let counted = env.kdelta_on(testbed, &index).finish();
        assert_eq!(
            (counted.code, counted.stdout.split_whitespace().next()),
            (0, Some("x")),
            "{}",
            counted.stderr
        );
    }
}

#[test]
fn of_several_parts_that_are_asked_once_what_can_be_had_is_printed_with_the_exit_code_of_a_part() {
    let Some(OnServer { env, testbed, api, namespace }) = TestEnv::on_server() else { return };
    let user = format!("some-{namespace}");
    let other = format!("{namespace}-other");
    create_namespace(&api, &other, &json!({}));
    for namespace in [&namespace, &other] {
        api.create_config_map(namespace, "x", &json!({}));
    }
    allow(&api, &user, Some(&namespace), "configmaps");
    let both = format!("{namespace},{other}");
    for words in [&["get", "cm", "-o", "name"][..], &["index", "cm", "--by", "name", "--no-headers"]] {
        let done = env.kdelta_on(testbed, &[words, &["-n", &both, "--as", &user]].concat()).finish();
        assert_eq!((done.code, done.stdout.lines().count()), (4, 1), "{} {}", done.stdout, done.stderr);
        let said =
            format!("cannot list resource \"configmaps\" in API group \"\" in the namespace \"{other}\"");
        assert!(done.stderr.contains(&said) && done.stderr.lines().count() == 1, "{}", done.stderr);
    }
    // A name that is missing is an error of the whole, as kubectl has it.
    let missing = ["get", "cm", "x", "nope", "-n", &namespace, "-o", "name"];
    let done = env.kdelta_on(testbed, &missing).finish();
    assert_eq!((done.code, done.stdout.as_str()), (1, "configmap/x\n"), "{}", done.stderr);
}
