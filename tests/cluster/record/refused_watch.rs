//! A recorder whose watch the server refuses: nothing is observed until it accepts one.

use serde_json::json;

use crate::support::{FaultProxy, FaultResponse, OnServer, RequestClass, TestEnv, open_recording};

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn type_whose_watch_is_refused_is_in_a_gap_until_the_end() {
    let OnServer { env, testbed, api, namespace } = TestEnv::on_server();
    api.create_config_map(&namespace, "a", &json!({}));
    let proxy = FaultProxy::before(testbed);
    let config = proxy.kubeconfig(&env, &namespace);
    let dir = env.home().join("recordings");
    let record = |flags: &[&str]| {
        let to = dir.to_str().expect("text");
        let all = ["record", "cm", "--kubeconfig", config.to_str().expect("text"), "--to", to];
        env.kdelta(&[&all, flags].concat()).finish()
    };
    let done = record(&["--until-synced"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let end = open_recording(&dir).end().expect("an end");
    let open_gaps = || {
        let recording = open_recording(&dir);
        recording.unobserved_at(recording.end().expect("an end")).expect("gaps").gaps
    };
    proxy.respond(RequestClass::Rewatches, FaultResponse::status(503), usize::MAX);
    let refused = record(&["--duration", "3s"]);
    let gaps = open_gaps();
    let is_since_end = matches!(&gaps[..], [gap] if gap.resource.is_some() && gap.from <= end);
    assert!(is_since_end, "{gaps:?}: {}", refused.stderr);
    proxy.forward_all();
    let done = record(&["--duration", "3s"]);
    assert_eq!((done.code, open_gaps()), (0, Vec::new()), "{}", done.stderr);
}
