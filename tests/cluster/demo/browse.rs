//! An interactive browser of clusters on both: what it is told is the same.

use serde_json::json;

use crate::support::{DemoServer, OnServer, TestEnv, tool};

/// A kubeconfig of the demo, which needs nothing but its address.
pub(super) fn kubeconfig(env: &TestEnv, demo: &DemoServer) -> String {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "demo",
        "clusters": [{"name": "demo", "cluster": {"server": demo.url}}],
        "contexts": [{"name": "demo", "context": {"cluster": "demo"}}],
    });
    env.file("demo.kubeconfig", &config.to_string()).display().to_string()
}

#[test]
fn a_browser_is_told_the_same_by_both() {
    let Some(OnServer { env, testbed, .. }) = TestEnv::on_server() else { return };
    let demo = DemoServer::start(&env, &[]);
    let own = kubeconfig(&env, &demo);
    let [wanted, is] = [testbed.kubeconfig(), &own].map(|kubeconfig| {
        let mut browser = tool();
        let done = browser.args(["browse", "--kubeconfig", kubeconfig, "-n", "browsed"]).output();
        let done = done.expect("the testbed starts");
        let told = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{}{told}", String::from_utf8_lossy(&done.stderr));
        told
    });
    assert!(wanted.lines().count() > 200, "{wanted}");
    let differences: Vec<_> = wanted
        .lines()
        .zip(is.lines())
        .filter(|(wanted, is)| wanted != is)
        .map(|(wanted, is)| format!("real {wanted}\ndemo {is}"))
        .collect();
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
    assert_eq!(wanted.lines().count(), is.lines().count(), "one was told more");
}
