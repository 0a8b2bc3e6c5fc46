//! The log of requests at each `-v` level, on the demo.

use crate::support::TestEnv;

/// Returns the log of a command on the demo as entries: a line and its indented further lines.
fn entries(words: &[&str]) -> Vec<String> {
    let env = TestEnv::new();
    let done = env.kdelta(&[words, &["--demo", "--speed", "0.01"]].concat()).finish();
    assert_eq!(done.code, 0, "{}", done.stderr);
    let mut entries: Vec<String> = Vec::new();
    for line in done.stderr.lines() {
        match entries.last_mut() {
            Some(entry) if line.starts_with("    ") => {
                entry.push('\n');
                entry.push_str(line);
            }
            _ => entries.push(line.to_owned()),
        }
    }
    entries
}

/// Returns the entries about the request for a path, each without its time.
fn about(path: &str, words: &[&str]) -> Vec<String> {
    let is_about = |entry: &String| entry.lines().next().is_some_and(|line| line.contains(path));
    let entries = entries(words).into_iter().filter(is_about);
    entries.filter_map(|entry| entry.split_once(' ').map(|(_, text)| text.to_owned())).collect()
}

const NODES: &str = "/api/v1/nodes";
const GET: [&str; 4] = ["get", "nodes", "-o", "json"];

#[test]
fn each_level_adds_a_detail() {
    for (level, expected) in [("-v=5", 0), ("-v=6", 1), ("-v=7", 2), ("-v=8", 4), ("-v=9", 5)] {
        let found = about(NODES, &[&GET[..], &[level]].concat());
        assert_eq!(found.len(), expected, "{level}: {found:#?}");
    }
    let all = about(NODES, &[&GET[..], &["-v=9"]].concat());
    let [request, command, head, response, body] = &all[..] else { panic!("{all:#?}") };
    assert!(request.starts_with("GET http://") && request.contains("\n    User-Agent: kdelta/"), "{request}");
    assert!(
        command.starts_with("curl -v -XGET --compressed -H 'Accept: ") && command.contains(" 'http://"),
        "{command}"
    );
    assert!(head.contains("/api/v1/nodes?limit=500 200 OK in ") && head.ends_with(" milliseconds"), "{head}");
    assert!(
        response.contains(" 200 OK\n") && response.contains("\n    Content-Type: application/json"),
        "{response}"
    );
    assert!(body.contains(" bytes:\n    {\"kind\":\"NodeList\"") && body.trim_end().ends_with('}'), "{body}");
    let beginning = about(NODES, &[&GET[..], &["-v=8"]].concat());
    let beginning = beginning.last().expect("a body");
    assert!(beginning.contains(" body, the first 1024 of ") && beginning.len() < 1200, "{beginning}");
}

#[test]
fn bodies_of_secrets_are_not_printed() {
    let found = about("/secrets", &["get", "secrets", "-A", "-o", "name", "-v=9"]);
    assert!(found.len() > 3, "{found:#?}");
    assert_eq!(
        found.last().and_then(|entry| entry.split_once(" body ")).map(|(_, text)| text),
        Some("not shown: it may hold credentials")
    );
}

#[test]
fn watch_is_logged_before_it_ends() {
    let env = TestEnv::new();
    let words = ["watch", "nodes", "--demo", "--watch-only", "-o", "name", "-v=9"];
    let running = env.kdelta(&words).start();
    let is_watch = |line: &str| line.contains("/api/v1/nodes?") && line.contains("watch=true");
    running.stderr.find("the head", |line| is_watch(line) && line.contains(" 200 OK in "));
    running.stderr.find("an event", |line| is_watch(line) && line.contains(" event, "));
}
