//! States that last for a moment, at 200 updates a second: `--was` misses none that a watch by curl has.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cluster::busy;
use crate::support::{FaultProxy, Kdelta, OnServer, TestEnv, config_maps, eventually};

/// The number of short-lived states, and the changes between two of them.
const STATES: u32 = 40;
const BETWEEN: u32 = 24;
/// 200 changes a second.
const INTERVAL: Duration = Duration::from_millis(5);

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn no_state_is_missed_at_200_updates_a_second() {
    let _busy = busy();
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    for number in 0..STATES {
        api.create_config_map(&namespace, &format!("m{number}"), &json!({"set": "short"}));
    }
    let path = config_maps(&namespace);
    let mut curl = Command::new("curl");
    let url = format!("{}{path}?watch=true", testbed.server());
    curl.args(["-sN", "--cacert", testbed.ca_file(), &url]);
    curl.arg("-H").arg(format!("Authorization: Bearer {}", testbed.token("admin")));
    let watched = Kdelta::other(curl).start();
    watched.stdout.find("the last object", |line| line.contains(&format!("\"m{}\"", STATES - 1)));

    // Each object has its state in one version only; all must have had theirs.
    let proxy = FaultProxy::before(testbed);
    let (condition, least) = ("object.data.n == 'short'", STATES.to_string());
    let arguments =
        ["wait", "cm", "-l", "set=short", "--for", condition, "--was", "--at-least", &least, "-o", "json"];
    let waiting = env
        .kdelta(&[&arguments[..], &["--timeout=60s"]].concat())
        .env("KUBECONFIG", proxy.kubeconfig(&env, &namespace))
        .start();
    eventually("kdelta watches", || (proxy.open_watches() > 0).then_some(()));
    let start = Instant::now();
    let mut changes = 0;
    for number in 0..STATES {
        for n in (0..BETWEEN).map(|n| n.to_string()).chain(["short".to_owned(), "after".to_owned()]) {
            api.patch(&format!("{path}/m{number}"), &json!({"data": {"n": n}}));
            changes += 1;
            std::thread::sleep((INTERVAL * changes).saturating_sub(start.elapsed()));
        }
    }
    let result = waiting.stdout.json_until("the result", |_| true).remove(0);
    assert_eq!((&result["result"], &result["met"]), (&json!("met"), &json!(STATES)), "{result}");
    let has_state = |event: &Value| event["object"]["data"]["n"] == "short";
    let mut seen = 0;
    watched.stdout.json_until("the same by curl", |event| {
        seen += u32::from(has_state(event));
        seen == STATES
    });
}
