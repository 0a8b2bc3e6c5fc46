//! The requests of an interactive cluster browser, on the demo, a recording and the real server.

use serde_json::json;

use crate::support::{DemoServer, OnServer, ServedRecording, TestEnv, Testbed, tool};

/// The namespace that the browser creates.
const NAMESPACE: &str = "browsed";

/// Writes a kubeconfig of the demo, which needs only its address.
pub(super) fn kubeconfig(env: &TestEnv, demo: &DemoServer) -> String {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "demo",
        "clusters": [{"name": "demo", "cluster": {"server": demo.url}}],
        "contexts": [{"name": "demo", "context": {"cluster": "demo"}}],
    });
    env.file("demo.kubeconfig", &config.to_string()).display().to_string()
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn interactive_browser_gets_equal_responses() {
    let OnServer { env, testbed, .. } = TestEnv::on_server();
    let demo = DemoServer::start(&env, &[]);
    let mut expected = transcript(testbed.kubeconfig(), &["--before", "deletions"]);
    compare_with_recording(&env, testbed);
    expected.push_str(&transcript(testbed.kubeconfig(), &["--only", "deletions"]));
    let actual = transcript(&kubeconfig(&env, &demo), &[]);
    assert!(expected.lines().count() > 200, "{expected}");
    assert_equal(&expected, &actual, "demo");
}

/// Records the browser's namespace, and compares what the browser reads of the server and of the recording.
fn compare_with_recording(env: &TestEnv, testbed: &Testbed) {
    const TYPES: &str = "configmaps,secrets,services,pods,persistentvolumeclaims,deployments,statefulsets,daemonsets,\
        cronjobs,jobs,leases,events,events.events.k8s.io,visits.browse.kdelta.dev";
    let words = ["record", TYPES, "-n", NAMESPACE, "--secrets", "keep", "--until-synced", "--to", "rec"];
    let recorded = env.kdelta_on(testbed, &words).finish();
    assert_eq!(recorded.code, 0, "{}", recorded.stderr);
    let served = ServedRecording::start(env, &["--from", "rec"]);
    let reads = ["--only", "version,tables,yaml,events"];
    let expected = transcript(testbed.kubeconfig(), &reads);
    assert!(expected.lines().count() > 60, "{expected}");
    assert_equal(&expected, &transcript(served.kubeconfig(), &reads), "recording");
}

/// Runs the browser and returns what it prints.
fn transcript(kubeconfig: &str, steps: &[&str]) -> String {
    let mut browser = tool();
    let output = browser.args(["browse", "--kubeconfig", kubeconfig, "-n", NAMESPACE]).args(steps).output();
    let output = output.expect("the testbed starts");
    let reported = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}{reported}", String::from_utf8_lossy(&output.stderr));
    reported
}

fn assert_equal(expected: &str, actual: &str, name: &str) {
    let differences: Vec<_> = expected
        .lines()
        .zip(actual.lines())
        .filter(|(expected, actual)| expected != actual)
        .map(|(expected, actual)| format!("real {expected}\n{name} {actual}"))
        .collect();
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
    assert_eq!(expected.lines().count(), actual.lines().count(), "the numbers of responses differ");
}
