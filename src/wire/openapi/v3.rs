//! A document of version 3, which has the kinds of one group version.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::kind::GroupVersionKind;
use super::schema::Schema;

/// The schemas of a document such as `/openapi/v3/apis/apps/v1`, and the kinds behind its paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct OpenApiV3 {
    paths: BTreeMap<String, PathItem>,
    components: Components,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Components {
    schemas: BTreeMap<String, Schema>,
}

/// The operations of a path that show the kind of its objects, in the order in which kubectl looks at them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct PathItem {
    get: Option<Operation>,
    post: Option<Operation>,
    put: Option<Operation>,
    patch: Option<Operation>,
    delete: Option<Operation>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Operation {
    #[serde(rename = "x-kubernetes-group-version-kind")]
    kind: Option<GroupVersionKind>,
}

impl PathItem {
    fn operations(&self) -> impl Iterator<Item = &Operation> {
        [&self.get, &self.post, &self.put, &self.patch, &self.delete].into_iter().flatten()
    }
}

impl OpenApiV3 {
    /// Parses the document.
    ///
    /// # Errors
    /// The text is not JSON of that form.
    pub fn parse(json: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(json)
    }

    /// Returns the kind of a resource's objects, by the operations on its paths. As in kubectl, the paths of a namespace
    /// take precedence.
    #[must_use]
    pub fn kind_of(&self, group: &str, version: &str, resource: &str) -> Option<&GroupVersionKind> {
        let root = if group.is_empty() { "/api".to_owned() } else { format!("/apis/{group}") };
        let mut kind = None;
        for scope in ["", "namespaces/{namespace}/"] {
            for name in ["", "/{name}"] {
                let Some(path) = self.paths.get(&format!("{root}/{version}/{scope}{resource}{name}")) else {
                    continue;
                };
                if path.operations().next().is_some() {
                    kind = path.operations().find_map(|operation| operation.kind.as_ref());
                }
            }
        }
        kind
    }

    /// Returns the schema of a kind. Of several, the first by name, as in kubectl.
    #[must_use]
    pub fn schema_of(&self, kind: &GroupVersionKind) -> Option<&Schema> {
        self.components.schemas.values().find(|schema| schema.kinds.contains(kind))
    }

    /// Returns the schema that a reference names: `#/components/schemas/NAME`. An empty schema counts as none.
    #[must_use]
    pub fn resolve(&self, reference: &str) -> Option<&Schema> {
        let name = reference.strip_prefix("#/components/schemas/")?;
        self.components.schemas.get(name).filter(|schema| !schema.is_empty())
    }
}
