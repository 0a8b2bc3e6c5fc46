//! CEL expressions on a real kube-apiserver and in `CelFilter`: equal verdicts.
//!
//! A policy has one validation per expression, of which an annotation of the request's object selects one. A dry run
//! thus returns the server's verdict on one expression: it succeeds, is denied, or fails with an error.

mod program;

use std::time::SystemTime;

use kdelta::query::{CelFilter, CelInput};
use serde_json::{Value, json};

use crate::support::{Api, TestEnv, eventually};

const EXPRESSIONS: &str = include_str!("expressions.txt");
const REJECTED: &str = include_str!("rejected.txt");

/// Expressions on an update; the server's name for `old` is `oldObject`.
const ON_UPDATE: [&str; 6] = [
    "object.spec.replicas > old.spec.replicas",
    "object.spec.name == old.spec.name",
    "old.spec.missing == 1",
    "has(old.spec.missing)",
    "old.spec == object.spec",
    "old.spec.list.all(x, x in object.spec.list)",
];

const NAMESPACE: &str = "cel";
const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
/// The annotation that selects a validation.
const CASE: &str = "case";
const JSON: (&str, &str) = ("Content-Type", "application/json");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    True,
    False,
    Error,
}

/// Returns the lines without comments and empty lines.
fn lines(text: &'static str) -> Vec<&'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect()
}

fn policy(name: &str, validations: &[String]) -> Value {
    let rules = json!([
        {"apiGroups": ["cel.kdelta.test"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": ["widgets"]},
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]},
    ]);
    let validations: Vec<Value> = validations
        .iter()
        .map(|expression| json!({"expression": expression, "message": "is false"}))
        .collect();
    json!({
        "metadata": {"name": name},
        "spec": {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": rules}, "validations": validations},
    })
}

/// Returns the validation of a case: true for all other requests.
fn validation(case: usize, expression: &str) -> String {
    let expression = expression.replace("old.", "oldObject.");
    format!("object.metadata.annotations['{CASE}'] != '{case}' || ({expression})")
}

/// Whether the server compiles the expressions.
fn is_compiled(api: &Api, validations: &[String]) -> bool {
    let path = format!("{POLICIES}?dryRun=All");
    let response = api.request("POST", &path, &[JSON], &policy("compiled", validations).to_string());
    assert!(matches!(response.code, 201 | 422), "{validations:?}: {}", response.text);
    response.code == 201
}

fn define_widgets(api: &Api) {
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": any}}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": schema});
    let names = json!({"plural": "widgets", "singular": "widget", "kind": "Widget"});
    api.create(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        &json!({
            "metadata": {"name": "widgets.cel.kdelta.test"},
            "spec": {"group": "cel.kdelta.test", "scope": "Namespaced", "names": names, "versions": [version]},
        }),
    );
    eventually("the server serves widgets", || api.find(&widgets()));
}

fn widgets() -> String {
    format!("/apis/cel.kdelta.test/v1/namespaces/{NAMESPACE}/widgets")
}

fn widget(spec: &Value) -> Value {
    let labels = json!({"app": "web", "example.com/tier": "front"});
    json!({
        "apiVersion": "cel.kdelta.test/v1", "kind": "Widget",
        "metadata": {"name": "web", "namespace": NAMESPACE, "labels": labels, "annotations": {CASE: "none"}},
        "spec": spec,
    })
}

/// Returns objects with their paths: one with the types that the expressions expect, one with others, and a pod.
fn objects() -> Vec<(String, Value)> {
    let items = json!([{"name": "b", "size": 2}, {"name": "a"}]);
    let expected = json!({
        "replicas": 3, "ratio": 1.5, "name": "web", "flag": true, "nothing": null,
        "big": 9_223_372_036_854_775_807_i64, "list": [1, 2, 3], "mixed": [1, "a", 0], "items": items, "empty": {},
        "nested": {"a": {"b": [1, {"c": "d"}]}}, "time": "2026-11-25T05:00:00Z", "memory": "512Mi",
    });
    let other = json!({
        "replicas": "3", "ratio": 2, "name": ["web"], "flag": "true", "nothing": {}, "big": 1e300, "list": {"a": 1},
        "mixed": [], "items": [{"name": "a", "size": 2}, {"name": "b", "size": 3}], "empty": [], "nested": [[1]],
        "time": 5, "memory": 5,
    });
    let container = |name: &str, image: &str| {
        json!({
            "name": name, "image": format!("registry.test/{image}"), "ports": [{"containerPort": 8080}],
            "resources": {"requests": {"memory": "64Mi"}}, "env": [{"name": "A", "value": "b"}],
        })
    };
    let tolerations =
        json!([{"key": "dedicated", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}]);
    let pod = json!({
        "metadata": {"name": "web", "annotations": {CASE: "none"}},
        "spec": {
            "containers": [container("app", "web:1"), container("side", "proxy:latest")], "tolerations": tolerations,
            "nodeSelector": {"kubernetes.io/os": "linux"}, "securityContext": {"runAsNonRoot": true},
        },
    });
    let pods = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    vec![(widgets(), widget(&expected)), (widgets(), widget(&other)), (pods, pod)]
}

