//! One object of each kind, created on both servers: defaulted fields and printed rows.

use serde_json::{Value, json};

use super::{JSON, TABLE, columns, shape};
use crate::support::{Api, DemoServer, OnServer, TestEnv};

/// The path of a collection, and an object to create there.
type Fixture = (&'static str, Value);

fn containers() -> Value {
    json!([{
        "name": "c", "image": "i", "ports": [{"containerPort": 80}], "resources": {"requests": {"cpu": "1"}},
        "env": [{"name": "A", "value": "b"}],
    }])
}

fn claim() -> Value {
    let requests = json!({"requests": {"storage": "1Gi"}});
    json!({"accessModes": ["ReadWriteOnce"], "resources": requests, "storageClassName": "x"})
}

fn core() -> Vec<Fixture> {
    let (containers, claim) = (containers(), claim());
    vec![
        ("/api/v1/namespaces/kinds/pods", json!({"spec": {"containers": containers}})),
        (
            "/api/v1/namespaces/kinds/pods",
            json!({"spec": {"containers": containers, "initContainers": [{"name": "i", "image": "i"}]}}),
        ),
        ("/api/v1/namespaces/kinds/configmaps", json!({"data": {"a": "b"}, "binaryData": {"c": "ZA=="}})),
        ("/api/v1/namespaces/kinds/secrets", json!({"stringData": {"a": "b"}})),
        ("/api/v1/namespaces/kinds/serviceaccounts", json!({})),
        (
            "/api/v1/namespaces/kinds/services",
            json!({"spec": {"ports": [{"port": 80}], "selector": {"a": "b"}}}),
        ),
        ("/api/v1/namespaces/kinds/services", json!({"spec": {"type": "NodePort", "ports": [{"port": 80}]}})),
        (
            "/api/v1/namespaces/kinds/services",
            json!({"spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}}),
        ),
        (
            "/api/v1/namespaces/kinds/services",
            json!({"spec": {"type": "ExternalName", "externalName": "x.y"}}),
        ),
        (
            "/api/v1/namespaces/kinds/services",
            json!({"spec": {"clusterIP": "None", "ports": [{"port": 80}]}}),
        ),
        (
            "/api/v1/namespaces/kinds/endpoints",
            json!({"subsets": [
                {"addresses": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.5"}], "ports": [{"port": 80, "name": "y"}, {"port": 81, "name": "x"}]},
            ]}),
        ),
        (
            "/api/v1/namespaces/kinds/events",
            json!({
                "involvedObject": {"kind": "Pod", "name": "p", "namespace": "kinds"}, "reason": "R", "message": " m ",
                "type": "Normal", "source": {"component": "c", "host": "h"},
            }),
        ),
        (
            "/api/v1/namespaces/kinds/limitranges",
            json!({"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}}),
        ),
        ("/api/v1/namespaces/kinds/persistentvolumeclaims", json!({"spec": claim})),
        (
            "/api/v1/persistentvolumes",
            json!({"spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                "hostPath": {"path": "/x"}, "storageClassName": "s",
            }}),
        ),
        ("/api/v1/nodes", json!({"metadata": {"labels": {"node-role.kubernetes.io/x": ""}}})),
    ]
}

fn workloads() -> Vec<Fixture> {
    let (containers, claim) = (containers(), claim());
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": containers}});
    let job = json!({"spec": {"containers": containers, "restartPolicy": "Never"}});
    let selector = json!({"matchLabels": {"a": "b"}});
    vec![
        (
            "/apis/apps/v1/namespaces/kinds/deployments",
            json!({"spec": {"replicas": 0, "selector": selector, "template": template}}),
        ),
        (
            "/apis/apps/v1/namespaces/kinds/replicasets",
            json!({"spec": {"replicas": 0, "selector": selector, "template": template}}),
        ),
        (
            "/apis/apps/v1/namespaces/kinds/statefulsets",
            json!({"spec": {
                "replicas": 0, "selector": selector, "template": template, "serviceName": "s",
                "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
            }}),
        ),
        (
            "/apis/apps/v1/namespaces/kinds/daemonsets",
            json!({"spec": {"selector": selector, "template": template}}),
        ),
        ("/apis/apps/v1/namespaces/kinds/controllerrevisions", json!({"data": {"x": 1}, "revision": 3})),
        (
            "/apis/autoscaling/v2/namespaces/kinds/horizontalpodautoscalers",
            json!({"spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3,
            }}),
        ),
        ("/apis/batch/v1/namespaces/kinds/jobs", json!({"spec": {"template": job, "suspend": true}})),
        (
            "/apis/batch/v1/namespaces/kinds/cronjobs",
            json!({"spec": {
                "schedule": "5 4 * * *", "suspend": true, "jobTemplate": {"spec": {"template": job}},
            }}),
        ),
    ]
}

fn others() -> Vec<Fixture> {
    let selector = json!({"matchLabels": {"a": "b"}});
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"});
    let subjects = json!([
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "u"},
        {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
    ]);
    let path = json!({"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}});
    vec![
        ("/apis/networking.k8s.io/v1/ingressclasses", json!({"spec": {"controller": "a.b/c"}})),
        (
            "/apis/networking.k8s.io/v1/namespaces/kinds/ingresses",
            json!({"spec": {
                "rules": [{"host": "a.b", "http": {"paths": [path]}}], "tls": [{"hosts": ["a.b"]}],
            }}),
        ),
        (
            "/apis/networking.k8s.io/v1/namespaces/kinds/networkpolicies",
            json!({"spec": {"podSelector": {
                "matchLabels": {"b": "c"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["y", "x"]}],
            }}}),
        ),
        (
            "/apis/policy/v1/namespaces/kinds/poddisruptionbudgets",
            json!({"spec": {"maxUnavailable": "50%", "selector": selector}}),
        ),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles", json!({"rules": rules})),
        ("/apis/rbac.authorization.k8s.io/v1/namespaces/kinds/roles", json!({"rules": rules})),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            json!({"roleRef": role, "subjects": subjects}),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/namespaces/kinds/rolebindings",
            json!({"roleRef": role, "subjects": subjects}),
        ),
        ("/apis/scheduling.k8s.io/v1/priorityclasses", json!({"value": 7})),
        ("/apis/storage.k8s.io/v1/storageclasses", json!({"provisioner": "a.b/c"})),
        ("/apis/coordination.k8s.io/v1/namespaces/kinds/leases", json!({"spec": {"holderIdentity": "h"}})),
        (
            "/apis/discovery.k8s.io/v1/namespaces/kinds/endpointslices",
            json!({
                "addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"]}], "ports": [{"port": 80, "name": "x"}],
            }),
        ),
    ]
}

/// Returns the compared part of an object: all fields except those that each server generates.
fn comparable(object: &Value) -> Value {
    let mut object = object.clone();
    for key in ["metadata", "apiVersion", "kind", "status"] {
        object.as_object_mut().map(|object| object.remove(key));
    }
    let spec = &mut object["spec"];
    for key in ["clusterIP", "clusterIPs", "selector"] {
        if !spec[key].is_null() {
            spec[key] = shape(&spec[key]);
        }
    }
    // Fields that a server without kubelets and schedulers need not set, and fields that newer servers add.
    for key in ["template", "serviceAccountName"] {
        spec.as_object_mut().map(|spec| spec.remove(key));
    }
    if object["spec"].is_null() {
        object.as_object_mut().map(|object| object.remove("spec"));
    }
    remove_ports(&mut object);
    object
}

/// Removes ports that a server allocates.
fn remove_ports(object: &mut Value) {
    for port in object["spec"]["ports"].as_array_mut().into_iter().flatten() {
        if port["nodePort"].is_number() {
            port["nodePort"] = "generated".into();
        }
    }
}

/// Returns the cells of a table without ages, times, addresses and ports.
fn cells(table: &Value) -> Value {
    let cells = table["rows"][0]["cells"].as_array().into_iter().flatten();
    let cells = cells.map(|cell| match cell.as_str() {
        Some(text) if text.strip_suffix('s').is_some_and(|age| age.parse::<u32>().is_ok()) => "age".into(),
        Some(text) if text.ends_with('Z') && text.starts_with("20") => "time".into(),
        Some(text) if text.starts_with("10.") => "address".into(),
        Some(text) if text.contains("controller-uid=") => "generated".into(),
        Some(text) if text.starts_with("80:3") => "80:3".into(),
        _ => cell.clone(),
    });
    cells.collect()
}

#[test]
#[cfg_attr(not(has_go), ignore = "needs Go")]
fn defaults_and_rows_of_each_kind_are_equal() {
    let OnServer { env, api: real, .. } = TestEnv::on_server();
    let demo = DemoServer::start(&env, &[]);
    let demo_api = Api::open(&demo.url);
    let both = [&real, &demo_api];
    for api in both {
        api.request(
            "POST",
            "/api/v1/namespaces",
            &[("Content-Type", JSON)],
            r#"{"metadata":{"name":"kinds"}}"#,
        );
    }
    let mut differences = Vec::new();
    for (number, (path, mut object)) in core().into_iter().chain(workloads()).chain(others()).enumerate() {
        object["metadata"]["name"] = format!("kind-{number}").into();
        if path.contains("/events") {
            object["metadata"]["namespace"] = "kinds".into();
        }
        let body = object.to_string();
        let responses = both.map(|api| {
            let send = |path: &str, accept| {
                let headers = [("Accept", accept), ("Content-Type", JSON)];
                let response = api.request("POST", path, &headers, &body);
                serde_json::from_str::<Value>(&response.text).expect("JSON")
            };
            let whole = send(&format!("{path}?dryRun=All"), JSON);
            let table = send(path, TABLE);
            let message = &table["message"];
            json!({"object": comparable(&whole), "columns": columns(&table), "cells": cells(&table), "message": message})
        });
        let [expected, actual] = responses;
        for part in ["object", "columns", "cells", "message"] {
            if expected[part] != actual[part] {
                differences
                    .push(format!("{path} {part}\n  real {}\n  demo {}", expected[part], actual[part]));
            }
        }
    }
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
}
