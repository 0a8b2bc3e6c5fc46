//! Schemas of built-in resources, from a committed file, and of custom resources, from their definitions.
//!
//! They serve the `OpenAPI` documents, the detection of unknown and missing fields, and the keys of list elements.

mod built_in;
mod check;
mod custom;
pub(super) mod openapi;
mod required;

use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::kinds::Kind;

pub(super) use check::check;
pub(super) use custom::invalid;
pub(super) use required::missing;

/// The location of schemas in a document.
const PREFIX: &str = "#/components/schemas/";

/// Schemas by name, which refer to each other.
#[derive(Debug, Default)]
pub(super) struct Schemas(Map<String, Value>);

/// A position in an object's schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a> {
    schemas: &'a Schemas,
    schema: &'a Value,
    /// The name of the enclosing definition without its package.
    owner: &'a str,
}

/// Returns the schemas of the built-in resources, decoded at first use, which takes some milliseconds.
pub(super) fn built_in() -> &'static Schemas {
    // A OnceLock: they are the same for every server in the process and never change.
    static SCHEMAS: OnceLock<Schemas> = OnceLock::new();
    SCHEMAS.get_or_init(built_in::schemas)
}

/// Returns the schema of a resource, if it has one.
pub(super) fn of(kind: &Kind) -> Option<Node<'_>> {
    let schemas = built_in();
    match &kind.custom {
        Some(custom) if custom.schema.is_object() => {
            Some(Node { schemas, schema: &custom.schema, owner: &kind.kind })
        }
        Some(_) => None,
        None => schemas.definition(&built_in::name(&kind.group, &kind.version, &kind.kind)),
    }
}

/// Returns the schema of `metadata`, which all resources share.
pub(super) fn object_meta() -> Option<Node<'static>> {
    built_in().definition("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
}

impl Schemas {
    fn definition(&self, name: &str) -> Option<Node<'_>> {
        let (name, schema) = self.0.get_key_value(name)?;
        Some(Node { schemas: self, schema, owner: name.rsplit('.').next().unwrap_or_default() })
    }
}

impl<'a> Node<'a> {
    /// Returns the position of a nested schema.
    fn within(self, schema: &'a Value) -> Self {
        let reference = schema["$ref"].as_str().or(schema["allOf"][0]["$ref"].as_str());
        let named = reference.and_then(|name| self.schemas.definition(name.strip_prefix(PREFIX)?));
        named.unwrap_or(Self { schema, ..self })
    }

    /// Returns the schema of a member.
    pub(super) fn member(self, name: &str) -> Option<Self> {
        let own = self.schema["properties"].get(name);
        let any = self.schema.get("additionalProperties").filter(|any| any.is_object());
        own.or(any).map(|schema| self.within(schema))
    }

    /// Returns the schema of list elements.
    pub(super) fn element(self) -> Option<Self> {
        self.schema.get("items").map(|schema| self.within(schema))
    }

    /// Returns the declared members, or `None` if any member is allowed.
    fn members(self) -> Option<&'a Map<String, Value>> {
        self.schema["properties"].as_object()
    }

    fn is_free(self) -> bool {
        self.schema["x-kubernetes-preserve-unknown-fields"] == true
    }

    fn word(self, key: &str) -> &'a str {
        self.schema[key].as_str().unwrap_or_default()
    }

    /// Returns the member by which a patch identifies the elements of this list, or `None` if patches replace the list.
    pub(super) fn merge_key(self) -> Option<&'a str> {
        self.schema["x-kubernetes-patch-merge-key"].as_str()
    }

    /// Returns the members by which an apply identifies the elements of this list; empty if the list is atomic.
    pub(super) fn list_keys(self) -> Vec<&'a str> {
        let keys = self.schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
        keys.filter_map(Value::as_str).collect()
    }

    /// Returns whether the list is a set of scalars, to which patches add.
    pub(super) fn is_set(self) -> bool {
        self.word("x-kubernetes-list-type") == "set"
    }

    /// Returns whether the value is applied atomically.
    pub(super) fn is_atomic(self) -> bool {
        self.word("x-kubernetes-map-type") == "atomic"
    }
}
