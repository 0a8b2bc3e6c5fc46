//! The document of version 2, which has all kinds of a server.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::kind::GroupVersionKind;
use super::schema::Schema;

/// The schemas of `/openapi/v2`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct OpenApiV2 {
    definitions: BTreeMap<String, Schema>,
}

impl OpenApiV2 {
    /// Parses the document.
    ///
    /// # Errors
    /// The text is not JSON of that form.
    pub fn parse(json: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(json)
    }

    /// Returns the schema of a kind. Of several, the last by name, as in kubectl.
    #[must_use]
    pub fn schema_of(&self, kind: &GroupVersionKind) -> Option<&Schema> {
        self.definitions.values().rev().find(|schema| schema.kinds.contains(kind))
    }

    /// Returns the schema that a reference names: `#/definitions/NAME`.
    #[must_use]
    pub fn resolve(&self, reference: &str) -> Option<&Schema> {
        self.definitions.get(reference.strip_prefix("#/definitions/")?)
    }
}
