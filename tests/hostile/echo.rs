//! Credentials that a server repeats: no message, warning, log line or error mark shows them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::server::Request;
use super::tls_front::TlsFront;
use super::{HostileServer, Reply, Scenario, run_all};
use crate::support::TestEnv;

const TOKEN: &str = "t0k3n-0123456789";
const PASSWORD: &str = "p@ss \"word\"/7";

/// Everything that the client sent to prove who it is, in a few forms.
fn echo(request: &Request) -> String {
    let sent = request.head.lines().find_map(|line| line.strip_prefix("authorization: ")).unwrap_or_default();
    let plain = sent.strip_prefix("Basic ").and_then(|text| STANDARD.decode(text).ok());
    let plain = String::from_utf8(plain.unwrap_or_default()).unwrap_or_default();
    format!("bad credentials [{sent}] [{plain}], again:\n{sent}")
}

fn reply(request: &Request) -> Reply {
    let echo = echo(request);
    let warning = echo.replace(['\n', '"', '\\'], " ");
    let headers = format!("Content-Type: application/json\r\nWarning: 299 - \"{warning}\"\r\n");
    let status = |code: u16| {
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": echo, "message": echo, "code": code,
            "details": {"causes": [{"reason": echo, "message": echo}]},
        });
        status.to_string()
    };
    match request.path() {
        path if path.ends_with("/pods") && request.is_watch() => {
            let added = json!({"type": "ADDED", "object": {
                "kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "resourceVersion": "8"},
            }});
            let error = json!({"type": "ERROR", "object": serde_json::from_str::<serde_json::Value>(&status(400)).expect("JSON")});
            Reply::with_headers(200, &headers, format!("{added}\n{error}\n"))
        }
        path if path.ends_with("/pods") => {
            let page = json!({
                "kind": "PodList", "apiVersion": "v1", "items": [],
                "metadata": {"resourceVersion": "7", "continue": if request.has("continue") { "" } else { echo.as_str() }},
            });
            Reply::with_headers(200, &headers, page.to_string())
        }
        path if path.ends_with("/configmaps") => Reply::with_headers(500, &headers, &echo),
        path if path.contains("/deployments") => Reply::with_headers(403, &headers, status(403)),
        path if path.contains("/pods/") => Reply::with_headers(401, &headers, status(401)),
        _ => HostileServer::honest(request),
    }
}

#[test]
fn no_message_shows_credentials_that_a_server_repeats() {
    let server = HostileServer::start(reply);
    let front = TlsFront::of(&server);
    let authority = STANDARD.encode(front.certificate());
    let basic = STANDARD.encode(format!("me:{PASSWORD}"));
    let users = [json!({"token": TOKEN}), json!({"username": "me", "password": PASSWORD})];
    let commands = [
        "get pods",
        "get pods -v 9",
        "get pods a",
        "get pods a -v 9",
        "get configmaps",
        "get configmaps -v 9 -o json",
        "get deployments -o json",
        "index deployments --by name -v 9",
        "watch pods --list-mode list --duration 2s -o json -v 9",
        "watch pods --resource-version 7 --duration 2s -o json",
        "watch pods,deployments --list-mode list --duration 2s",
    ];
    let mut scenarios = Vec::new();
    for (user, line) in users.iter().flat_map(|user| commands.map(|line| (user, line))) {
        let env = TestEnv::new();
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {
                "server": front.url(), "certificate-authority-data": authority,
            }}],
            "users": [{"name": "c", "user": user}], "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
        });
        let file = env.file("config", &config.to_string());
        let words: Vec<&str> = line.split(' ').collect();
        let basic = basic.clone();
        scenarios.push(
            Scenario::within(env, format!("{user}: {line}"), &words).env("KUBECONFIG", file).check(
                move |outcome| {
                    let (out, err) = (&outcome.stdout, &outcome.stderr);
                    for secret in [TOKEN, PASSWORD, "p@ss \\\"word\\\"/7", &basic] {
                        assert!(!out.contains(secret) && !err.contains(secret), "{secret}");
                    }
                    assert!(err.contains("***"), "it was repeated");
                },
            ),
        );
    }
    run_all(scenarios);
}
