//! `get -w` over a lost connection and a restarted server, where kubectl's output would end.

use serde_json::json;

use crate::support::{Api, Proxy, TestEnv, config_maps};

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn get_w_prints_the_difference_after_a_restart() {
    let env = TestEnv::new();
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let path = config_maps(&namespace);
    for name in ["changed", "gone", "kept"] {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let mut proxy = Proxy::before(testbed.port());
    let config = env.kubeconfig(&testbed, "admin", &namespace, proxy.port());
    let arguments = ["get", "cm", "-w", "--output-watch-events", "--no-headers"];
    let mut running = env.kdelta(&arguments).env("KUBECONFIG", config).start();
    let read = |running: &crate::support::Running, last: &str| {
        let mut rows = Vec::new();
        running.stdout.find(last, |line| {
            rows.push(line.split_whitespace().take(3).collect::<Vec<_>>().join(" "));
            line.contains(last)
        });
        rows
    };
    assert_eq!(read(&running, "kept"), ["ADDED changed 1", "ADDED gone 1", "ADDED kept 1"]);

    proxy.cut();
    running.stderr.find("the loss", |line| line.contains("configmaps: lost: "));
    api.create_config_map(&namespace, "resumed", &json!({}));
    proxy.reopen();
    assert_eq!(read(&running, "resumed"), ["ADDED resumed 1"], "nothing is repeated");

    proxy.cut();
    running.stderr.find("the loss", |line| line.contains("configmaps: lost: "));
    api.patch(&format!("{path}/changed"), &json!({"data": {"m": "1"}}));
    api.patch(&format!("{path}/changed"), &json!({"data": {"n": "2", "x": "y"}}));
    api.delete(&format!("{path}/gone"));
    testbed.stop();
    // A restarted server has no history: it responds to the watch with 410.
    let testbed = env.own_server();
    proxy.reopen();
    running.stderr.find("the recovery", |line| line.contains("re-listed"));
    Api::of(&testbed).create_config_map(&namespace, "marker", &json!({}));
    let mut rows = read(&running, "marker");
    assert_eq!(rows.pop().as_deref(), Some("ADDED marker 1"));
    rows.sort();
    assert_eq!(rows, ["DELETED gone 1", "MODIFIED changed 3"], "the net difference, once");

    running.signal("INT");
    assert_eq!(running.wait(), 130);
    assert_eq!(running.stderr.drain(), "", "a summary is for terminals");
}
