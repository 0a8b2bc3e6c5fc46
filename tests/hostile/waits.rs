//! Waits without end: servers that never give a usable answer.

use std::process::Stdio;

use super::{HostileServer, Reply, Scenario, run_all};

/// The commands that ask for objects once.
const ONE_SHOT: [&[&str]; 5] = [
    &["get", "pods"],
    &["get", "pods", "-o", "json"],
    &["get", "pods", "--by", "name=a"],
    &["index", "pods", "--by", "name"],
    &["index", "pods", "-A", "--by", "namespace", "--list-mode", "list"],
];

/// The commands that ask what the server serves.
const DISCOVERY: [&[&str]; 2] = [&["api-resources"], &["__complete", "get", ""]];

#[test]
fn every_command_ends_well_on_an_honest_server() {
    let server = HostileServer::start(HostileServer::honest);
    let watch: [&[&str]; 1] = [&["watch", "pods", "--until-synced"]];
    let calls = ONE_SHOT.iter().chain(&DISCOVERY).chain(&watch).map(|words| {
        let scenario = Scenario::new(words.join(" "), words).on(&server).stdin(Stdio::null());
        scenario.env("TERM", "dumb").within_mebibytes(128).check(|outcome| {
            assert_eq!((outcome.code, outcome.stderr.contains("rror")), (Some(0), false));
        })
    });
    run_all(calls.collect());
    assert!(!server.object_requests().is_empty());
}

#[test]
fn discovery_ends_on_a_server_that_never_gives_a_usable_answer() {
    let servers = [
        ("html", HostileServer::start(|_| Reply::html(200))),
        ("cut", HostileServer::start(|_| Reply::Last(b"HTTP/1.1 200 OK\r\nContent-Le".to_vec()))),
        ("503", HostileServer::start(|_| Reply::retry_after(503, 1, "ServiceUnavailable", "busy"))),
        ("silence", HostileServer::start(|_| Reply::Silence)),
    ];
    let mut scenarios = Vec::new();
    for (name, server) in &servers {
        for words in ONE_SHOT.iter().chain(&DISCOVERY) {
            let is_line = words[0].starts_with("__");
            let timeout: &[&str] = if is_line { &[] } else { &["--request-timeout", "3s"] };
            let scenario = Scenario::new(format!("{name}: {}", words.join(" ")), &[words, timeout].concat());
            // A line that is completed shows no error.
            scenarios.push(scenario.on(server).check(move |outcome| {
                assert_eq!(outcome.code, Some(i32::from(!is_line)));
            }));
        }
    }
    run_all(scenarios);
}
