//! The tools for recordings, on the lines of a watch of the real server.

use serde_json::{Value, json};

use crate::support::TestEnv;

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn imported_and_cut_lines_have_the_servers_state() {
    let on = TestEnv::on_server();
    let path = |name: &str| on.env.home().join(name).to_string_lossy().into_owned();
    on.api.create_config_map(&on.namespace, "kept", &json!({"app": "web"}));
    on.api.create_config_map(&on.namespace, "changed", &json!({"app": "web"}));
    on.api.create_config_map(&on.namespace, "gone", &json!({"app": "web"}));
    let words = ["watch", "cm", "-o", "json", "-n", &on.namespace];
    let watch = on.env.kdelta_on(on.testbed, &words).start();
    let mut lines = watch.stdout.json_until("the initial state", |line| line["type"] == "SYNCED");
    let middle = lines.last().and_then(|line| line["ts"].as_str()).expect("a time").to_owned();
    let changed = format!("/api/v1/namespaces/{}/configmaps/changed", on.namespace);
    on.api.patch(&changed, &json!({"data": {"a": "b"}}));
    on.api.delete(&format!("/api/v1/namespaces/{}/configmaps/gone", on.namespace));
    lines.extend(watch.stdout.json_until("the deletion", |line| line["type"] == "DELETED"));
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    on.env.file("lines", &text.join("\n"));
    let run = |words: &[&str]| {
        let finished = on.env.kdelta(words).finish();
        assert_eq!(finished.code, 0, "{words:?}: {}", finished.stderr);
        finished.stdout
    };
    run(&["recording", "import", &path("lines"), "--to", &path("all")]);
    run(&["recording", "cut", &path("all"), "--since", &middle, "--to", &path("part")]);
    run(&["recording", "verify", &path("part")]);
    let get = ["get", "cm", "-o", "json", "-n", &on.namespace];
    let live = on.env.kdelta_on(on.testbed, &get).finish().quiet_success();
    let items = |text: &str| serde_json::from_str::<Value>(text).expect("JSON")["items"].clone();
    assert_eq!(items(&live).as_array().map(Vec::len), Some(2));
    for dir in ["all", "part"] {
        let words = ["get", "configmaps", "-o", "json", "-n", &on.namespace, "--from", &path(dir)];
        assert_eq!(items(&run(&words)), items(&live), "{dir}");
    }
    let words =
        ["get", "configmaps", "-o", "name", "-n", &on.namespace, "--from", &path("part"), "--at", &middle];
    assert!(run(&words).contains("configmap/gone"));
}
