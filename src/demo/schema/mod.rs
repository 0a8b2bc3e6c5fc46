//! What the fields of each resource are: of the built-in ones from committed schemas, of custom ones from their
//! definitions.
//!
//! It answers what a server uses it for: the `OpenAPI` documents, which fields of a body there are not, which are missing,
//! and by what key the elements of a list are told apart.

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

/// Where the schemas stand in a document.
const PREFIX: &str = "#/components/schemas/";

/// Schemas under their names, which refer to each other.
#[derive(Debug, Default)]
pub(super) struct Schemas(Map<String, Value>);

/// A place in the schema of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node<'a> {
    schemas: &'a Schemas,
    schema: &'a Value,
    /// The name of the definition that this is or stands in, without its package.
    owner: &'a str,
}

/// The schemas of the built-in resources, decoded with the first use: that takes some milliseconds.
pub(super) fn built_in() -> &'static Schemas {
    // A OnceLock: they are the same for every server of the process, and never change.
    static SCHEMAS: OnceLock<Schemas> = OnceLock::new();
    SCHEMAS.get_or_init(built_in::schemas)
}

/// The schema of a resource; nothing where there is none.
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

/// The schema of `metadata`, which is the same in every resource.
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
    /// The place that a schema within this one describes.
    fn within(self, schema: &'a Value) -> Self {
        let reference = schema["$ref"].as_str().or(schema["allOf"][0]["$ref"].as_str());
        let named = reference.and_then(|name| self.schemas.definition(name.strip_prefix(PREFIX)?));
        named.unwrap_or(Self { schema, ..self })
    }

    /// A member of that name.
    pub(super) fn member(self, name: &str) -> Option<Self> {
        let own = self.schema["properties"].get(name);
        let any = self.schema.get("additionalProperties").filter(|any| any.is_object());
        own.or(any).map(|schema| self.within(schema))
    }

    /// The elements of a list.
    pub(super) fn element(self) -> Option<Self> {
        self.schema.get("items").map(|schema| self.within(schema))
    }

    /// The members that are named one by one; nothing where there are none, and any may be.
    fn members(self) -> Option<&'a Map<String, Value>> {
        self.schema["properties"].as_object()
    }

    fn is_free(self) -> bool {
        self.schema["x-kubernetes-preserve-unknown-fields"] == true
    }

    fn word(self, key: &str) -> &'a str {
        self.schema[key].as_str().unwrap_or_default()
    }

    /// The member by which a patch finds the elements of this list again; nothing where a list is replaced as a whole.
    pub(super) fn merge_key(self) -> Option<&'a str> {
        self.schema["x-kubernetes-patch-merge-key"].as_str()
    }

    /// The members that tell the elements of this list apart when it is applied; none where the list is one value.
    pub(super) fn list_keys(self) -> Vec<&'a str> {
        let keys = self.schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
        keys.filter_map(Value::as_str).collect()
    }

    /// Whether the list is a set of plain values, which a patch adds to.
    pub(super) fn is_set(self) -> bool {
        self.word("x-kubernetes-list-type") == "set"
    }

    /// Whether the value is applied as a whole, whatever is in it.
    pub(super) fn is_atomic(self) -> bool {
        self.word("x-kubernetes-map-type") == "atomic"
    }
}
