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
    let own = kubeconfig(&env, &demo);
    let [expected, is] = [testbed.kubeconfig(), &own].map(|kubeconfig| {
        let mut browser = tool();
        let done = browser.args(["browse", "--kubeconfig", kubeconfig, "-n", "browsed"]).output();
        let done = done.expect("the testbed starts");
        let reported = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{}{reported}", String::from_utf8_lossy(&done.stderr));
        reported
    });
    assert!(expected.lines().count() > 200, "{expected}");
    let differences: Vec<_> = expected
        .lines()
        .zip(is.lines())
        .filter(|(expected, is)| expected != is)
        .map(|(expected, is)| format!("real {expected}\ndemo {is}"))
        .collect();
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
    assert_eq!(expected.lines().count(), is.lines().count(), "one was told more");
}
