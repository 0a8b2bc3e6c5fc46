//! Server texts on a terminal and in pipes: they can't control the terminal, hide text, or begin a line of their own.

use serde_json::{Value, json};

use super::scenario::Outcome;
use super::server::Request;
use super::{HostileServer, Reply, Scenario, run_all};

/// The beginning of a forged line.
const FORGED: &str = "resumed at 99 after 0.0s, nothing was missed";

/// Returns a text with control, bidirectional and invisible characters.
fn hostile() -> String {
    let steering =
        "x\u{1b}[31mR\u{1b}]0;T\u{7}\u{9b}2J\u{85}\u{8}\u{7f}\u{0}\u{202a}\u{202e}\u{2066}\u{2069}";
    let hiding = "\u{200b}\u{200d}\u{feff}\u{e0041}\u{e007f}\u{ad}\u{2060}\u{2028}";
    format!("{steering}{hiding}\rY\n{FORGED}\n\n{FORGED}\t\u{1b}[0m")
}

/// The same for a key or a word: no slash, no newline.
fn hostile_word() -> String {
    hostile().replace(['\n', '\r', '\t', '/'], "")
}

fn object() -> Value {
    let (text, word) = (hostile(), hostile_word());
    json!({
        "apiVersion": "good.example/v1", "kind": word.clone(), "metadata": {
            "name": word.clone(), "namespace": text.clone(), "uid": text.clone(), "resourceVersion": "7",
            "labels": {"app": text.clone(), word.clone(): text.clone()},
            "annotations": {word.clone(): text.clone()},
            "ownerReferences": [{"kind": text.clone(), "name": text.clone(), "uid": text.clone()}],
        },
        "spec": {"nodeName": text.clone(), word: text.clone(), "containers": [{"image": text}]},
    })
}

fn changed() -> Value {
    let mut changed = object();
    changed["metadata"]["resourceVersion"] = "8".into();
    changed["spec"]["nodeName"] = format!("{} changed", hostile()).into();
    changed
}

fn table(object: &Value) -> Value {
    let (text, word) = (hostile(), hostile_word());
    let column = |name: &str, format: &str, priority: u8| json!({"name": name, "type": "string", "format": format, "priority": priority, "description": text});
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": {"resourceVersion": "7"},
        "columnDefinitions": [
            column("Name", "name", 0), column(&text, "", 0), column(&word, "", 1), column("Age", "", 0),
        ],
        "rows": [{"cells": [object["metadata"]["name"], text, text, word], "object": object}],
    })
}

/// Replies with hostile texts everywhere except in names that become URLs.
fn reply(request: &Request) -> Reply {
    let (text, word) = (hostile(), hostile_word());
    let is_table = request.head.contains("as=Table");
    let refused = || {
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": word, "message": text, "code": 403,
        });
        Reply::json(403, status.to_string())
    };
    match request.path() {
        "/api" => Reply::json(200, r#"{"kind":"APIGroupDiscoveryList","items":[]}"#),
        "/apis" => {
            let resource = |name: &str| {
                json!({
                    "resource": name, "responseKind": {"kind": word}, "scope": "Namespaced",
                    "singularResource": word, "shortNames": [text, word], "categories": [text, word],
                    "verbs": ["get", "list", "watch", text, word],
                })
            };
            let stale = json!({"version": "v2", "freshness": "Stale"});
            let served = json!({"version": "v1", "resources": [
                resource("things"), resource("refused"), resource("broken"), resource(&word),
            ]});
            let groups = json!([{"metadata": {"name": "good.example"}, "versions": [served, stale]}]);
            Reply::json(200, json!({"kind": "APIGroupDiscoveryList", "items": groups}).to_string())
        }
        "/version" => Reply::json(200, json!({"major": "1", "minor": "36", "gitVersion": text}).to_string()),
        path if path.contains("/refused") => refused(),
        path if path.contains("/broken") => Reply::with_headers(500, "", &text),
        path if path.ends_with("/things") && request.is_watch() => {
            let object = if is_table { table(&object()) } else { object() };
            let changed = if is_table { table(&changed()) } else { changed() };
            let mark = json!({"kind": "Thing", "metadata": {
                "resourceVersion": "7", "annotations": {"k8s.io/initial-events-end": "true"},
            }});
            let event =
                |kind: &str, object: Value| json!({"type": kind, "object": object}).to_string() + "\n";
            let error = json!({
                "kind": "Status", "status": "Failure", "reason": word, "message": text, "code": 500,
            });
            let events = [
                event("ADDED", object.clone()),
                event("BOOKMARK", mark),
                event("MODIFIED", changed),
                event("DELETED", object),
                event("ERROR", error),
            ];
            Reply::with_headers(200, "Content-Type: application/json\r\n", events.concat())
        }
        path if path.ends_with("/things") && is_table => Reply::json(200, table(&object()).to_string()),
        path if path.ends_with("/things") => {
            let meta = json!({"resourceVersion": "7"});
            Reply::json(200, json!({"kind": "ThingList", "metadata": meta, "items": [object()]}).to_string())
        }
        path if path.contains("/things/") && is_table => Reply::json(200, table(&object()).to_string()),
        path if path.contains("/things/") => Reply::json(200, object().to_string()),
        _ => refused(),
    }
}

