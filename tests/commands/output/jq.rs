//! `-o jq` on the demo: the same results as the JSON document gives, and bounded failures.

use serde_json::Value;

use crate::support::{DemoServer, Finished, TestEnv};

fn call(words: &[&str]) -> Finished {
    let env = TestEnv::new();
    let call = env.kdelta(&[words, &["--demo", "--speed", "0.0001"]].concat());
    call.env("KDELTA_DEMO_SEED", "7").finish()
}

fn lines(words: &[&str]) -> Vec<String> {
    call(words).quiet_success().lines().map(str::to_owned).collect()
}

#[test]
fn input_is_the_json_document() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.0001"]);
    let get = |words: &[&str], format: &str| {
        env.kdelta(&[&["get", "-s", &demo.url], words, &["-o", format]].concat()).finish().quiet_success()
    };
    let parsed = |text: &str| serde_json::from_str::<Value>(text).expect("JSON on one line");
    let all = ["deploy", "-A"];
    let json = parsed(&get(&all, "json"));
    let names =
        json["items"].as_array().expect("items").iter().map(|item| item["metadata"]["name"].to_string());
    let names = names.collect::<Vec<_>>().join("\n") + "\n";
    assert_eq!(get(&all, "jq=.items[].metadata.name"), names);
    assert_eq!(get(&all, "jq=.items[] | .metadata | .name"), names, "item by item");
    assert_eq!(get(&all, "jq=[.items[]] | .[].metadata.name"), names, "as a whole");
    assert_eq!(parsed(&get(&all, "jq=.")), json);
    assert_eq!(get(&all, "jq=.kind"), "\"List\"\n");
    let one = ["deploy", "web"];
    let single = parsed(&get(&one, "json"));
    assert_eq!(parsed(&get(&one, "jq=.")), single);
    assert_eq!(single["metadata"]["managedFields"], Value::Null);
}

#[test]
fn strings_may_be_raw_and_expressions_in_files() {
    let words = ["get", "deploy", "web", "-o", "jq=.metadata.name, .spec.replicas"];
    assert_eq!(lines(&words), ["\"web\"", "4"]);
    assert_eq!(lines(&[&words[..], &["-r"]].concat()), ["web", "4"]);
    assert_eq!(lines(&[&words[..], &["--raw-output"]].concat()), ["web", "4"]);
    let env = TestEnv::new();
    let file = env.file("expression.jq", "# the names\n.items[]\n| .metadata.name\n");
    let file = format!("jq-file={}", file.display());
    let names = env.kdelta(&["get", "nodes", "--demo", "-r", "-o", &file]).finish().quiet_success();
    assert!(names.starts_with("control-1\nworker-1\n"), "{names}");
    let error = env.kdelta(&["get", "nodes", "--demo", "-r"]).finish().failure(2);
    assert!(error.starts_with("error: --raw-output is about the results of jq"), "{error}");
    let sorted =
        lines(&["get", "nodes", "-r", "-o", "jq=.items[].metadata.name", "--sort-by", ".metadata.name"]);
    assert!(sorted.is_sorted() && sorted.len() > 3, "{sorted:?}");
}

#[test]
fn watch_evaluates_the_object_of_each_change() {
    let names = lines(&["get", "nodes", "-r", "-o", "jq=.items[].metadata.name"]);
    let watch = ["watch", "nodes", "--until-synced", "-r", "-o", "jq=.metadata.name"];
    assert_eq!(lines(&watch), names);
}

#[test]
fn errors_name_the_position_or_the_object() {
    let error = call(&["get", "nodes", "-o", "jq=.items[] |\n foo"]).failure(2);
    assert!(error.starts_with("error: error parsing jq .items[] |\n"), "{error}");
    assert!(error.contains("line 2, column 2: undefined filter foo/0"), "{error}");
    // One object of several fails; the others are printed.
    let expression =
        "jq=.items[] | if .metadata.name == \"worker-1\" then error(\"no\") else .metadata.name end";
    for words in [
        &["get", "nodes", "-o", expression][..],
        &["watch", "nodes", "--until-synced", "-o", &expression.replace(".items[] | ", "")],
    ] {
        let done = call(words);
        assert_eq!(done.code, 1, "{}", done.stderr);
        assert!(done.stdout.starts_with("\"control-1\"\n\"worker-2\"\n"), "{words:?}: {}", done.stdout);
        assert!(done.stderr.contains("error: jq: node/worker-1: no\n"), "{words:?}: {}", done.stderr);
    }
    let whole = call(&["get", "nodes", "-o", "jq=.kind | keys"]).failure(1);
    assert!(whole.starts_with("error: jq: List: "), "{whole}");
    let secret = call(&["get", "secrets", "-n", "shop", "-o", "jq=.items[] | .data | error"]);
    assert!(secret.code == 1 && secret.stderr.contains("its reason is not shown"), "{}", secret.stderr);
}

#[test]
fn endless_expression_ends_a_change_but_not_the_watch() {
    let expression = "jq=.metadata.name, if .metadata.name == \"worker-1\" then repeat(1) else empty end";
    let done = call(&["watch", "nodes", "--until-synced", "-o", expression]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(
        done.stderr.contains("error: jq: node/worker-1: the expression has more than a million results"),
        "{}",
        done.stderr
    );
    assert!(done.stdout.ends_with("\"worker-4\"\n") || done.stdout.contains("\"worker-2\"\n"), "it goes on");
}
