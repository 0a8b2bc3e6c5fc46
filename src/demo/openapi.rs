//! As much of OpenAPI as kubectl needs to create and change objects: which paths there are, and that the server checks
//! fields itself. There are no schemas.

use std::sync::Arc;

use serde_json::{Value, json};

use super::discovery::groups;
use super::kinds::Kind;

/// `/openapi/v3`: one document for each group version.
pub(super) fn index(kinds: &[Arc<Kind>]) -> Value {
    let paths = groups(kinds).into_iter().map(|(group, version)| {
        let path = root(&group, &version);
        let url = json!({"serverRelativeURL": format!("/openapi/v3/{path}?hash={:016X}", paths_hash(kinds))});
        (path, url)
    });
    json!({"paths": paths.collect::<serde_json::Map<_, _>>()})
}

/// Changes when the resources do, so that a client's cached document does not outlive them.
fn paths_hash(kinds: &[Arc<Kind>]) -> u64 {
    let names = kinds.iter().flat_map(|kind| kind.group_resource().into_bytes());
    names.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// `/openapi/v3/api/v1` and its like.
pub(super) fn document(kinds: &[Arc<Kind>], group: &str, version: &str) -> Option<Value> {
    let mine: Vec<_> = kinds.iter().filter(|kind| kind.group == group && kind.version == version).collect();
    let paths: serde_json::Map<_, _> = mine.iter().flat_map(|kind| paths(kind)).collect();
    let schemas = mine.iter().map(|kind| (schema_name(kind), schema(kind)));
    (!mine.is_empty()).then(|| {
        json!({
            "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "1.36"}, "paths": paths,
            "components": {"schemas": schemas.collect::<serde_json::Map<_, _>>()},
        })
    })
}

fn paths(kind: &Kind) -> [(String, Value); 2] {
    let root = root(&kind.group, &kind.version);
    let scope = if kind.namespaced { "namespaces/{namespace}/" } else { "" };
    let collection = format!("/{root}/{scope}{}", kind.plural);
    let operation = |action: &str| {
        let parameter = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
        let parameters = ["dryRun", "fieldManager", "fieldValidation"].map(parameter);
        json!({
            "parameters": parameters, "responses": {"200": {"description": "OK"}},
            "x-kubernetes-action": action, "x-kubernetes-group-version-kind": gvk(kind),
        })
    };
    [
        (format!("{collection}/{{name}}"), json!({"patch": operation("patch"), "put": operation("put")})),
        (collection, json!({"post": operation("post")})),
    ]
}

fn gvk(kind: &Kind) -> Value {
    json!({"group": kind.group, "version": kind.version, "kind": kind.kind})
}

fn schema_name(kind: &Kind) -> String {
    let group = if kind.group.is_empty() { "core" } else { &kind.group };
    format!("{group}.{}.{}", kind.version, kind.kind)
}

fn schema(kind: &Kind) -> Value {
    json!({
        "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "x-kubernetes-group-version-kind": [gvk(kind)],
    })
}

fn root(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// `/openapi/v2`, as JSON.
pub(super) fn swagger() -> Value {
    json!({"swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.36.0"}, "paths": {}, "definitions": {}})
}

/// `/openapi/v2` in the encoding that kubectl asks for: field 1, the text "2.0".
pub(super) const SWAGGER_PROTOBUF: &[u8] = b"\x0a\x032.0";

/// `/version`.
pub(super) fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "gitVersion": concat!("v1.36.0+kdelta-demo.", env!("CARGO_PKG_VERSION")),
        "gitCommit": "", "gitTreeState": "", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "",
        "compiler": "rustc", "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}