/// Returns every command that prints server texts, in every format.
fn commands() -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    let formats = ["", "-o wide", "-o json", "-o yaml", "-o name"];
    for format in formats {
        lines.push(format!("get things {format}"));
        lines.push(format!("get things -A {format}"));
        lines.push(format!("get things one {format}"));
        lines.push(format!("get things --by namespace {format}"));
        lines.push(format!("get refused {format}"));
        lines.push(format!("get things,refused -v 9 {format}"));
        lines.push(format!("watch things -A --count 3 {format}"));
        lines.push(format!("watch things,refused,things/one --until-synced {format}"));
    }
    for more in [
        "get things --show-labels -L app",
        "get things,broken",
        "watch things -A --count 3 --changes",
        "watch things -A --count 3 --show-all --color always",
        "watch things -A --count 6 -o json --old --changes",
        "watch things -A --count 6 -v 9",
        "watch things -A --until-synced --list-mode list",
        "index things --by name",
        "index things --by namespace -A",
        "index things --by label:app",
        "index things --by owner",
        "index things --by node",
        "index things --by image",
        "index refused --by name",
        "api-resources",
        "api-resources -o wide",
        "api-resources -o name",
        "api-resources --sort-by kind",
        "get nothing",
        "get nothing.good.example",
        "__complete get ",
        "__complete get things ",
        "__complete get -n ",
        "__complete api-resources --verbs ",
        "__complete get things -l ",
    ] {
        lines.push(more.to_owned());
    }
    let words = |line: &String| line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let mut commands: Vec<Vec<String>> = lines.iter().map(words).collect();
    // A completed line ends with the typed word.
    commands.iter_mut().filter(|words| words[0] == "__complete").for_each(|words| words.push(String::new()));
    commands
}

/// Returns whether a character is unsafe in text for people; the program's own colours are removed before.
fn is_unsafe(c: char) -> bool {
    let is_hidden = matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    is_hidden || (c.is_control() && !matches!(c, '\n' | '\t'))
}

fn assert_safe(what: &str, text: &str, outcome: &Outcome) {
    let own = ["\u{1b}[32m", "\u{1b}[2m", "\u{1b}[33m", "\u{1b}[31m", "\u{1b}[0m", "\u{1b}[1;33m"];
    let text = own.iter().fold(text.to_owned(), |text, colour| text.replace(colour, ""));
    let found: Vec<char> = text.chars().filter(|c| is_unsafe(*c)).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {outcome}");
    let forged = text.lines().find(|line| line.starts_with("resumed at 99"));
    assert_eq!(forged, None, "{what}: {outcome}");
}

#[test]
fn server_texts_never_control_the_terminal_or_forge_lines() {
    let server = HostileServer::start(reply);
    let scenarios = commands().into_iter().map(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let is_exact = ["json", "yaml"].iter().any(|format| words.contains(format));
        let scenario = |name: &str| Scenario::new(format!("{name}: {}", words.join(" ")), &words).on(&server);
        let shown = scenario("terminal").at_terminal().env("TERM", "xterm").check(|outcome| {
            assert!(!outcome.stdout.is_empty());
            assert_safe("terminal", &outcome.stdout, outcome);
        });
        let piped = scenario("pipe").check(move |outcome| {
            assert_safe("stderr", &outcome.stderr, outcome);
            if !is_exact {
                assert_safe("stdout", &outcome.stdout, outcome);
            }
        });
        [shown, piped]
    });
    run_all(scenarios.flatten().collect());
}

#[test]
fn pipe_gets_the_servers_bytes() {
    let server = HostileServer::start(reply);
    let text = hostile();
    let holds = move |object: &Value| {
        let is_whole = object["metadata"]["labels"]["app"] == text && object["spec"]["nodeName"] == text;
        assert!(is_whole, "{object}");
    };
    let (json_list, yaml, line, shown) = (holds.clone(), holds.clone(), holds.clone(), holds);
    let scenario = |words: &[&str]| Scenario::new(words.join(" "), words).on(&server);
    run_all(vec![
        scenario(&["get", "things", "-o", "json"]).check(move |outcome| {
            let list: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
            json_list(&list["items"][0]);
            assert!(outcome.stdout.contains("\u{9b}2J") && outcome.stdout.contains('\u{200b}'), "as kubectl");
        }),
        scenario(&["get", "things", "-o", "json"]).at_terminal().check(move |outcome| {
            // The terminal shows the warnings as well.
            let (_, json) = outcome.stdout.split_once("\n{").expect("JSON behind them");
            let list: Value = serde_json::from_str(&format!("{{{json}")).expect("JSON at a terminal, too");
            shown(&list["items"][0]);
        }),
        scenario(&["get", "things", "one", "-o", "yaml"]).check(move |outcome| {
            yaml(&serde_saphyr::from_str::<Value>(&outcome.stdout).expect("YAML"));
        }),
        scenario(&["watch", "things", "-A", "--count", "1", "-o", "json"]).check(move |outcome| {
            let first: Value =
                serde_json::from_str(outcome.stdout.lines().next().expect("a line")).expect("JSON");
            line(&first["object"]);
        }),
    ]);
}
