//! The requests of an interactive cluster browser, on the demo and the real server.

use serde_json::json;

use crate::support::{DemoServer, OnServer, TestEnv, tool};

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
    let demo_kubeconfig = kubeconfig(&env, &demo);
    let [expected, actual] = [testbed.kubeconfig(), &demo_kubeconfig].map(|kubeconfig| {
        let mut browser = tool();
        let output = browser.args(["browse", "--kubeconfig", kubeconfig, "-n", "browsed"]).output();
        let output = output.expect("the testbed starts");
        let reported = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}{reported}", String::from_utf8_lossy(&output.stderr));
        reported
    });
    assert!(expected.lines().count() > 200, "{expected}");
    let differences: Vec<_> = expected
        .lines()
        .zip(actual.lines())
        .filter(|(expected, actual)| expected != actual)
        .map(|(expected, actual)| format!("real {expected}\ndemo {actual}"))
        .collect();
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
    assert_eq!(expected.lines().count(), actual.lines().count(), "the numbers of responses differ");
}
