//! The `OpenAPI` documents. Version 3 has the schemas of each group version and just enough of its paths to declare
//! server-side field validation; version 2 is empty, which makes clients use version 3.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::discovery::groups;
use crate::server::source::Kind;

/// The location of schemas in a document.
pub(crate) const PREFIX: &str = "#/components/schemas/";

/// Returns the name of a built-in resource's schema.
pub(crate) fn definition_name(group: &str, version: &str, kind: &str) -> String {
    match group {
        "" => format!("io.k8s.api.core.{version}.{kind}"),
        "apiextensions.k8s.io" => {
            format!("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.{version}.{kind}")
        }
        group => format!("io.k8s.api.{}.{version}.{kind}", group.split('.').next().unwrap_or_default()),
    }
}

/// Returns `/openapi/v3`, with one document per group version.
pub(super) fn index(kinds: &[Arc<Kind>]) -> Value {
    let versions = groups(kinds)
        .into_iter()
        .flat_map(|(group, versions)| versions.into_iter().map(move |version| (group.clone(), version)));
    let paths = versions.map(|(group, version)| {
        let path = root(&group, &version);
        let url = json!({"serverRelativeURL": format!("/openapi/v3/{path}?hash={:016X}", paths_hash(kinds))});
        (path, url)
    });
    json!({"paths": paths.collect::<serde_json::Map<_, _>>()})
}

/// Returns a hash of the resources, so that a client's cached document expires when they change.
fn paths_hash(kinds: &[Arc<Kind>]) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let texts = kinds.iter().map(|kind| match &kind.custom {
        Some(custom) => format!("{}{}", kind.group_resource(), custom.schema),
        None => kind.group_resource(),
    });
    texts.fold(0xcbf2_9ce4_8422_2325, |hash, text| text.bytes().fold(hash, step))
}

/// Returns a document such as `/openapi/v3/api/v1`.
pub(crate) fn document(
    kinds: &[Arc<Kind>],
    all: &Map<String, Value>,
    group: &str,
    version: &str,
) -> Option<Value> {
    let served: Vec<_> = kinds.iter().filter(|kind| kind.group == group && kind.version == version).collect();
    let paths: Map<_, _> = served.iter().flat_map(|kind| paths(kind)).collect();
    let mut schemas = Map::new();
    for kind in &served {
        match &kind.custom {
            Some(custom) => {
                collect(all, META, &mut schemas);
                schemas.insert(custom_name(kind), custom_schema(kind, &custom.schema));
            }
            None => collect(all, &definition_name(&kind.group, &kind.version, &kind.kind), &mut schemas),
        }
    }
    (!served.is_empty()).then(|| {
        json!({
            "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "1.36"}, "paths": paths,
            "components": {"schemas": schemas},
        })
    })
}

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// Adds a definition and those that it refers to.
fn collect(all: &Map<String, Value>, name: &str, schemas: &mut Map<String, Value>) {
    let mut pending = BTreeSet::from([name.to_owned()]);
    while let Some(name) = pending.pop_first() {
        if let (Some(schema), false) = (all.get(&name), schemas.contains_key(&name)) {
            references(schema, &mut pending);
            schemas.insert(name, schema.clone());
        }
    }
}

/// Adds the names of the schemas that a schema refers to.
pub(crate) fn references(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            let own = map.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix(PREFIX));
            found.extend(own.map(str::to_owned));
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

/// Returns a name such as `dev.kdelta.demo.v1.Backup`.
fn custom_name(kind: &Kind) -> String {
    let parts: Vec<&str> = kind.group.split('.').rev().collect();
    format!("{}.{}.{}", parts.join("."), kind.version, kind.kind)
}

fn custom_schema(kind: &Kind, own: &Value) -> Value {
    let mut schema = if own.is_object() { own.clone() } else { json!({"type": "object"}) };
    let metadata = json!({
        "description": "Standard object's metadata.", "allOf": [{"$ref": format!("{PREFIX}{META}")}],
    });
    let text = |description: &str| json!({"description": description, "type": "string"});
    schema["properties"]["apiVersion"] =
        text("APIVersion defines the versioned schema of this representation of an object.");
    schema["properties"]["kind"] =
        text("Kind is a string value representing the REST resource this object represents.");
    schema["properties"]["metadata"] = metadata;
    schema["x-kubernetes-group-version-kind"] = json!([gvk(kind)]);
    schema
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
    let (get, list) = (operation("get"), operation("list"));
    [
        (
            format!("{collection}/{{name}}"),
            json!({"get": get, "patch": operation("patch"), "put": operation("put")}),
        ),
        (collection, json!({"get": list, "post": operation("post")})),
    ]
}

fn gvk(kind: &Kind) -> Value {
    json!({"group": kind.group, "version": kind.version, "kind": kind.kind})
}

fn root(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// Returns `/openapi/v2` as JSON.
pub(super) fn swagger() -> Value {
    json!({"swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.36.0"}, "paths": {}, "definitions": {}})
}

/// `/openapi/v2` in the encoding that kubectl requests: field 1, the string "2.0".
pub(super) const SWAGGER_PROTOBUF: &[u8] = b"\x0a\x032.0";
