//! The schemas of resources.

use std::sync::OnceLock;

use super::built_in;
use super::node::{Node, Schemas};
use crate::server::openapi::definition_name;
use crate::server::source::Kind;

/// Returns the schemas of the built-in resources, decoded at first use, which takes some milliseconds.
pub(in crate::demo) fn built_in_schemas() -> &'static Schemas {
    // A OnceLock: they are the same for every server in the process and never change.
    static SCHEMAS: OnceLock<Schemas> = OnceLock::new();
    SCHEMAS.get_or_init(built_in::schemas)
}

/// Returns the schema of a resource, if it has one.
pub(in crate::demo) fn of(kind: &Kind) -> Option<Node<'_>> {
    let schemas = built_in_schemas();
    match &kind.custom {
        Some(custom) if custom.schema.is_object() => {
            Some(Node { schemas, schema: &custom.schema, owner: &kind.kind })
        }
        Some(_) => None,
        None => schemas.definition(&definition_name(&kind.group, &kind.version, &kind.kind)),
    }
}

/// Returns the schema of `metadata`, which all resources share.
pub(in crate::demo) fn object_meta() -> Option<Node<'static>> {
    built_in_schemas().definition("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
}
