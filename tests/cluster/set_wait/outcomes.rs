//! The results of waits: exit codes, JSON, and the line on a terminal.

use serde_json::Value;

use super::stage::Stage;
use crate::support::{Fault, FaultProxy, OnServer, TestEnv, eventually};

/// Returns the exit code and both outputs of a wait with these words.
fn wait(on: &OnServer, words: &[&str]) -> (i32, String, String) {
    let words = [&["wait"], words, &["-n", &on.namespace]].concat();
    let done = on.env.kdelta_on(on.testbed, &words).finish();
    (done.code, done.stdout, done.stderr)
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn json_names_the_branch_and_the_deciding_version() {
    let on = TestEnv::on_server();
    let stage = Stage::new(&on);
    stage.job("x");
    let proxy = FaultProxy::before(on.testbed);
    let config = proxy.kubeconfig(&on.env, &on.namespace);
    let arguments = ["wait", "job/x", "--for", "complete || failed", "--for", "exists", "-o", "json"];
    let running = on.env.kdelta(&arguments).env("KUBECONFIG", config).start();
    eventually("it watches", || (proxy.open_watches() > 0).then_some(()));
    proxy.inject(Fault::Cut);
    stage.finish_job("x", false);
    let result = running.stdout.json_until("the result", |_| true).remove(0);
    let path = format!("/apis/batch/v1/namespaces/{}/jobs/x", on.namespace);
    let metadata = on.api.get(&path)["metadata"].clone();
    assert_eq!((&result["result"], &result["quantifier"]), (&"met".into(), &"all".into()), "{result}");
    assert_eq!(result["conditions"][0]["branch"], "failed", "{result}");
    assert_eq!(result["conditions"][1], serde_json::json!({"for": "exists"}));
    let by = &result["by"];
    assert_eq!((&by["type"], &by["name"]), (&"jobs.batch".into(), &"x".into()), "{result}");
    assert_eq!((&by["uid"], &by["resourceVersion"]), (&metadata["uid"], &metadata["resourceVersion"]));
    assert!(result["at"].as_str().is_some_and(|at| at.starts_with("20")), "{result}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn each_end_has_its_exit_code() {
    let on = TestEnv::on_server();
    let stage = Stage::new(&on);
    stage.pod("web");
    let (code, stdout, _) = wait(&on, &["pod/web", "--for", "exists", "--timeout=0"]);
    assert_eq!((code, stdout.as_str()), (0, "condition met: exists, 1 of 1, last pod/web\n"));
    let (code, stdout, stderr) = wait(&on, &["pods", "--for", "ready", "--any", "--timeout=0", "-o", "json"]);
    let result: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((code, &result["result"]), (5, &"timedOut".into()), "{stderr}");
    assert_eq!(result["missing"][0]["reason"], "Pending");
    for (words, expected, message) in [
        (&["pods", "--for", "ready", "--any", "--none"][..], 2, "cannot be used with"),
        (&["pods", "--for", "object.a ="], 2, "error: invalid --for: line 1, column 10"),
        (&["pods", "--for", "ready", "-o", "yaml"], 2, "allowed formats are: json"),
        (&["gizmos/x", "--for", "gone"], 1, "error: the server doesn't have a resource type \"gizmos\""),
        (&["pods/web", "--for", "ready", "--fail-on", "exists"], 6, "on pods/web: exists is true"),
    ] {
        let (code, _, stderr) = wait(&on, words);
        assert!(code == expected && stderr.contains(message), "{words:?}: {code} {stderr}");
    }
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn refused_type_is_an_error() {
    let on = TestEnv::on_server();
    let config = on.env.kubeconfig(on.testbed, "nobody", &on.namespace, on.testbed.port());
    let call = on.env.kdelta(&["wait", "pods", "--for", "ready"]).env("KUBECONFIG", config);
    let stderr = call.finish().failure(1);
    assert!(stderr.starts_with("Error from server (Forbidden): pods is forbidden: "), "{stderr}");
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn terminal_shows_what_is_missing() {
    let on = TestEnv::on_server();
    let stage = Stage::new(&on);
    stage.pod("web");
    stage.container_waits("web", "ImagePullBackOff");
    stage.deployment("api");
    let words = ["wait", "pod/web", "deploy/api", "--for", "ready", "--timeout=2s", "-n", &on.namespace];
    let mut running = on.env.kdelta_on(on.testbed, &words).env("TERM", "xterm").at_a_terminal().start();
    assert_eq!(running.wait(), 5);
    let shown = running.stdout.drain();
    let expected = "0/2 ready; pods/web: ContainersNotReady (ImagePullBackOff";
    assert!(shown.contains(expected) && shown.contains("; deployments/api: "), "{shown}");
}
