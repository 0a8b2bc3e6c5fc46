//! Tests of the texts on small documents. The expected texts are kubectl's.

use kdelta::wire::openapi::{GroupVersionKind, OpenApiV2, OpenApiV3};
use serde_json::{Value, json};

use super::paragraphs::paragraphs;
use super::word_wrap::{indent, wrap};
use super::{ExplainError, Topic, plaintext, plaintext_v2};

/// Puts schemas into a document of version 3, in which `Wheel` is the kind of `wheels` in the group `g.test`.
fn document(schemas: &Value) -> OpenApiV3 {
    let kind = json!({"group": "g.test", "version": "v1", "kind": "Wheel"});
    let mut schemas = schemas.clone();
    schemas["Wheel"]["x-kubernetes-group-version-kind"] = json!([kind]);
    let json = json!({
        "paths": {"/apis/g.test/v1/wheels": {"get": {"x-kubernetes-group-version-kind": kind}}},
        "components": {"schemas": schemas},
    });
    OpenApiV3::parse(json.to_string().as_bytes()).expect("a document")
}

fn explain(schemas: &Value, path: &str, recursive: bool) -> (String, Result<(), ExplainError>) {
    let path: Vec<String> = path.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let topic = Topic { group: "g.test", version: "v1", resource: "wheels", path: &path, recursive };
    let mut out = String::new();
    let explained = plaintext(&document(schemas), &topic, &mut out);
    (out, explained)
}

