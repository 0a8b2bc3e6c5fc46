//! A cluster that is unreachable when a watch of several clusters starts.

use serde_json::json;

use super::many::{contexts, create_namespace, is};
use crate::support::{Api, OnServer, TestEnv};

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn unreachable_context_joins_when_its_server_starts() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    let late = env.own_server();
    let other = Api::of(&late);
    create_namespace(&other, &namespace, &json!({}));
    other.create_config_map(&namespace, "there", &json!({}));
    api.create_config_map(&namespace, "here", &json!({}));
    let config = contexts(&env, &[("up", testbed), ("late", &late)]);
    let on = |words: &[&str]| env.kdelta(words).env("KUBECONFIG", &config);
    late.stop();

    // Without and with a discovery cache: the outage shows in discovery or in the list.
    for is_known in [false, true] {
        let watch = ["watch", "cm", "-n", &namespace, "--context", "up,late", "-o", "json"];
        let running = on(&watch).start();
        let lines = running.stdout.json_until("what is up", is(format!("ADDED {namespace}/here")));
        assert!(lines.iter().all(|line| line["context"] == "up"), "nothing has ended: {lines:#?}");
        let output = running.stderr.find("what is down", |_| true);
        assert!(output.starts_with("late: The connection to the server 127.0.0.1:"), "{output}");
        let late = env.own_server();
        let reported = running.stdout.json_until("it joins", is(format!("ADDED {namespace}/there")));
        assert_eq!(reported.last().expect("a line")["context"], "late");
        let output = running.stderr.find("that it joins", |_| true);
        let expected = if is_known {
            format!("allowed now, watching: late: configmaps in {namespace}\n")
        } else {
            "late: the server responds again\n".to_owned()
        };
        assert_eq!(output, expected);
        if is_known {
            Api::of(&late).create_config_map(&namespace, "new", &json!({}));
            running.stdout.json_until("it is watched", is(format!("ADDED {namespace}/new")));
        }
        late.stop();
    }

    // A one-shot command does not wait for the cluster.
    let done = on(&["watch", "cm", "-n", &namespace, "--context", "down,late"]).finish();
    assert_eq!((done.code, done.stdout.as_str()), (1, ""), "{}", done.stderr);
    for context in ["down", "late"] {
        let output = format!("{context}: The connection to the server 127.0.0.1:");
        assert_eq!(done.stderr.matches(&output).count(), 1, "{}", done.stderr);
    }
}
