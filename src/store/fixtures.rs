//! Test objects of the store.

use std::sync::Arc;

use super::IndexFunc;
use super::index::IndexFuncError;
use crate::object::{Ingest, Object, TypeMeta};

/// Returns a pod with this name and version whose `spec.values` are the comma-separated parts of `values`.
pub(super) fn pod(name: &str, version: &str, values: &str) -> Arc<Object> {
    let values: Vec<&str> = values.split(',').filter(|value| !value.is_empty()).collect();
    let json = serde_json::json!({
        "metadata": {"name": name, "resourceVersion": version, "labels": {"first": values.first()}},
        "spec": {"values": values},
    });
    from_json(&json)
}

pub(super) fn from_json(json: &serde_json::Value) -> Arc<Object> {
    let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Pod".into() }));
    Arc::new(Object::from_json(json.to_string().as_bytes(), &ingest).expect("an object"))
}

/// Indexes by the values passed to [`pod`]; refuses an object with the value `bad`.
pub(super) fn by_values() -> IndexFunc {
    IndexFunc::returning(|object| {
        let values = values_of(object);
        if values.iter().any(|value| value == "bad") {
            return Err(IndexFuncError("a bad value".into()));
        }
        Ok(values)
    })
}

pub(super) fn values_of(object: &Object) -> Vec<String> {
    let json: serde_json::Value = object.parse().expect("JSON");
    let values = json["spec"]["values"].as_array().expect("an array");
    values.iter().map(|value| value.as_str().expect("a text").to_owned()).collect()
}

pub(super) fn names(objects: &[Arc<Object>]) -> Vec<&str> {
    let mut names: Vec<_> = objects.iter().map(|object| object.name()).collect();
    names.sort_unstable();
    names
}

/// Returns a pod with the name `p` and a number, and with a text for each value. Index functions refuse value 0.
pub(super) fn numbered_pod(name: u8, values: &[u8]) -> Arc<Object> {
    let texts = ["bad", "v1", "v2", "v3", "v4"];
    let values: Vec<_> = values.iter().map(|value| texts[usize::from(*value)]).collect();
    from_json(&serde_json::json!({
        "metadata": {"name": format!("p{name}"), "resourceVersion": "1", "labels": {"first": values.first()}},
        "spec": {"values": values, "template": "large enough that it pays to compress it ".repeat(20)},
    }))
}
