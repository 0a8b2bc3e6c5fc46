//! Tests of the parsers on small documents.

use serde_json::{Value, json};

use super::{GroupVersionKind, OpenApiIndex, OpenApiV2, OpenApiV3, Schema};

fn schema(json: &Value) -> Schema {
    serde_json::from_value::<OpenApiV2>(json!({"definitions": {"x": json}}))
        .unwrap()
        .resolve("#/definitions/x")
        .unwrap()
        .clone()
}

fn gvk(group: &str, version: &str, kind: &str) -> GroupVersionKind {
    GroupVersionKind { group: group.into(), version: version.into(), kind: kind.into() }
}

#[test]
fn index_names_documents_with_their_hashes() {
    let index = OpenApiIndex::parse(
        br#"{"paths": {"api/v1": {"serverRelativeURL": "/x/openapi/v3/api/v1?a=b&hash=F00"},
            "apis/apps/v1": {"serverRelativeURL": "//elsewhere/"}, "version": {}}}"#,
    )
    .unwrap();
    assert_eq!(index.hash("api/v1"), Some("F00"));
    assert!(index.contains("apis/apps/v1") && index.hash("apis/apps/v1").is_none());
    assert!(!index.contains("apis/apps/v2"));
    assert!(OpenApiIndex::parse(b"{}").is_ok() && OpenApiIndex::parse(b"[").is_err());
}

#[test]
fn members_of_other_forms_count_as_missing() {
    let empty = schema(&json!({}));
    assert!(empty.is_empty() && empty.properties.is_none());
    let nulls = json!({"description": null, "type": null, "properties": null, "items": null, "enum": null,
        "additionalProperties": null, "allOf": null, "required": null, "externalDocs": null});
    assert!(!schema(&nulls).is_empty() && schema(&nulls).items.is_none());
    for any in [json!(true), json!(false), json!({}), json!([{"type": "string"}])] {
        let schema = schema(&json!({"additionalProperties": any, "items": any}));
        assert!(schema.items.is_none() && schema.additional_properties.is_none(), "{any}");
    }
    assert_eq!(schema(&json!({"type": ["string", "null"]})).types, ["string", "null"]);
    assert!(!schema(&json!({"x-anything": {}})).is_empty());
}

#[test]
fn enum_values_are_text_as_in_go() {
    let json =
        json!({"enum": ["a", "", 1, 10_000_000, 0.5, 1e21, true, null, [null, "x"], {"b": 1, "a": null}]});
    assert_eq!(
        schema(&json).enum_values,
        ["a", "", "1", "1e+07", "0.5", "1e+21", "true", "<no value>", "[<nil> x]", "map[a:<nil> b:1]"]
    );
}

#[test]
fn kind_of_a_resource_is_that_of_its_operations() {
    let operation = |kind: &str| json!({"x-kubernetes-group-version-kind": {"group": "g", "version": "v1", "kind": kind}});
    let document = json!({"paths": {
        "/apis/g/v1/as": {"parameters": [], "get": {}, "post": operation("A")},
        "/apis/g/v1/bs": {"get": operation("Cluster")},
        "/apis/g/v1/namespaces/{namespace}/bs/{name}": {"delete": operation("B")},
        "/apis/g/v1/cs": {"get": operation("C")},
        "/apis/g/v1/cs/{name}": {"get": {}},
        "/api/v1/ds/{name}": {"put": {"x-kubernetes-group-version-kind": {"group": "", "version": "v1", "kind": "D"}}},
    }});
    let document: OpenApiV3 = serde_json::from_value(document).unwrap();
    let kind = |group: &str, resource: &str| document.kind_of(group, "v1", resource).map(ToString::to_string);
    assert_eq!(kind("g", "as").as_deref(), Some("g/v1, Kind=A"));
    assert_eq!(kind("g", "bs").as_deref(), Some("g/v1, Kind=B"), "the namespaced path comes later");
    assert_eq!(kind("g", "cs"), None, "the later path has no kind");
    assert_eq!(kind("", "ds").as_deref(), Some("/v1, Kind=D"));
    assert_eq!(kind("g", "ds"), None);
}

#[test]
fn schemas_are_found_by_kind_and_reference() {
    let kinds = |kind: &str| json!([{"group": "g", "version": "v1", "kind": kind}]);
    let schemas = json!({
        "b": {"type": "object", "x-kubernetes-group-version-kind": kinds("K")},
        "a": {"description": "first", "x-kubernetes-group-version-kind": kinds("K")},
        "c": {"description": "last", "x-kubernetes-group-version-kind": kinds("K")},
        "empty": {},
    });
    let v3: OpenApiV3 = serde_json::from_value(json!({"components": {"schemas": schemas}})).unwrap();
    let v2: OpenApiV2 = serde_json::from_value(json!({"definitions": schemas})).unwrap();
    assert_eq!(v3.schema_of(&gvk("g", "v1", "K")).unwrap().description, "first");
    assert_eq!(v2.schema_of(&gvk("g", "v1", "K")).unwrap().description, "last");
    assert!(v3.schema_of(&gvk("g", "v2", "K")).is_none());
    assert_eq!(v3.resolve("#/components/schemas/c").unwrap().description, "last");
    assert_eq!(v2.resolve("#/definitions/c").unwrap().description, "last");
    for reference in ["", "c", "#/components/schemas/", "#/components/schemas/empty", "https://x/#/c"] {
        assert!(v3.resolve(reference).is_none(), "{reference}");
    }
}

#[test]
fn deeply_nested_documents_are_errors() {
    let nested = r#"{"items":"#.repeat(100_000) + &"}".repeat(100_000);
    let v2 = format!(r#"{{"definitions":{{"x":{nested}}}}}"#);
    assert!(OpenApiV2::parse(v2.as_bytes()).is_err());
    let v3 = format!(r#"{{"components":{{"schemas":{{"x":{nested}}}}}}}"#);
    assert!(OpenApiV3::parse(v3.as_bytes()).is_err());
}