fn wheels() -> Value {
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    json!({
        "Wheel": {"type": "object", "description": "A wheel.", "required": ["spec"], "properties": {
            "spec": {"description": "What it is.", "allOf": [reference("io.test.v1.WheelSpec")], "default": {}},
            "kind": {"type": "string"},
        }},
        "io.test.v1.WheelSpec": {"type": "object", "description": "The spec.", "required": ["size"], "properties": {
            "size": {"type": "integer", "description": "In inches.", "enum": [1, 2, 3, 4, 5]},
            "spokes": {"type": "array", "items": {"allOf": [reference("io.test.v1.Spoke")]}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "limits": {"type": "object", "additionalProperties": reference("io.test.v1.Quantity")},
            "mode": {"type": "string", "enum": ["", "fast"], "externalDocs": {"url": "https://x.test"}},
        }},
        "io.test.v1.Spoke": {"description": "One spoke.", "properties": {
            "hub": reference("io.test.v1.Spoke"), "length": {"type": "number"},
        }},
        "io.test.v1.Quantity": {"type": "string"},
    })
}

#[test]
fn resource_has_heading_description_and_fields() {
    let (text, explained) = explain(&wheels(), "", false);
    assert_eq!(explained, Ok(()));
    assert_eq!(
        text,
        "GROUP:      g.test\nKIND:       Wheel\nVERSION:    v1\n\nDESCRIPTION:\n    A wheel.\n    \nFIELDS:\n  \
         kind\t<string>\n    <no description>\n\n  spec\t<WheelSpec> -required-\n    What it is.\n\n\n"
    );
}

#[test]
fn field_has_type_and_descriptions_of_references() {
    let (text, explained) = explain(&wheels(), "spec", false);
    assert_eq!(explained, Ok(()));
    let expected = "\nFIELD: spec <WheelSpec>\n\n\nDESCRIPTION:\n    What it is.\n    The spec.\n    \nFIELDS:\n  \
        labels\t<map[string]string>\n    <no description>\n\n  limits\t<map[string]string>\n    <no description>\n\n  \
        mode\t<string>\n  enum: \"\", fast\n    <no description>\n\n    EXTERNAL DOCS:\n      URL: https://x.test\n\n  \
        size\t<integer> -required-\n  enum: 1, 2, 3, 4, ....\n    In inches.\n\n  \
        spokes\t<[]Spoke>\n    <no description>\n\n\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn enumeration_of_a_field_is_complete() {
    let (text, _) = explain(&wheels(), "spec.size", false);
    assert!(
        text.contains("FIELD: size <integer>\nENUM:\n    1\n    2\n    3\n    4\n    5\n\nDESCRIPTION:\n")
    );
    let (text, _) = explain(&wheels(), "spec.mode", false);
    let expected = "FIELD: mode <string>\nENUM:\n    \"\"\n    fast\n\nDESCRIPTION:\n    <empty>\n\nEXTERNAL DOCS:\n    \
        URL: https://x.test\n\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn recursion_ends_at_a_circle() {
    let (text, explained) = explain(&wheels(), "spec", true);
    assert_eq!(explained, Ok(()));
    let expected = "  labels\t<map[string]string>\n  limits\t<map[string]string>\n  mode\t<string>\n  enum: \"\", fast\n  \
        size\t<integer> -required-\n  enum: 1, 2, 3, 4, ....\n  spokes\t<[]Spoke>\n    hub\t<Spoke>\n    length\t<number>\n\n";
    assert!(text.ends_with(expected), "{text}");
    let (text, explained) = explain(&wheels(), "spec.spokes.hub.hub.length", false);
    assert_eq!(explained, Ok(()));
    assert!(text.contains("FIELD: length <number>\n"));
}

#[test]
fn missing_field_is_named_after_the_heading() {
    for path in ["nope", "spec.nope", "spec.size.nope", "kind.nope", "spec.nope.nope"] {
        let (text, explained) = explain(&wheels(), path, false);
        assert_eq!(explained, Err(ExplainError::NoField("nope".into())), "{path}");
        assert_eq!(text, "GROUP:      g.test\nKIND:       Wheel\nVERSION:    v1\n\n", "{path}");
    }
    let topic = Topic { group: "", version: "v1", resource: "pods", path: &[], recursive: false };
    let missing = plaintext(&document(&wheels()), &topic, &mut String::new()).expect_err("no pods");
    assert_eq!(missing.to_string(), "GVR (/v1, Resource=pods) not found in OpenAPI schema");
}

#[test]
fn hostile_schemas_are_refused_in_time() {
    let reference = |name: usize| json!({"$ref": format!("#/components/schemas/{name}")});
    let circle = json!({"Wheel": {"items": reference(0)}, "0": {"description": "x", "items": reference(0)}});
    assert_eq!(explain(&circle, "", false).1, Err(ExplainError::TooDeep));
    assert_eq!(explain(&circle, "x", false).1, Err(ExplainError::NoField("x".into())));
    let mut doubling = json!({"Wheel": {"allOf": [reference(0)]}});
    let mut chain = json!({"Wheel": {"allOf": [reference(0)]}});
    for level in 0..300 {
        doubling[level.to_string()] = json!({"allOf": [reference(level + 1), reference(level + 1)]});
        chain[level.to_string()] = json!({"properties": {"next": reference(level + 1)}});
    }
    for level in 0..40 {
        doubling[(level + 30).to_string()] = json!({});
    }
    assert_eq!(explain(&doubling, "", false).1, Err(ExplainError::TooLong));
    assert_eq!(explain(&doubling, "x", false).1, Err(ExplainError::TooLong));
    assert_eq!(explain(&chain, "", true).1, Err(ExplainError::TooDeep));
}

#[test]
fn words_wrap_at_white_space() {
    for (text, limit, expected) in [
        ("a bc def", 3, "a\nbc\ndef"),
        ("one two  three", 7, "one two\nthree"),
        ("one two  \nthree", 7, "one two\nthree"),
        ("one two\n\n  three", 7, "one two\n\n  three"),
        ("a longer-than-the-limit b", 5, "a\nlonger-than-the-limit\nb"),
        ("ä ö ü", 3, "ä ö\nü"),
        ("a\u{a0}b c", 3, "a\u{a0}b\nc"),
        ("a ", 3, "a "),
        ("abc ", 3, "abc"),
        ("a b", usize::MAX, "a b"),
        ("", 3, ""),
    ] {
        assert_eq!(wrap(text, limit), expected, "{text:?}");
    }
    assert_eq!(indent("a\n\nb\n", 2), "  a\n  \n  b\n  ");
}

#[test]
fn paragraphs_are_joined() {
    for (text, expected) in [
        ("one\ntwo", vec!["one two"]),
        ("one two three four", vec!["one two", "three four"]),
        ("list:\nitem", vec!["list:", "item"]),
        ("\n\na\n\nb", vec!["a", "b"]),
        ("a\n\nb\n\nc", vec!["a", "b", "", "c"]),
        ("a\n - b\n1. c\n2 d\n* e\n-f", vec!["a", "- b", "1. c", "2 d", "* e -f"]),
        ("a\n    code   here\nb", vec!["a", "    code   here", "b"]),
        ("a-very-long-word b", vec!["a-very-long-word", "b"]),
        ("", vec![]),
    ] {
        assert_eq!(paragraphs(text, 10), expected, "{text:?}");
    }
}

fn explain_v2(definitions: &Value, path: &str, recursive: bool) -> (String, Result<(), ExplainError>) {
    let kind = GroupVersionKind { group: "g.test".into(), version: "v1".into(), kind: "Wheel".into() };
    let mut definitions = definitions.clone();
    definitions["Wheel"]["x-kubernetes-group-version-kind"] =
        json!([{"group": "g.test", "version": "v1", "kind": "Wheel"}]);
    let json = json!({"definitions": definitions}).to_string();
    let document = OpenApiV2::parse(json.as_bytes()).expect("a document");
    let path: Vec<String> = path.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let mut out = String::new();
    let schema = document.schema_of(&kind).expect("a schema");
    let explained = plaintext_v2(&document, &kind, schema, &path, recursive, &mut out);
    (out, explained)
}

fn wheels_v2() -> Value {
    let reference =
        |name: &str| json!({"description": "Referenced.", "$ref": format!("#/definitions/{name}")});
    json!({
        "Wheel": {"type": "object", "description": "A wheel.", "required": ["spec"], "properties": {
            "spec": reference("Spec"), "kind": {"type": "string"},
        }},
        "Spec": {"type": "object", "description": "The spec.", "properties": {
            "spokes": {"type": "array", "description": "Spokes.", "items": reference("Spoke")},
            "free": {"type": "object", "description": "Free."}, "any": {"description": "Any."},
        }},
        "Spoke": {"properties": {"hub": {"$ref": "#/definitions/Spoke"}, "length": {"type": "number"}}},
    })
}

#[test]
fn version_2_has_its_own_form() {
    let heading = "KIND:     Wheel\nVERSION:  g.test/v1\n\n";
    for (path, recursive, expected) in [
        (
            "",
            false,
            "DESCRIPTION:\n     A wheel.\n\nFIELDS:\n   kind\t<string>\n\n   spec\t<Object> -required-\n     Referenced.\n\n",
        ),
        (
            "spec",
            true,
            "RESOURCE: spec <Object>\n\nDESCRIPTION:\n     Referenced.\n\n     The spec.\n\nFIELDS:\n   any\t<>\n   \
             free\t<map[string]>\n   spokes\t<[]Object>\n      hub\t<Object>\n      length\t<number>\n",
        ),
        ("spec.free", false, "DESCRIPTION:\n     Free.\n\n     Free.\n"),
        ("spec.any.more", false, "DESCRIPTION:\n     Any.\n"),
        ("spec.spokes.hub.length.more", false, "FIELD:    more <number>\n\nDESCRIPTION:\n     <empty>\n"),
    ] {
        let (text, explained) = explain_v2(&wheels_v2(), path, recursive);
        assert_eq!((text, explained), (format!("{heading}{expected}"), Ok(())), "{path}");
    }
    let (text, explained) = explain_v2(&wheels_v2(), "spec.nope.more", false);
    assert_eq!((text.as_str(), explained), ("", Err(ExplainError::NoField("nope".into()))));
}

#[test]
fn hostile_definitions_are_refused_in_time() {
    let reference = |name: usize| json!({"$ref": format!("#/definitions/{name}")});
    let circle = json!({"Wheel": {"type": "array", "items": reference(0)}, "0": reference(0)});
    assert_eq!(explain_v2(&circle, "", false).1, Err(ExplainError::TooDeep));
    assert_eq!(explain_v2(&circle, "x", false).1, Err(ExplainError::TooDeep));
    let mut doubling = json!({"Wheel": {"properties": {"a": reference(0)}}});
    for level in 0..40 {
        let next = reference(level + 1);
        doubling[level.to_string()] = json!({"properties": {"a": next, "b": next}});
    }
    assert_eq!(explain_v2(&doubling, "", true).1, Err(ExplainError::TooLong));
}
