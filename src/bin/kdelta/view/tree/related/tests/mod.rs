//! The references of each kind, and the rows of related objects.

mod references;
mod rows;

use std::sync::Arc;

use kdelta::object::ApiResource;
use serde_json::Value;

use super::kinds::KindName;

fn resource((group, kind): KindName) -> Arc<ApiResource> {
    Arc::new(ApiResource {
        group: group.into(),
        version: "v1".into(),
        resource: format!("{}s", kind.to_lowercase()),
        kind: kind.into(),
        namespaced: !matches!(kind, "Node" | "PersistentVolume"),
    })
}

fn json(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
