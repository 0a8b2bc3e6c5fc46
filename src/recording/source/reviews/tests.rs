use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::object::ApiResource;
use crate::recording::source::kinds::{Origin, ServedVersions};
use crate::wire::protobuf::testing::{envelope, field};

/// Pods and events of the core group, and deployments.
fn kinds() -> RecordedKinds {
    let resource = |group: &str, plural: &str, kind: &str| {
        let [group, version, resource, kind] = [group, "v1", plural, kind].map(str::to_owned);
        Arc::new(ApiResource { group, version, resource, kind, namespaced: true })
    };
    let recorded = [
        resource("", "pods", "Pod"),
        resource("", "events", "Event"),
        resource("apps", "deployments", "Deployment"),
    ];
    RecordedKinds::read(&BTreeMap::new(), &recorded, Origin::Recording, ServedVersions::WithAlternates)
}

fn denial(attributes: &Value) -> Option<String> {
    Review::Access.denial(&json!({"resourceAttributes": attributes}), &kinds()).expect("valid")
}

#[test]
fn only_reads_are_allowed() {
    let of = |verb: &str| denial(&json!({"verb": verb, "resource": "pods"}));
    assert!(["get", "list", "watch"].into_iter().all(|verb| of(verb).is_none()));
    for verb in ["create", "delete", "patch", "*", ""] {
        assert_eq!(of(verb).as_deref(), Some("a recording is read-only"), "{verb}");
    }
    let path = |verb: &str| {
        let spec = json!({"nonResourceAttributes": {"verb": verb, "path": "/version"}});
        Review::Access.denial(&spec, &kinds()).expect("valid")
    };
    assert_eq!((path("get"), path("post").is_some()), (None, true));
}

#[test]
fn only_recorded_types_are_allowed() {
    let missing = |name: &str| {
        Some(format!("{name} was not recorded: the recording has pods, events, deployments.apps"))
    };
    for (group, version, resource, expected) in [
        ("", "", "pods", None),
        ("", "v1", "pods", None),
        ("", "*", "pods", None),
        ("apps", "v1", "deployments", None),
        ("events.k8s.io", "v1", "events", None),
        ("*", "*", "*", None),
        ("", "", "*", None),
        ("*", "", "deployments", None),
        ("", "", "secrets", missing("secrets")),
        ("apps", "", "pods", missing("pods.apps")),
        ("batch", "", "*", missing("*.batch")),
        (
            "apps",
            "v1beta1",
            "deployments",
            Some("deployments.apps was recorded in version v1 only".to_owned()),
        ),
    ] {
        let attributes = json!({"verb": "list", "group": group, "version": version, "resource": resource});
        assert_eq!(denial(&attributes), expected, "{attributes}");
    }
}

#[test]
fn subresources_are_allowed_as_far_as_their_requests_are_clear() {
    let of = |verb: &str, resource: &str, subresource: &str| {
        denial(&json!({"verb": verb, "resource": resource, "subresource": subresource}))
    };
    assert_eq!(of("get", "pods", "log"), None);
    assert_eq!(of("get", "pods", "status"), None);
    assert_eq!(of("get", "pods", "*"), None);
    assert_eq!(of("create", "pods", "log").as_deref(), Some("a recording has no logs"));
    assert_eq!(of("create", "pods", "exec").as_deref(), Some("a recording can't run commands"));
    assert_eq!(of("get", "pods", "exec").as_deref(), Some("a recording can't run commands"));
    assert_eq!(of("create", "pods", "eviction").as_deref(), Some("a recording is read-only"));
    assert!(of("get", "secrets", "log").is_some() && of("get", "pods", "scale").is_some());
}

#[test]
fn rules_name_the_recorded_types() {
    let rules = Review::Rules.status(&json!({"namespace": "a"}), &kinds()).expect("rules");
    let rules = rules["resourceRules"].as_array().expect("rules").iter();
    let names: Vec<String> = rules
        .map(|rule| {
            format!("{} {}", rule["resources"][0].as_str().unwrap(), rule["apiGroups"][0].as_str().unwrap())
        })
        .collect();
    assert_eq!(names, ["pods ", "pods/log ", "events ", "deployments apps", "events events.k8s.io"]);
    assert_eq!(Review::Rules.status(&json!({}), &kinds()).expect_err("no namespace").code, 400);
}

#[test]
fn invalid_reviews_are_refused() {
    let code = |body: &str| {
        let spec = Review::Access.spec(JSON, body.as_bytes());
        spec.and_then(|spec| Review::Access.status(&spec, &kinds())).map_or_else(|error| error.code, |_| 201)
    };
    for (body, expected) in [
        ("", 400),
        ("{", 400),
        ("[]", 400),
        ("{}", 422),
        (r#"{"spec": null}"#, 422),
        (r#"{"spec": {"resourceAttributes": null}}"#, 422),
        (r#"{"spec": {"resourceAttributes": {}, "nonResourceAttributes": {}}}"#, 422),
        (r#"{"spec": {"resourceAttributes": "pods"}}"#, 400),
        (r#"{"spec": {"resourceAttributes": {}}}"#, 201),
    ] {
        assert_eq!(code(body), expected, "{body}");
    }
    assert_eq!(Review::Access.spec("text/plain", b"{}").expect_err("another type").code, 415);
    let protobuf = "application/vnd.kubernetes.protobuf";
    assert_eq!(Review::Access.spec(protobuf, b"{}").expect_err("no protobuf").code, 400);
}

#[test]
fn attributes_of_protobuf_are_read() {
    let pods = [
        field(1, b"default"),
        field(2, b"list"),
        field(3, b"apps"),
        field(4, b"v1"),
        field(5, b"deployments"),
        field(6, b"status"),
        field(7, b"web"),
    ]
    .concat();
    let expected = json!({
        "namespace": "default", "verb": "list", "group": "apps", "version": "v1", "resource": "deployments",
        "subresource": "status", "name": "web",
    });
    let path = [field(1, b"/version"), field(2, b"get")].concat();
    for (number, attributes, expected) in [
        (1, &pods, json!({"resourceAttributes": expected})),
        (2, &path, json!({"nonResourceAttributes": {"path": "/version", "verb": "get"}})),
    ] {
        let review = [field(1, b""), field(2, &field(number, attributes))].concat();
        let body = envelope("authorization.k8s.io/v1", "SelfSubjectAccessReview", &review);
        assert_eq!(Review::Access.spec_of_protobuf(&body), Some(expected));
        for end in 0..body.len() {
            // A truncated body is not a review, and never causes a panic.
            let _read = Review::Access.spec_of_protobuf(&body[..end]);
        }
    }
    let rules = [field(1, b""), field(2, &field(1, b"default"))].concat();
    let body = envelope("authorization.k8s.io/v1", "SelfSubjectRulesReview", &rules);
    assert_eq!(Review::Rules.spec_of_protobuf(&body), Some(json!({"namespace": "default"})));
}
