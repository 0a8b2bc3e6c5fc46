//! Names from a server, a cache file and the command line: requests never leave the server's base path.

use std::sync::Arc;

use serde_json::{Value, json};

use super::server::Request;
use super::{HostileServer, Reply, Scenario, run_all};
use crate::support::TestEnv;

/// Names that are invalid as path segments, used in every role.
const NAMES: [&str; 8] = [
    "../../../gr",
    "../v1",
    "../../../../etc/passwd",
    "%2e%2e",
    "..%2f..%2fgr",
    "a\\..\\..\\..\\b",
    "a?token=",
    "\u{1b}[31mred\u{7}",
];

/// Commands that discover, and request all discovered types.
const COMMANDS: [&[&str]; 9] = [
    &["get", "things"],
    &["get", "things", "-A", "-o", "name"],
    &["index", "things", "--by", "name"],
    &["tree", "things", "-A"],
    &["watch", "--all-kinds", "-A", "--until-synced"],
    &["watch", "*.good.example", "--until-synced"],
    &["api-resources"],
    &["api-resources", "-o", "name"],
    &["__complete", "get", "things", ""],
];

fn resource(name: &str) -> Value {
    json!({
        "resource": name, "responseKind": {"kind": "Thing"}, "scope": "Namespaced", "singularResource": "thing",
        "verbs": ["get", "list", "watch"],
    })
}

fn aggregated(elsewhere: &str) -> Value {
    let outside = format!("//{elsewhere}/x");
    let names: Vec<&str> = NAMES.into_iter().chain([outside.as_str()]).collect();
    let version = |name: &str, resources: &[&str]| {
        let resources: Vec<Value> = resources.iter().map(|name| resource(name)).collect();
        json!({"version": name, "resources": resources})
    };
    let mut groups: Vec<Value> = names
        .iter()
        .map(|name| json!({"metadata": {"name": name}, "versions": [version("v1", &["things"])]}))
        .collect();
    let mut versions: Vec<Value> = names.iter().map(|name| version(name, &["things"])).collect();
    versions.push(version("v1", &[&names[..], &["things"]].concat()));
    groups.push(json!({"metadata": {"name": "good.example"}, "versions": versions}));
    json!({"kind": "APIGroupDiscoveryList", "items": groups})
}

/// The same as separate group, version and resource lists, for older clients.
fn unaggregated(path: &str, elsewhere: &str) -> Option<Value> {
    let outside = format!("//{elsewhere}/x");
    let names: Vec<&str> = NAMES.into_iter().chain([outside.as_str()]).collect();
    let version = |name: &str| json!({"version": name, "groupVersion": format!("../../gr/{name}")});
    Some(match path {
        "/api" => json!({"kind": "APIVersions", "versions": names}),
        "/apis" => {
            let mut groups: Vec<Value> =
                names.iter().map(|name| json!({"name": name, "versions": [version("v1")]})).collect();
            let versions: Vec<Value> = names.iter().copied().chain(["v1"]).map(version).collect();
            groups.push(json!({
                "name": "good.example", "versions": versions, "preferredVersion": version("../v1"),
            }));
            json!({"kind": "APIGroupList", "groups": groups})
        }
        "/apis/good.example/v1" => {
            let resources = names.iter().copied().chain(["things"]).map(|name| {
                json!({
                    "name": name, "kind": "Thing", "namespaced": true, "group": "../../gr", "version": "../v1",
                    "verbs": ["get", "list", "watch"],
                })
            });
            let resources: Vec<Value> = resources.collect();
            json!({"kind": "APIResourceList", "groupVersion": "../../gr/v1", "resources": resources})
        }
        _ => return None,
    })
}

/// Returns a request without the base path, or `None` if it is outside.
fn below_base(request: &Request) -> Option<Request> {
    let head = request.head.strip_prefix("GET /base/")?;
    Some(Request { head: format!("GET /{head}") })
}

