//! Trees of hostile owner references: members of wrong types, cycles, long chains, and more owners than a tree looks for.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{HostileServer, Reply, Scenario, run_all};

/// A pod whose UID is its name.
fn pod(name: &str, owners: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name, "ownerReferences": owners},
        "status": {"phase": "Running\u{1b}[31m"},
    })
}

fn owner(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "name": name, "uid": name, "controller": true})
}

/// A server of these pods, which says that all other objects do not exist.
fn server(pods: &[Value]) -> Arc<HostileServer> {
    let named: Vec<(String, String)> = pods
        .iter()
        .map(|pod| (pod["metadata"]["name"].as_str().expect("a name").to_owned(), pod.to_string()))
        .collect();
    let list =
        json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": pods});
    let list = list.to_string();
    Arc::new(HostileServer::start(move |request| {
        let path = request.path();
        let pods = "/api/v1/namespaces/default/pods";
        match path.strip_prefix(pods) {
            Some("") if !request.is_watch() => Reply::json(200, &list),
            Some(name) if name.starts_with('/') => {
                match named.iter().find(|(known, _)| *known == name[1..]) {
                    Some((_, pod)) => Reply::json(200, pod),
                    None => Reply::status(404, "NotFound", "not found"),
                }
            }
            _ if path.matches('/').count() == 6 && path.starts_with("/api/v1/namespaces/default/") => {
                Reply::status(404, "NotFound", "not found")
            }
            _ => HostileServer::honest(request),
        }
    }))
}

#[test]
fn trees_of_hostile_owners_are_bounded_and_escaped() {
    let wrong =
        json!([7, null, {}, {"uid": 5}, {"uid": "", "kind": "Pod"}, {"uid": "no-name"}, owner("Pod", "b")]);
    let types = [pod("a", &wrong), pod("b", &json!("a")), pod("c", &json!([[[[]]]]))];
    let cycle = [
        pod("a", &json!([owner("Pod", "b")])),
        pod("b", &json!([owner("Pod", "a")])),
        pod("c", &json!([owner("Pod", "c"), owner("Pod", "a")])),
    ];
    let chain: Vec<Value> = (0..5000_usize)
        .map(|at| match at.checked_sub(1) {
            None => pod("a", &json!([])),
            Some(0) => pod("1", &json!([owner("Pod", "a")])),
            Some(above) => pod(&at.to_string(), &json!([owner("Pod", &above.to_string())])),
        })
        .collect();
    let many: Vec<Value> = (0..20_000).map(|at| owner("Pod", &format!("gone-{at}"))).collect();
    let many = [pod("a", &many.into())];
    let escapes = [pod("a", &json!([owner("Thing\u{1b}[31m\n", "x\u{7}\u{202e}")]))];
    let cases: [(&str, &[Value], &[&str], usize); 8] = [
        ("wrong types", &types, &["tree", "pods", "-o", "name"], 3),
        ("a cycle", &cycle, &["tree", "pod/a", "-o", "name"], 3),
        ("a long chain", &chain, &["tree", "pod/a", "-o", "name"], 64),
        ("a long chain above", &chain, &["tree", "pod/4999", "-o", "name"], 64),
        ("many owners", &many, &["tree", "pod/a", "-o", "name"], 2),
        ("escapes", &escapes, &["tree", "pod/a", "--no-headers"], 2),
        ("wrong types, watched", &types, &["tree", "pods", "-o", "name", "-w"], 3),
        ("many owners, watched", &many, &["tree", "pod/a", "--no-headers", "-w"], 2),
    ];
    let scenarios = cases.map(|(name, pods, words, lines)| {
        let server = server(pods);
        // The watches of the server have no initial state.
        let watch: &[&str] =
            if words.contains(&"-w") { &["--duration", "6", "--list-mode", "list"] } else { &[] };
        Scenario::new(name, &[words, watch].concat()).on(&server).check(move |outcome| {
            assert_eq!(outcome.code, Some(0), "{outcome}");
            assert_eq!(outcome.stdout.lines().count(), lines, "{outcome}");
            let is_unsafe = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!outcome.stdout.contains(is_unsafe) && !outcome.stderr.contains(is_unsafe), "{outcome}");
            let requests = server.object_requests().len();
            assert!(requests < 1100, "{requests} requests");
        })
    });
    run_all(scenarios.into());
}
