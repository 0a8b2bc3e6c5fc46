//! `wait` over lost connections and a restarted server, where kubectl's may miss the change.

use serde_json::json;

use crate::support::{Api, Proxy, TestEnv, config_maps};

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn changes_during_a_cut_and_a_restart_count() {
    let env = TestEnv::new();
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    let namespace = api.namespace();
    let path = config_maps(&namespace);
    for name in ["changed", "gone", "again"] {
        api.create_config_map(&namespace, name, &json!({}));
    }
    let mut proxy = Proxy::before(testbed.port());
    let config = env.kubeconfig(&testbed, "admin", &namespace, proxy.port());
    let start = |words: &str| {
        let words: Vec<&str> = words.split(' ').chain(["--timeout=5m", "-v"]).collect();
        let running = env.kdelta(&words).env("KUBECONFIG", &config).start();
        running.stderr.find("the watched object", |line| line.contains(": listed at "));
        running
    };
    let mut waits = [
        ("changed", start("wait cm/changed --for=jsonpath={.data.n}=2")),
        ("gone", start("wait cm/gone --for=delete")),
        ("again", start("wait cm/again --for=delete")),
    ];
    let mut late = start("wait cm/late --for=create");

    proxy.cut();
    for (_, running) in &waits {
        running.stderr.find("the loss", |line| line.contains(": lost: "));
    }
    late.stderr.find("the loss", |line| line.contains(": lost: "));
    // Two states that are gone when the connection is back.
    api.patch(&format!("{path}/changed"), &json!({"data": {"n": "1"}}));
    api.patch(&format!("{path}/changed"), &json!({"data": {"n": "2"}}));
    api.delete(&format!("{path}/gone"));
    api.delete(&format!("{path}/again"));
    api.create_config_map(&namespace, "again", &json!({}));
    api.create_config_map(&namespace, "late", &json!({}));
    testbed.stop();
    // A restarted server has no history: it responds to the watch with 410.
    let _testbed = env.own_server();
    proxy.reopen();
    for (name, running) in &mut waits {
        assert_eq!(running.wait(), 0, "{name}");
        assert_eq!(running.stdout.drain(), format!("configmap/{name} condition met\n"));
    }
    assert_eq!(late.wait(), 0);
    assert_eq!(late.stdout.drain(), "configmap/late condition met\n");
}
