//! `get --raw` on the demo.

use serde_json::Value;

use crate::support::{Kdelta, TestEnv};

#[test]
fn response_is_printed_as_it_is() {
    let env = TestEnv::new();
    let get = |path: &str| env.kdelta(&["get", "--demo", "--raw", path]).finish();
    let version: Value = serde_json::from_str(&get("/version").quiet_success()).expect("JSON");
    assert_eq!(version["major"], "1");
    let path = "/api/v1/namespaces/default/pods?limit=1&labelSelector=app%3Dweb";
    let pods: Value = serde_json::from_str(&get(path).quiet_success()).expect("JSON");
    assert_eq!(pods["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(pods["items"][0]["metadata"]["labels"]["app"], "web");
    assert_eq!(
        get("/api/v1/namespaces/default/pods/nope").failure(1),
        "Error from server (NotFound): pods \"nope\" not found\n"
    );
    let outside = get("https://example.com/api/../version/?pretty=x").quiet_success();
    assert_eq!(outside, get("/version/").quiet_success(), "the host is ignored");
}

#[test]
fn watch_is_printed_as_it_arrives() {
    let env = TestEnv::new();
    let path = "/api/v1/namespaces/default/pods?watch=true";
    let running = env.kdelta(&["get", "--demo", "--raw", path]).start();
    let event = running.stdout.find("an event", |line| line.contains("\"type\":\"ADDED\""));
    assert!(event.contains("\"kind\":\"Pod\""), "{event}");
}

#[test]
#[cfg_attr(not(has_script), ignore = "needs script")]
fn text_of_the_server_does_not_control_the_terminal() {
    let env = TestEnv::new();
    let arguments = ["get", "--demo", "--raw", "/version"];
    let plain = env.kdelta(&arguments).finish().quiet_success();
    let shown = at_a_terminal(env.kdelta(&arguments));
    assert_eq!(shown.trim_end().replace("\r\n", "\n"), plain.trim_end());
}

fn at_a_terminal(kdelta: Kdelta) -> String {
    kdelta.at_a_terminal().finish_at_a_terminal()
}
