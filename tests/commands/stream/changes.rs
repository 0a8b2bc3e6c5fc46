//! The forms of changes under rows, and the managers that made them.

use serde_json::{Value, json};

use crate::support::{Api, DemoServer, TestEnv, config_maps};

/// Returns the stdout of a watch of the demo that prints live changes only.
fn changes(env: &TestEnv, kinds: &str, form: &str) -> String {
    let words = ["watch", kinds, "-A", "--demo", "--speed", "50", "--watch-only", "--count", "60"];
    env.kdelta(&[&words[..], &[form]].concat()).finish().quiet_success()
}

#[test]
fn patches_are_json_on_one_line() {
    let env = TestEnv::new();
    for (form, first) in [("--changes=json-patch", "  ["), ("--changes=merge-patch", "  {")] {
        let stdout = changes(&env, "pods,rs,nodes", form);
        let patches: Vec<Value> = stdout
            .lines()
            .filter(|line| line.starts_with(first))
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
            .collect();
        assert!(patches.len() > 10, "{stdout}");
        assert!(patches.iter().all(|patch| !patch.to_string().contains("resourceVersion")), "{stdout}");
    }
}

#[test]
fn unified_diff_has_a_head_and_hunks() {
    let env = TestEnv::new();
    let stdout = changes(&env, "rs", "--changes=unified");
    let lines: Vec<&str> = stdout.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("  --- replicaset.apps/")).expect("a head");
    assert!(lines[at - 1].starts_with("MODIFIED"), "{stdout}");
    assert!(
        lines[at + 1].starts_with("  +++ replicaset.apps/") && lines[at + 2].starts_with("  @@ -"),
        "{stdout}"
    );
    assert!(lines.iter().any(|line| line.starts_with("  -  readyReplicas: ")), "{stdout}");
}

#[test]
fn other_forms_need_rows() {
    let env = TestEnv::new();
    for (words, message) in [
        (
            ["watch", "po", "-o", "json", "--changes=unified"],
            "--changes has one form in JSON lines, the field `changes`: other forms need a table",
        ),
        (["watch", "po", "-o", "name", "--changes=unified"], "--changes needs a table or -o json"),
        (
            ["watch", "po", "-o", "json", "--changes=other"],
            "invalid argument \"other\" for \"--changes\" flag: must be one of inline, unified",
        ),
    ] {
        let error = env.kdelta(&words).finish().failure(2);
        assert!(error.starts_with(&format!("error: {message}")), "{error}");
    }
}

#[test]
fn manager_of_a_change_is_named() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let api = Api::open(&demo.url);
    api.create_config_map("shop", "one", &json!({}));
    let watch = ["watch", "cm", "one", "-n", "shop", "-s", &demo.url];
    let rows = env.kdelta(&[&watch[..], &["--changes", "--count", "2"]].concat()).start();
    let lines = env.kdelta(&[&watch[..], &["-o", "json", "--count", "2"]].concat()).start();
    rows.stdout.find("the initial state", |line| line.starts_with("ADDED"));
    lines.stdout.find("the initial state", |line| line.contains("SYNCED"));
    let path = format!("{}/one?fieldManager=zz-one", config_maps("shop"));
    api.patch(&path, &json!({"data": {"n": "1"}}));
    rows.stdout.find("the change", |line| line == "  data.n: 0 → 1\n");
    rows.stdout.find("its manager", |line| line == "  by zz-one\n");
    let update = lines.stdout.json_until("the change", |line| line["type"] == "MODIFIED").pop().expect("it");
    assert_eq!(update["manager"], "zz-one");
    assert_eq!(update["object"]["metadata"].get("managedFields"), None);
}
