//! Requests that a recording can not serve.

use super::*;

#[tokio::test]
async fn unrecorded_types_and_writes_are_refused_with_a_reason() {
    let (server, _dir) = documented().pod("a/web", 5, None, 10).synced(&pods(), 5, 11).serve(Moment::End);
    for path in ["/api/v1/secrets", "/api/v1/namespaces/a/secrets/x", "/api/v1/secrets?watch=1"] {
        let expected = "secrets was not recorded: the recording has pods";
        assert_eq!(status(&server, "GET", path).await, (405, expected.to_owned()), "{path}");
    }
    let (code, message) = status(&server, "GET", "/apis/example.com/v1/gadgets").await;
    assert_eq!(
        (code, message.as_str()),
        (405, "gadgets.example.com was not recorded: the recording has pods")
    );
    assert_eq!(request(&server, "GET", "/api/v1/unknowns", "").await.code, 404);
    for (method, path) in [
        ("POST", "/api/v1/namespaces/a/pods"),
        ("DELETE", "/api/v1/namespaces/a/pods/web"),
        ("PATCH", "/api/v1/namespaces/a/pods/web"),
        ("PUT", "/api/v1/namespaces/a/pods/web/status"),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
    ] {
        let expected = (405, "a recording is read-only".to_owned());
        assert_eq!(status(&server, method, path).await, expected, "{method} {path}");
    }
}

#[tokio::test]
async fn type_that_is_recorded_later_is_refused_with_its_first_version() {
    let secrets = resource("", "v1", "secrets", "Secret");
    let expected = "secrets was not recorded yet: its recording begins at 2026-11-24T00:01:00Z, with rv:50";
    for moment in [Moment::Version(49), Moment::Time(at(59))] {
        let recorded = documented().pod("a/web", 5, None, 10).synced(&pods(), 9, 11);
        let secret = json!({"metadata": {"name": "x", "namespace": "a", "resourceVersion": "3"}});
        let recorded = recorded.origin(Origin::List).change(&secrets, &secret, None, 60);
        let (server, _dir) = recorded.synced(&secrets, 50, 60).synced(&secrets, 60, 70).serve(moment);
        for path in ["/api/v1/secrets", "/api/v1/namespaces/a/secrets/x"] {
            assert_eq!(status(&server, "GET", path).await, (405, expected.to_owned()), "{path}");
        }
    }
}

#[tokio::test]
async fn subresources_of_containers_are_refused_with_a_reason() {
    let recorded = documented().pod("a/web", 5, None, 10).synced(&pods(), 5, 11);
    let (server, _dir) = recorded.synced(&resource("", "v1", "nodes", "Node"), 5, 12).serve(Moment::End);
    for (method, path, expected) in [
        ("GET", "namespaces/a/pods/web/log?follow=true", "a recording has no logs"),
        ("GET", "namespaces/a/pods/web/exec?command=sh", "a recording can't run commands"),
        ("POST", "namespaces/a/pods/web/exec?command=sh", "a recording can't run commands"),
        ("POST", "namespaces/a/pods/web/attach", "a recording can't attach to containers"),
        ("GET", "namespaces/a/pods/web/portforward", "a recording can't forward ports"),
        ("GET", "namespaces/a/pods/web/proxy/index.html", "a recording can't forward requests"),
        ("PUT", "nodes/n/proxy", "a recording can't forward requests"),
        ("POST", "namespaces/a/pods/web/eviction", "a recording is read-only"),
    ] {
        let refused = status(&server, method, &format!("/api/v1/{path}")).await;
        assert_eq!(refused, (405, expected.to_owned()), "{method} {path}");
    }
    for path in ["namespaces/a/pods/web/scale", "namespaces/a/pods/web/status/x", "nodes/n/log"] {
        assert_eq!(request(&server, "GET", &format!("/api/v1/{path}"), "").await.code, 404, "{path}");
    }
}
