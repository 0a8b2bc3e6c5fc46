//! The scale subresource.

use serde_json::{Value, json};

use crate::server::source::{Kind, StoredObject};

/// Returns the paths of a resource's desired and current replicas.
pub(super) fn pointers(kind: &Kind) -> (String, String) {
    let scale = kind.custom.as_ref().map(|custom| &custom.scale);
    let path = |key: &str, usual: &str| {
        let own = scale.and_then(|scale| scale[key].as_str());
        own.map_or_else(|| usual.to_owned(), |path| path.replace('.', "/"))
    };
    (path("specReplicasPath", "/spec/replicas"), path("statusReplicasPath", "/status/replicas"))
}

/// Returns the `autoscaling/v1 Scale` of an object.
pub(in crate::demo) fn scale(kind: &Kind, stored: &StoredObject) -> Value {
    let object = stored.value();
    let (desired, current) = pointers(kind);
    let mut metadata = json!({});
    for key in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        metadata[key] = object["metadata"][key].clone();
    }
    let labels = object["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten();
    let labels = labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    let labels = labels.collect::<Vec<_>>().join(",");
    let mut scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": {},
        "status": {"replicas": object.pointer(&current).and_then(Value::as_u64).unwrap_or(0)},
    });
    if let Some(replicas) = object.pointer(&desired).and_then(Value::as_u64).filter(|replicas| *replicas > 0)
    {
        scale["spec"]["replicas"] = replicas.into();
    }
    if !labels.is_empty() {
        scale["status"]["selector"] = labels.into();
    }
    scale
}

/// Sets the replicas of an object from a scale.
pub(super) fn rescale(kind: &Kind, object: &mut Value, scale: &Value) {
    let (desired, _) = pointers(kind);
    let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(0);
    let mut target = object;
    for step in desired.split('/').filter(|step| !step.is_empty()) {
        target = &mut target[step];
    }
    *target = replicas.into();
}
