//! `events`, `api-resources` and `api-versions` with equal arguments to kdelta and kubectl: equal output, equal errors.

use serde_json::{Value, json};

use super::kubectl;
use crate::support::{OnServer, TestEnv};

/// Creates an event about a pod, last seen in that minute.
fn event(name: &str, namespace: &str, minute: u32, rest: &Value) -> Value {
    let mut event = json!({
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": {"kind": "Pod", "name": "web", "namespace": namespace, "apiVersion": "v1"},
        "reason": "Tested", "message": "plain", "type": "Normal",
        "firstTimestamp": "2020-01-01T00:00:00Z", "lastTimestamp": format!("2020-01-01T00:{minute:02}:00Z"),
    });
    for (key, value) in rest.as_object().expect("an object") {
        event[key] = value.clone();
    }
    event
}

/// Returns a line for comparison: kubectl names itself in the line after a usage error.
fn neutral(text: &str) -> String {
    text.replace("See 'kubectl ", "See 'kdelta ")
}

#[test]
#[cfg_attr(not(all(has_go, has_kubectl)), ignore = "needs Go and kubectl")]
fn events_and_discovery_equal_kubectls() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let series = json!({
        "eventTime": "2020-01-01T00:05:00.123456Z", "firstTimestamp": null, "lastTimestamp": null,
        "series": {"count": 7, "lastObservedTime": "2020-01-01T00:30:00.500000Z"},
        "reportingComponent": "c", "reportingInstance": "i", "action": "Act",
    });
    let about_deployment = json!({
        "type": "Warning", "message": "esc \u{1b}[31m red\r x",
        "involvedObject": {"kind": "Deployment", "name": "web", "namespace": namespace, "apiVersion": "apps/v1"},
    });
    let several_lines = json!({"count": 5, "message": "  first <b> & \u{e9} \n second\tline \n"});
    for event in [
        event("d", &namespace, 9, &json!({})),
        event("a", &namespace, 10, &several_lines),
        event("b", &namespace, 20, &about_deployment),
        event("c", &namespace, 0, &series),
        event("e", &namespace, 1, &json!({"firstTimestamp": null, "lastTimestamp": null})),
    ] {
        api.create(&format!("/api/v1/namespaces/{namespace}/events"), &event);
    }
    for line in [
        "api-resources --api-group=batch -o wide",
        "api-resources --api-group=no.such",
        "api-resources --api-group=no.such --no-headers",
        "api-resources --api-group=apps --cached --sort-by=kind",
        "api-resources --sort-by=group",
        "api-versions extra",
        "api-resources a b",
        "version extra",
        "version -o wide",
        "events",
        "events --no-headers",
        "events --types=warning",
        "events --types=Error",
        "events --for pod/web",
        "events --for Deployment/web -o json",
        "events --for deployments.v1.apps/web -o yaml",
        "events --for pod/none",
        "events --for pod/",
        "events --for nonsense/x",
        "events --for nonsense.example.com/x",
        "events --for web",
        "events --for a/b/c",
        "events -o json",
        "events -o yaml",
        "events -o json --show-managed-fields",
        "events --chunk-size=2",
        "events ignored --types=Warning",
        "events -n no-such-namespace",
        "events --as jane",
    ] {
        let mut words: Vec<&str> = line.split(' ').collect();
        if !words.contains(&"-n") {
            words.extend(["-n", &namespace]);
        }
        let theirs = kubectl(testbed.kubeconfig(), &words).output().expect("kubectl runs");
        let ours = env.kdelta_on(testbed, &words).finish();
        let text = |bytes: &[u8]| neutral(&String::from_utf8_lossy(bytes));
        assert_eq!(ours.stdout, text(&theirs.stdout), "{line}");
        assert_eq!(ours.stderr, text(&theirs.stderr), "{line}");
        assert_eq!(ours.code == 0, theirs.status.success(), "{line}");
    }
}
