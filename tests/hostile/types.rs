//! Servers that send objects of another type than the one requested: they are ignored and reported once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::server::{chunk, watch_head};
use super::{HostileServer, Reply, Scenario, run_all};

/// A list of that kind with the pods `a` and `b`, whose items name no kind, or this one for `b`.
fn list(kind: &str, kind_of_b: Option<&str>) -> String {
    let mut b = json!({"metadata": {"name": "b", "namespace": "default", "resourceVersion": "6"}});
    if let Some(kind) = kind_of_b {
        b["kind"] = kind.into();
        b["apiVersion"] = "v1".into();
    }
    let a = json!({"metadata": {"name": "a", "namespace": "default", "resourceVersion": "5"}});
    // The kind comes first, as servers written in Go send it.
    format!(r#"{{"kind":"{kind}","apiVersion":"v1","metadata":{{"resourceVersion":"7"}},"items":[{a},{b}]}}"#)
}

fn server(list: String) -> Arc<HostileServer> {
    Arc::new(HostileServer::start(move |request| {
        if !request.is_of_objects() {
            return HostileServer::honest(request);
        }
        if !request.is_watch() {
            return Reply::json(200, &list);
        }
        let service = json!({"type": "MODIFIED", "object": {
            "kind": "Service", "apiVersion": "v1",
            "metadata": {"name": "a", "namespace": "default", "resourceVersion": "8"},
        }});
        let mut pieces = vec![chunk(&service.to_string()), watch_head()];
        Reply::Pieces(Box::new(move || pieces.pop().or_else(|| Some(super::server::idle()))))
    }))
}

#[test]
fn objects_of_another_type_are_ignored_and_reported_once() {
    let cases = [
        ("pods", list("PodList", None), vec!["a", "b"]),
        ("a service in a list", list("PodList", Some("Service")), vec!["a"]),
        ("a list without a kind of its own", list("List", None), vec!["a", "b"]),
    ];
    let scenarios = cases.map(|(name, list, expected)| {
        let server = server(list);
        let words = ["watch", "pods", "--list-mode", "list", "--duration", "2s", "-o", "json"];
        Scenario::new(name, &words).on(&server).check(move |outcome| {
            let _kept = &server;
            assert_eq!(outcome.code, Some(0));
            let lines = outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
            let added: Vec<String> = lines
                .filter(|line: &serde_json::Value| line["type"] != "SYNCED")
                .map(|line| format!("{} {}", line["type"].as_str().unwrap(), line["name"].as_str().unwrap()))
                .collect();
            let expected: Vec<String> = expected.iter().map(|name| format!("ADDED {name}")).collect();
            assert_eq!(added, expected);
            let report = "the server sent an object of another type, which is ignored: v1 Service ";
            assert_eq!(outcome.stderr.matches(report).count(), 1);
        })
    });
    run_all(scenarios.into());
}

#[test]
fn relist_of_another_kind_deletes_nothing() {
    let pods = list("PodList", None);
    let services = list("ServiceList", None);
    let lists = AtomicUsize::new(0);
    let server = Arc::new(HostileServer::start(move |request| {
        if !request.is_of_objects() {
            return HostileServer::honest(request);
        }
        if request.is_watch() {
            return Reply::status(410, "Expired", "too old resource version");
        }
        let is_first = lists.fetch_add(1, Ordering::Relaxed) == 0;
        Reply::json(200, if is_first { &pods } else { &services })
    }));
    let words = ["watch", "pods", "--list-mode", "list", "--duration", "4s", "-o", "json"];
    let scenario = Scenario::new("a relist of services", &words).on(&server);
    run_all(vec![scenario.check(move |outcome| {
        let _kept = &server;
        assert_eq!(outcome.stdout.matches(r#""type":"ADDED""#).count(), 2);
        assert!(!outcome.stdout.contains("DELETED"));
        assert!(outcome.stderr.contains("the server returned a list of Service instead of Pod"));
    })]);
}
