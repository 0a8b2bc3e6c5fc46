//! Endless waits: servers that never give a usable response.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::server::Request;
use super::{HostileServer, Reply, Scenario, run_all};

/// The commands that request objects once.
const ONE_SHOT: [&[&str]; 5] = [
    &["get", "pods"],
    &["get", "pods", "-o", "json"],
    &["get", "pods", "--by", "name=a"],
    &["index", "pods", "--by", "name"],
    &["index", "pods", "-A", "--by", "namespace", "--list-mode", "list"],
];

/// The commands that request discovery.
const DISCOVERY: [&[&str]; 2] = [&["api-resources"], &["__complete", "get", ""]];

#[test]
fn every_command_succeeds_on_an_honest_server() {
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
            // Completion prints no errors.
            scenarios.push(scenario.on(server).check(move |outcome| {
                assert_eq!(outcome.code, Some(i32::from(!is_line)));
            }));
        }
    }
    run_all(scenarios);
}

/// Returns a server with honest discovery and this reply to every request for objects.
fn objects(reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Arc<HostileServer> {
    Arc::new(HostileServer::start(move |request| {
        if request.is_of_objects() { reply(request) } else { HostileServer::honest(request) }
    }))
}

/// Returns a page of a list of pods.
fn pods(items: &str, token: &str) -> Reply {
    let metadata = format!(r#"{{"resourceVersion":"7","continue":"{token}"}}"#);
    Reply::json(
        200,
        format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{metadata},"items":[{items}]}}"#),
    )
}

