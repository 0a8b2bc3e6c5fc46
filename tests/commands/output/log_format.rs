//! `--log-format json`: each message on stderr is a JSON line, for every command.

use serde_json::Value;

use crate::support::{DemoServer, TestEnv};

/// Returns the lines of stderr, each of which is JSON with a time, a level and a message.
#[track_caller]
fn lines(stderr: &str) -> Vec<Value> {
    let line = |line: &str| -> Value {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        for field in ["time", "level", "message"] {
            assert!(value[field].is_string(), "{field}: {line}");
        }
        value
    };
    stderr.lines().map(line).collect()
}

#[test]
fn errors_of_every_kind_are_json() {
    let env = TestEnv::new();
    for (words, code, message) in [
        (
            &["watch", "pods", "--no-such-flag"][..],
            2,
            "error: unknown flag: --no-such-flag\nSee 'kdelta watch --help' for usage.",
        ),
        (&["frobnicate"], 2, "error: unknown command \"frobnicate\" for \"kdelta\""),
        (&["get", "pods", "--count", "1"], 2, "error: --count needs --watch or --watch-only"),
        (&["get", "pods", "nope", "--demo"], 1, "Error from server (NotFound): pods \"nope\" not found"),
        (&["describe", "pods"], 2, ""),
    ] {
        let words = [words, &["--log-format", "json"]].concat();
        let stderr = env.kdelta(&words).finish().failure(code);
        let lines = lines(&stderr);
        assert_eq!((lines.len(), lines[0]["level"].as_str()), (1, Some("error")), "{words:?}: {stderr}");
        let found = lines[0]["message"].as_str().expect("a text");
        assert!(found.starts_with(message), "{words:?}: {found}");
        let of_variable = env.kdelta(&words[..words.len() - 2]).env("KDELTA_LOG_FORMAT", "json").finish();
        assert_eq!(self::lines(&of_variable.failure(code)).len(), 1, "{words:?}");
    }
}

#[test]
fn notices_and_the_log_are_json_with_fields() {
    let env = TestEnv::new();
    let demo = DemoServer::start(&env, &["--speed", "0.01"]);
    let words = ["watch", "pods", "-s", &demo.url, "--log-format", "json"];
    let running = env.kdelta(&words).start();
    running.stdout.find("a pod", |line| line.contains("web"));
    drop(demo);
    let lost = running.stderr.find("the loss", |line| line.contains("lost"));
    let lost = &lines(&lost)[0];
    assert_eq!((lost["level"].as_str(), lost["fields"]["event"].as_str()), (Some("warning"), Some("lost")));
    assert_eq!(lost["fields"]["resource"].as_str(), Some("pods"), "{lost}");
    assert!(lost["message"].as_str().is_some_and(|text| text.starts_with("pods: lost: ")), "{lost}");
    running.signal("INT");
    let summary = running.stderr.find("the summary", |line| line.contains(" received, "));
    assert_eq!(lines(&summary)[0]["level"], "info");

    let stderr = env.kdelta(&["get", "nodes", "--demo", "-v=6", "--log-format", "json"]).finish().stderr;
    let log = lines(&stderr);
    let request = log.iter().find(|line| line["fields"]["target"] == "kdelta::http").expect("a request");
    assert_eq!(request["level"], "debug", "{request}");
    assert!(request["message"].as_str().is_some_and(|text| text.starts_with("GET ")), "{request}");
}
