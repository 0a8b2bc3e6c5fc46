//! Queries with conditions on the real server: their plans, and their results compared with the server's JSON.

mod drawn;
mod plans;

use serde_json::{Value, json};

use crate::support::{Api, OnServer, eventually};

/// Creates the definition of a type whose color, size and state are selectable, and returns the path of its objects.
fn define_widgets(on: &OnServer, group: &str) -> String {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "color": {"type": "string"}, "size": {"type": "integer"}, "on": {"type": "boolean"},
        "note": {"type": "string"},
    }}}});
    let selectable: Vec<Value> =
        [".spec.color", ".spec.size", ".spec.on"].iter().map(|path| json!({"jsonPath": path})).collect();
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {"group": group, "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}, "selectableFields": selectable}]},
    });
    on.api.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition);
    let path = format!("/apis/{group}/v1/namespaces/{}/widgets", on.namespace);
    eventually("the new type is served", || on.api.find(&path));
    path
}

/// Returns the metadata of an object with labels; an empty value of a label is kept, a null leaves the label out.
fn metadata(name: &str, labels: Value) -> Value {
    let mut labels = labels;
    labels.as_object_mut().expect("labels").retain(|_, value| !value.is_null());
    json!({"name": name, "labels": labels})
}

/// Creates a pod and sets its status.
fn create_pod(api: &Api, namespace: &str, metadata: &Value, spec: &Value, status: &Value) {
    let path = format!("/api/v1/namespaces/{namespace}/pods");
    let name = metadata["name"].as_str().expect("a name").to_owned();
    let mut pod = json!({"metadata": metadata, "spec": spec});
    pod["spec"]["automountServiceAccountToken"] = false.into();
    pod["spec"]["containers"] = json!([{"name": "c", "image": "i:1"}]);
    api.create(&path, &pod);
    if !status.is_null() {
        api.patch(&format!("{path}/{name}/status"), &json!({"status": status}));
    }
}