/// Returns servers with unreadable responses.
fn unreadable() -> Vec<(&'static str, Arc<HostileServer>)> {
    let nested =
        || format!(r#"{{"metadata":{{"name":"a"}},"spec":{}1{}}}"#, "[".repeat(5000), "]".repeat(5000));
    vec![
        ("html", objects(|_| Reply::html(200))),
        ("invalid JSON", objects(|_| pods("{]", ""))),
        (
            "damaged gzip",
            objects(|_| Reply::with_headers(200, "Content-Encoding: gzip\r\n", b"\x1f\x8b\x08\0damaged")),
        ),
        ("no name", objects(|_| pods(r#"{"metadata":{}}"#, ""))),
        ("nesting", objects(move |_| pods(&nested(), ""))),
    ]
}

/// The commands that request objects once, in the order of `expected` below.
const LISTS: [&[&str]; 4] = [
    &["get", "pods"],
    &["get", "pod", "a"],
    &["get", "pods", "--by", "name=a"],
    &["index", "pods", "--by", "name", "--list-mode", "list"],
];

/// Asserts that every command fails on the server after this many requests for objects.
fn fails(
    name: &str,
    make: impl Fn() -> Arc<HostileServer>,
    arguments: &[&str],
    expected: [RangeInclusive<usize>; 4],
) -> Vec<Scenario> {
    let calls = LISTS.iter().zip(expected).map(|(words, expected)| {
        let server = make();
        let scenario = Scenario::new(format!("{name}: {}", words.join(" ")), &[words, arguments].concat());
        scenario.on(&server).check(move |outcome| {
            let requests = server.object_requests().len();
            assert!(expected.contains(&requests), "{requests} requests, not {expected:?}");
            assert_eq!((outcome.code, &*outcome.stdout), (Some(1), ""));
            let last = outcome.stderr.lines().last().unwrap_or_default();
            let is_error = ["error: ", "Error from server", "Unable to connect to the server: "]
                .iter()
                .any(|prefix| last.starts_with(prefix));
            assert!(is_error, "{last:?}");
        })
    });
    calls.collect()
}

#[test]
fn unreadable_responses_end_a_one_shot_command_after_three_tries() {
    let names: Vec<&str> = unreadable().iter().map(|(name, _)| *name).collect();
    let each = names.iter().enumerate().flat_map(|(at, name)| {
        fails(name, || unreadable().swap_remove(at).1, &[], [3..=3, 3..=3, 3..=3, 3..=3])
    });
    run_all(each.collect());
}

#[test]
fn server_errors_end_a_one_shot_command_after_the_tries_of_a_plain_get() {
    let mut scenarios = Vec::new();
    for (code, reason) in
        [(429, "TooManyRequests"), (500, "InternalError"), (503, "ServiceUnavailable"), (504, "Timeout")]
    {
        // `get --by` may fall back to another method: a paged list, a streaming list or a full list.
        let once = [1..=1, 1..=1, 1..=3, 1..=1];
        let server = || objects(move |_| Reply::status(code, reason, "no"));
        scenarios.extend(fails(reason, server, &[], once));
    }
    let busy = || objects(|_| Reply::retry_after(503, 1, "ServiceUnavailable", "busy"));
    scenarios.extend(fails("Retry-After", busy, &[], [10..=10, 10..=10, 10..=10, 10..=10]));
    run_all(scenarios);
}

#[test]
fn request_timeout_bounds_all_tries_of_a_request() {
    let mut scenarios = Vec::new();
    for (name, seconds, tries) in [("short", 1, 2..=3), ("long", 60, 1..=1)] {
        let busy = || objects(move |_| Reply::retry_after(503, seconds, "ServiceUnavailable", "busy"));
        let tries = [(); 4].map(|()| tries.clone());
        scenarios.extend(fails(name, busy, &["--request-timeout", "2500ms"], tries));
    }
    let silent = || objects(|_| Reply::Silence);
    scenarios.extend(fails("silence", silent, &["--request-timeout", "2s"], [(); 4].map(|()| 1..=1)));
    run_all(scenarios.into_iter().map(|scenario| scenario.within_seconds(20)).collect());
}

#[test]
fn waits_over_two_seconds_are_reported_with_their_reason() {
    let words = LISTS.iter().chain([&(&["watch", "pods", "--until-synced"] as &[&str])]);
    let calls = words.map(|words| {
        let is_first = AtomicBool::new(true);
        let server = objects(move |request| match is_first.swap(false, Ordering::SeqCst) {
            true => Reply::retry_after(429, 3, "TooManyRequests", "slow down"),
            false if request.path().ends_with("/a") => {
                Reply::json(200, r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}"#)
            }
            false => HostileServer::honest(request),
        });
        Scenario::new(words.join(" "), words).on(&server).check(move |outcome| {
            let _kept = &server;
            assert_eq!(outcome.code, Some(0));
            assert!(outcome.stderr.contains("slow down"));
            assert!(outcome.stderr.contains("trying again in 3.0s"));
        })
    });
    run_all(calls.collect());
}

#[test]
fn endless_empty_pages_end_a_one_shot_command() {
    let pages = || {
        let page = AtomicUsize::new(0);
        objects(move |_| pods("", &format!("token-{}", page.fetch_add(1, Ordering::SeqCst))))
    };
    let words = LISTS.iter().filter(|words| !words.contains(&"a"));
    let calls = words.map(|words| {
        let server = pages();
        let scenario = Scenario::new(words.join(" "), words).on(&server).within_seconds(60);
        scenario.check(move |outcome| {
            let _kept = &server;
            assert_eq!(outcome.code, Some(1));
            assert!(outcome.stderr.contains("the list has no end: 11 pages in a row were empty"));
        })
    });
    run_all(calls.collect());
}

#[test]
fn watch_requests_endless_empty_pages_slowly() {
    let page = AtomicUsize::new(0);
    let server = objects(move |request| {
        if request.is_watch() {
            return Reply::status(400, "BadRequest", "sendInitialEvents is forbidden");
        }
        pods("", &format!("token-{}", page.fetch_add(1, Ordering::SeqCst)))
    });
    let scenario = Scenario::new("watch", &["watch", "pods", "--duration", "5s"]).on(&server);
    run_all(vec![scenario.check(move |outcome| {
        let requests = server.object_requests().len();
        assert!((2..=15).contains(&requests), "{requests} requests in 5 s");
        assert_eq!(outcome.code, Some(0));
    })]);
}

#[test]
fn watch_retries_unusable_responses_slowly() {
    let calls = unreadable().into_iter().map(|(name, server)| {
        let words = ["watch", "pods", "--until-synced", "--duration", "4s"];
        Scenario::new(format!("{name}: watch"), &words).on(&server).within_seconds(20).check(move |outcome| {
            let requests = server.object_requests().len();
            assert!((2..=10).contains(&requests), "{requests} requests in 4 s");
            assert!(outcome.stderr.contains("pods: lost: "), "its loss is reported");
        })
    });
    run_all(calls.collect());
}

/// Returns a server that rejects discovery once per path and is honest afterwards.
fn discovery_after(reply: impl Fn() -> Reply + Send + Sync + 'static) -> Arc<HostileServer> {
    let refused = Mutex::new(HashSet::new());
    Arc::new(HostileServer::start(move |request| {
        let is_first = refused.lock().expect("no panic").insert(request.path().to_owned());
        if is_first && request.path().starts_with("/api") && !request.is_of_objects() {
            return reply();
        }
        HostileServer::honest(request)
    }))
}

#[test]
fn discovery_honours_retry_after_and_reports_the_wait() {
    let words: [&[&str]; 4] = [
        &["api-resources"],
        &["get", "pods"],
        &["index", "pods", "--by", "name"],
        &["watch", "pods", "--until-synced"],
    ];
    let calls = words.map(|words| {
        let server = discovery_after(|| Reply::retry_after(429, 3, "TooManyRequests", "slow down"));
        Scenario::new(words.join(" "), words).on(&server).check(move |outcome| {
            let _kept = &server;
            assert_eq!(outcome.code, Some(0));
            assert!(outcome.stderr.contains("/apis: slow down, trying again in 3.0s"));
        })
    });
    run_all(calls.into());
}

#[test]
fn request_timeout_bounds_all_tries_of_discovery() {
    let calls = [(1, 2..=3), (60, 1..=1)].map(|(seconds, tries)| {
        let server =
            HostileServer::start(move |_| Reply::retry_after(503, seconds, "ServiceUnavailable", "no"));
        let server = Arc::new(server);
        let words = ["api-resources", "--request-timeout", "2500ms"];
        let scenario = Scenario::new(format!("Retry-After: {seconds}"), &words).on(&server);
        scenario.within_seconds(20).check(move |outcome| {
            let requests = server.requests();
            let requests = requests.iter().filter(|request| request.path() == "/apis").count();
            assert!(tries.contains(&requests), "{requests} requests");
            assert_eq!(outcome.code, Some(1));
            assert!(outcome.stderr.contains("Error from server (ServiceUnavailable): no"));
        })
    });
    run_all(calls.into());
}

#[test]
fn silent_server_is_reported() {
    let calls = LISTS.iter().chain(&[&["api-resources"] as &[&str]]).map(|words| {
        let is_discovery = words[0] == "api-resources";
        let server = Arc::new(HostileServer::start(move |request| {
            if is_discovery || request.is_of_objects() {
                Reply::Silence
            } else {
                HostileServer::honest(request)
            }
        }));
        let scenario = Scenario::new(words.join(" "), &[words, &["--request-timeout", "4s"][..]].concat());
        scenario.on(&server).check(move |outcome| {
            let _kept = &server;
            assert_eq!(outcome.code, Some(1));
            let reports = outcome.stderr.matches("no response from the server 127.0.0.1:").count();
            assert_eq!(reports, 1, "one report");
            assert!(outcome.stderr.contains(" for 2s, still waiting, for 4s at most"));
        })
    });
    run_all(calls.collect());
}

/// Returns the reply of an honest server, after a time that is reported.
fn late(request: &Request) -> Reply {
    // Longer than the two seconds after which the program reports it. A busy machine takes longer, which changes nothing.
    std::thread::sleep(Duration::from_secs(3));
    HostileServer::honest(request)
}

#[test]
fn report_of_silence_has_its_limit() {
    let calls = LISTS.iter().map(|words| {
        let is_first = AtomicBool::new(true);
        let server = objects(move |request| {
            if is_first.swap(false, Ordering::SeqCst) {
                late(request)
            } else {
                HostileServer::honest(request)
            }
        });
        Scenario::new(words.join(" "), words).on(&server).check(move |outcome| {
            let limit = if server.object_requests()[0].is_watch() { 10 } else { 90 };
            assert!(outcome.stderr.contains(&format!("for 2s, still waiting, for {limit}s at most")));
        })
    });
    run_all(calls.collect());
}

#[test]
fn unanswered_streaming_list_falls_back_to_a_list() {
    let server = objects(|request| if request.is_watch() { Reply::Silence } else { late(request) });
    let scenario = Scenario::new("no head", &["watch", "pods", "--until-synced"]).on(&server);
    run_all(vec![scenario.within_seconds(30).check(|outcome| {
        assert_eq!(outcome.code, Some(0));
        let waits = outcome.stderr.lines().filter(|line| line.starts_with("no response from the server "));
        let limits: Vec<_> = waits.filter_map(|line| line.split("still waiting, ").nth(1)).collect();
        assert_eq!(limits, ["for 10s at most", "for 90s at most"]);
        assert!(outcome.stderr.contains("did not start the watch for the initial state within 10s"));
    })]);
}

#[test]
fn silence_in_the_initial_state_of_a_watch_is_reported() {
    const HEAD: &str =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let server =
        objects(
            |request| {
                if request.is_watch() { Reply::Bytes(HEAD.into()) } else { HostileServer::honest(request) }
            },
        );
    let scenario = Scenario::new("no body", &["watch", "pods", "--until-synced"]).on(&server);
    run_all(vec![scenario.within_seconds(30).check(|outcome| {
        assert_eq!(outcome.code, Some(0));
        assert!(outcome.stderr.contains(" for 2s, still waiting, for 10s at most"));
        assert!(outcome.stderr.contains("no bookmark ended the initial state within 10s"));
    })]);
}

/// Returns endless interim responses.
fn interim(code: u16) -> Reply {
    Reply::Pieces(Box::new(move || Some(format!("HTTP/1.1 {code} Go on\r\n\r\n").repeat(100).into())))
}

#[test]
fn endless_interim_responses_end_in_time() {
    let mut scenarios = Vec::new();
    for code in [100, 102, 103] {
        let of_discovery = Arc::new(HostileServer::start(move |_| interim(code)));
        let of_objects = objects(move |_| interim(code));
        let calls = LISTS.iter().map(|words| (&of_objects, *words));
        for (server, words) in calls.chain([(&of_discovery, &["api-resources"] as &[&str])]) {
            let kept = Arc::clone(server);
            let words = [words, &["--request-timeout", "1s"]].concat();
            let scenario = Scenario::new(format!("{code}: {}", words.join(" ")), &words).on(server);
            scenarios.push(scenario.within_seconds(20).within_mebibytes(128).check(move |outcome| {
                let is_of_objects = words[0] != "api-resources";
                assert_eq!(is_of_objects, !kept.object_requests().is_empty(), "the flooded request");
                assert_eq!(outcome.code, Some(1));
                let timed_out =
                    ["did not respond in time", "did not respond within the 1s of --request-timeout"];
                assert!(timed_out.iter().any(|text| outcome.stderr.contains(text)));
            }));
        }
    }
    run_all(scenarios);
}
