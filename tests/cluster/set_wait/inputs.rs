//! Waits for the objects of files, and for those of several contexts.

use serde_json::{Value, json};

use super::stage::Stage;
use crate::support::{FaultProxy, TestEnv, eventually};

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn objects_of_a_file_are_a_set() {
    let on = TestEnv::on_server();
    let stage = Stage::new(&on);
    stage.pod("first");
    stage.ready("first", true);
    let objects = ["first", "second"]
        .map(|name| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}));
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    let file = on.env.file("pods.json", &list.to_string());
    let file = file.to_str().expect("UTF-8");
    let run = |words: &[&str]| {
        let words = [&["wait", "-f", file, "-n", &on.namespace], words].concat();
        on.env.kdelta_on(on.testbed, &words).finish()
    };
    let any = run(&["--for", "ready", "--any"]);
    let any = any.quiet_success();
    assert!(any.starts_with("condition met: ready, "), "{any}");
    let ended = run(&["--for", "ready", "--wait-for-create", "--timeout=1s"]);
    assert_eq!(ended.code, 5, "{}", ended.stderr);
    assert!(ended.stderr.contains("pods/second"), "{}", ended.stderr);
    let proxy = FaultProxy::before(on.testbed);
    let config = proxy.kubeconfig(&on.env, &on.namespace);
    let words = ["wait", "-f", file, "--for", "ready", "--wait-for-create", "--stable", "1s", "-o", "json"];
    let mut running = on.env.kdelta(&words).env("KUBECONFIG", config).start();
    eventually("both are watched", || (proxy.open_watches() > 1).then_some(()));
    stage.pod("second");
    stage.ready("second", true);
    let result: Value = running.stdout.json_until("the result", |_| true).remove(0);
    assert_eq!((&result["result"], &result["by"]["name"]), (&"met".into(), &"second".into()), "{result}");
    assert_eq!(running.wait(), 0);
}

#[test]
fn sets_are_of_one_context() {
    let env = TestEnv::new();
    let contexts = ["a", "b"].map(|name| json!({"name": name, "context": {"cluster": name}}));
    let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "a", "clusters": [], "users": [],
        "contexts": contexts});
    let config = env.file("config", &config.to_string());
    for contexts in [&["--all-contexts"][..], &["--context", "a,b"]] {
        let words = [&["wait", "pods", "--for", "ready", "--any"], contexts].concat();
        let error = env.kdelta(&words).env("KUBECONFIG", &config).finish().failure(2);
        assert!(error.contains("wait takes one context"), "{error}");
    }
}
