//! Navigation in schemas.

use serde_json::{Map, Value};

use crate::server::openapi::PREFIX;

/// Schemas by name, which refer to each other.
#[derive(Debug, Default)]
pub(in crate::demo) struct Schemas(pub(in crate::demo) Map<String, Value>);

/// A position in an object's schema.
#[derive(Debug, Clone, Copy)]
pub(in crate::demo) struct Node<'a> {
    pub(super) schemas: &'a Schemas,
    pub(super) schema: &'a Value,
    /// The name of the enclosing definition without its package.
    pub(super) owner: &'a str,
}

impl Schemas {
    pub(super) fn definition(&self, name: &str) -> Option<Node<'_>> {
        let (name, schema) = self.0.get_key_value(name)?;
        Some(Node { schemas: self, schema, owner: name.rsplit('.').next().unwrap_or_default() })
    }
}

impl<'a> Node<'a> {
    /// Returns the position of a nested schema.
    pub(super) fn within(self, schema: &'a Value) -> Self {
        let reference = schema["$ref"].as_str().or(schema["allOf"][0]["$ref"].as_str());
        let named = reference.and_then(|name| self.schemas.definition(name.strip_prefix(PREFIX)?));
        named.unwrap_or(Self { schema, ..self })
    }

    /// Returns the schema of a member.
    pub(in crate::demo) fn member(self, name: &str) -> Option<Self> {
        let own = self.schema["properties"].get(name);
        let any = self.schema.get("additionalProperties").filter(|any| any.is_object());
        own.or(any).map(|schema| self.within(schema))
    }

    /// Returns the schema of list elements.
    pub(in crate::demo) fn element(self) -> Option<Self> {
        self.schema.get("items").map(|schema| self.within(schema))
    }

    /// Returns the declared members, or `None` if any member is allowed.
    pub(super) fn members(self) -> Option<&'a Map<String, Value>> {
        self.schema["properties"].as_object()
    }

    pub(super) fn is_free(self) -> bool {
        self.schema["x-kubernetes-preserve-unknown-fields"] == true
    }

    pub(super) fn word(self, key: &str) -> &'a str {
        self.schema[key].as_str().unwrap_or_default()
    }

    /// Returns the member by which a patch identifies the elements of this list, or `None` if patches replace the list.
    pub(in crate::demo) fn merge_key(self) -> Option<&'a str> {
        self.schema["x-kubernetes-patch-merge-key"].as_str()
    }

    /// Returns the members by which an apply identifies the elements of this list; empty if the list is atomic.
    pub(in crate::demo) fn list_keys(self) -> Vec<&'a str> {
        let keys = self.schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
        keys.filter_map(Value::as_str).collect()
    }

    /// Returns whether the list is a set of scalars, to which patches add.
    pub(in crate::demo) fn is_set(self) -> bool {
        self.word("x-kubernetes-list-type") == "set"
    }

    /// Returns whether the value is applied atomically.
    pub(in crate::demo) fn is_atomic(self) -> bool {
        self.word("x-kubernetes-map-type") == "atomic"
    }
}