/// Returns the server's verdict on an expression.
fn theirs(api: &Api, method: &str, path: &str, object: &Value, case: usize) -> Verdict {
    let mut object = object.clone();
    object["metadata"]["annotations"][CASE] = case.to_string().into();
    let response = api.request(method, &format!("{path}?dryRun=All"), &[JSON], &object.to_string());
    match response.code {
        200 | 201 => Verdict::True,
        _ if response.text.contains("denied request: is false") => Verdict::False,
        _ if response.text.contains("resulted in error") => Verdict::Error,
        code => panic!("{code}: {}", response.text),
    }
}

fn ours(filter: &CelFilter, object: &Value, old: Option<&Value>) -> Verdict {
    let (object, old) = (object.to_string(), old.map(Value::to_string));
    let mut input = CelInput::new(object.as_bytes(), SystemTime::UNIX_EPOCH);
    if let Some(old) = &old {
        input = input.with_old(old.as_bytes());
    }
    match filter.evaluate(&input) {
        Ok(true) => Verdict::True,
        Ok(false) => Verdict::False,
        Err(_) => Verdict::Error,
    }
}

/// Creates the policy of these expressions, the last of which is `false`, and waits until the server applies it.
fn apply_policy(api: &Api, expressions: &[&str], (path, object): &(String, Value)) {
    let validations: Vec<String> =
        expressions.iter().enumerate().map(|(case, expression)| validation(case, expression)).collect();
    api.create(POLICIES, &policy("cel", &validations));
    let spec = json!({"policyName": "cel", "validationActions": ["Deny"]});
    api.create(BINDINGS, &json!({"metadata": {"name": "cel"}, "spec": spec}));
    eventually("the server applies the policy", || {
        (theirs(api, "POST", path, object, expressions.len() - 1) == Verdict::False).then_some(())
    });
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn verdicts_equal_the_servers() {
    // A server of its own: its policy would apply to other tests.
    let env = TestEnv::new();
    let testbed = env.own_server();
    let api = Api::of(&testbed);
    api.create("/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}}));
    define_widgets(&api);
    let mut differences = Vec::new();
    for line in lines(REJECTED) {
        let (expression, is_valid) = line.strip_prefix("+ ").map_or((line, false), |valid| (valid, true));
        let found =
            (is_compiled(&api, &[validation(0, expression)]), CelFilter::parse(expression, false).is_ok());
        if found != (is_valid, is_valid) {
            differences.push(format!("{expression}: compiled by (server, kdelta): {found:?}"));
        }
    }
    let mut expressions = Vec::new();
    for expression in lines(EXPRESSIONS).into_iter().chain(ON_UPDATE) {
        let found = (is_compiled(&api, &[validation(0, expression)]), CelFilter::parse(expression, true));
        match found {
            (true, Ok(_)) => expressions.push(expression),
            (server, ours) => differences.push(format!("{expression}: compiled: {server}, {ours:?}")),
        }
    }
    expressions.push("false");
    let objects = objects();
    apply_policy(&api, &expressions, &objects[0]);
    let filters: Vec<CelFilter> =
        expressions.iter().map(|text| CelFilter::parse(text, true).expect("compiled before")).collect();
    let mut counts = [0; 3];
    let mut compare = |method: &str, path: &str, sent: &Value, evaluated: &Value, old: Option<&Value>| {
        for (case, expression) in expressions.iter().enumerate() {
            let verdicts = (theirs(&api, method, path, sent, case), ours(&filters[case], evaluated, old));
            counts[verdicts.0 as usize] += 1;
            if verdicts.0 != verdicts.1 {
                let kind = evaluated["spec"]["name"].clone();
                differences.push(format!("{expression}: {method} {kind} (server, kdelta): {verdicts:?}"));
            }
        }
    };
    for (path, object) in &objects {
        // The server adds defaults.
        let stored = api.create(&format!("{path}?dryRun=All"), object);
        compare("POST", path, object, &stored, None);
    }
    let (path, object) = &objects[0];
    let old = api.create(path, object);
    let mut new = old.clone();
    new["spec"]["replicas"] = 4.into();
    compare("PUT", &format!("{path}/web"), &new, &new, Some(&old));
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    assert!(expressions.len() > 300 && counts.iter().all(|count| *count > 150), "{counts:?}");
}