/// Returns a scenario with a kubeconfig whose server has a base path.
fn scenario(server: &HostileServer, name: &str, words: &[&str]) -> Scenario {
    let env = TestEnv::new();
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": format!("{}/base", server.url())}}],
        "users": [{"name": "c", "user": {"token": "s3cr3t-t0k3n"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    });
    let file = env.file("config", &config.to_string());
    Scenario::within(env, name, words).env("KUBECONFIG", file)
}

#[test]
fn server_names_never_leave_the_base_path() {
    let elsewhere = HostileServer::start(|_| Reply::json(200, "{}"));
    let address: Arc<str> = elsewhere.url().trim_start_matches("http://").into();
    let list = json!({
        "kind": "List", "apiVersion": "../../../v1", "metadata": {"resourceVersion": "../7", "continue": ""},
        "items": [{"apiVersion": "../../gr/v1", "kind": "../Thing", "metadata": {"name": "../x", "namespace": ".."}}],
    });
    for is_aggregated in [true, false] {
        let (address, list) = (Arc::clone(&address), list.to_string());
        let server = HostileServer::start(move |request| {
            let Some(request) = below_base(request) else { return Reply::json(200, "{}") };
            match request.path() {
                "/apis" if is_aggregated => Reply::json(200, aggregated(&address).to_string()),
                "/api" if is_aggregated => Reply::json(200, r#"{"kind":"APIVersions","versions":[]}"#),
                path => match unaggregated(path, &address) {
                    Some(response) => Reply::json(200, response.to_string()),
                    None if request.is_watch() => Reply::status(400, "BadRequest", "no watch"),
                    None if path.ends_with("/things") => Reply::json(200, &list),
                    None => HostileServer::honest(&request),
                },
            }
        });
        let scenarios = COMMANDS.iter().map(|words| {
            let name = format!("aggregated {is_aggregated}: {}", words.join(" "));
            let is_quiet = words[0].starts_with("__");
            scenario(&server, &name, words).check(move |outcome| {
                let warnings = outcome.stderr.matches("with names that can't be used").count();
                assert_eq!(warnings, usize::from(!is_quiet), "one notice");
                assert!(!outcome.stderr.contains('\u{1b}') && !outcome.stdout.contains("etc"));
            })
        });
        run_all(scenarios.collect());
        let targets: Vec<String> =
            server.requests().iter().map(|request| request.target().to_owned()).collect();
        assert!(targets.iter().any(|target| target.contains("/things")), "{targets:?}");
        for target in targets {
            let path = target.split('?').next().unwrap_or_default();
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "/.-".contains(c);
            let stays = path.starts_with("/base/") && path.chars().all(is_plain) && !path.contains("..");
            assert!(stays, "aggregated {is_aggregated}: {target}");
        }
    }
    assert!(elsewhere.requests().is_empty(), "{:?}", elsewhere.requests());
}

#[test]
fn command_line_names_fail_like_kubectl_or_are_one_path_segment() {
    let server = HostileServer::start(|request| match below_base(request) {
        Some(request) => HostileServer::honest(&request),
        None => Reply::json(200, "{}"),
    });
    let mut scenarios = Vec::new();
    for (name, problem) in [
        ("..", "[may not be '..']"),
        (".", "[may not be '.']"),
        ("a%2fb", "[may not contain '%']"),
        ("%2e%2e", "[may not contain '%']"),
    ] {
        let expected = format!("error: invalid resource name \"{name}\": {problem}\n");
        for words in [
            &["get", "pods", name][..],
            &["get", "pods", name, "-o", "json"],
            &["get", "pods", name, "--by", "name=x"],
            &["watch", "pods", name, "--until-synced"],
            &["index", "pods", name, "--by", "name"],
        ] {
            let expected = expected.clone();
            scenarios.push(scenario(&server, &words.join(" "), words).check(move |outcome| {
                assert_eq!((outcome.code, &*outcome.stderr), (Some(1), &*expected));
            }));
        }
        let expected = format!("error: invalid namespace \"{name}\": {problem}\n");
        for words in [&["get", "pods", "-n", name][..], &["watch", "pods", "-n", name, "--until-synced"]] {
            let expected = expected.clone();
            scenarios.push(scenario(&server, &words.join(" "), words).check(move |outcome| {
                assert_eq!((outcome.code, &*outcome.stderr), (Some(1), &*expected));
            }));
        }
    }
    run_all(scenarios);
    let before = server.object_requests();
    assert!(before.is_empty(), "{before:?}");
    let words = ["get", "pods", "a\\..\\..\\b", "-n", "c\\..\\d"];
    run_all(vec![scenario(&server, "a backslash", &words)]);
    let last = server.requests().pop().expect("a request");
    assert_eq!(last.path(), "/base/api/v1/namespaces/c%5C..%5Cd/pods/a%5C..%5C..%5Cb");
}
