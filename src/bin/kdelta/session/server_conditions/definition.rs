//! The definition of a custom resource, which lists its selectable fields.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use kdelta::api::ResourceClient;
use kdelta::object::{ApiResource, FieldPath};
use kdelta::wire::Representation;
use serde::Deserialize;

use super::known_fields::{DefinedField, Definition, KnownFields};
use crate::session::{Cluster, Part, Session};
use crate::settings::{By, IndexName, ObjectFilter};

/// The time limit of the request: without the definition, conditions on fields are evaluated here.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The fields of a definition that are read.
#[derive(Deserialize)]
struct DefinitionBody {
    spec: DefinitionSpec,
}

#[derive(Deserialize)]
struct DefinitionSpec {
    #[serde(default)]
    versions: Vec<DefinitionVersion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DefinitionVersion {
    name: String,
    #[serde(default)]
    selectable_fields: Vec<SelectableField>,
    #[serde(default)]
    schema: DefinitionSchema,
}

#[derive(Default, Deserialize)]
struct DefinitionSchema {
    #[serde(default, rename = "openAPIV3Schema")]
    root: serde_json::Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SelectableField {
    json_path: String,
}

impl Session {
    /// Returns the selectable fields of a part's type. Requests the definition of a custom resource once, if there are
    /// conditions on fields.
    pub(crate) async fn load_fields(
        &self,
        part: &Part,
        by: &[By],
        filter: &ObjectFilter,
    ) -> Arc<KnownFields> {
        self.clusters[part.cluster].load_fields(part, by, filter).await
    }

    /// Returns the selectable fields of a part's type, as far as they are loaded.
    pub(crate) fn known_fields(&self, part: &Part) -> Arc<KnownFields> {
        self.clusters[part.cluster].known_fields(&part.resource).unwrap_or_default()
    }
}

impl Cluster {
    fn known_fields(&self, resource: &ApiResource) -> Option<Arc<KnownFields>> {
        self.known_fields.lock().unwrap_or_else(PoisonError::into_inner).get(resource).cloned()
    }

    async fn load_fields(&self, part: &Part, by: &[By], filter: &ObjectFilter) -> Arc<KnownFields> {
        let resource = &part.resource;
        let mut known = if let Some(known) = self.known_fields(resource) {
            known
        } else {
            let version = self.discovery().server_version().await;
            Arc::new(KnownFields { version, definition: None })
        };
        let reads_fields = || {
            let is_field = |by: &By| matches!(by.index, IndexName::Node | IndexName::Field(_));
            part.name.is_none() && (by.iter().any(is_field) || filter.required().any(|by| is_field(&by)))
        };
        if known.definition.is_none() && !known.is_exact(resource) && reads_fields() {
            let definition = self.definition(resource).await;
            known = Arc::new(KnownFields { definition, ..(*known).clone() });
        }
        let mut all = self.known_fields.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert((**resource).clone(), Arc::clone(&known));
        known
    }

    /// Requests the definition of a resource; `None` if it can have none.
    async fn definition(&self, resource: &ApiResource) -> Option<Definition> {
        let name = format!("{}.{}", resource.resource, resource.group);
        let timeout = self.request_timeout().map_or(TIMEOUT, |timeout| timeout.min(TIMEOUT));
        let client = ResourceClient::new(self.client.clone(), definitions())
            .representation(Representation::Objects)
            .request_timeout(Some(timeout));
        let request = client.get_request(&name).ok()?;
        // Without permission, conditions are evaluated here.
        let fields = match client.get_named(&name).await {
            Ok(object) => object.parse().ok().map(|body| selectable_fields(&body, &resource.version)),
            Err(_) => None,
        };
        Some(Definition { request, fields })
    }
}

/// Returns the resource of definitions.
fn definitions() -> ApiResource {
    ApiResource {
        group: "apiextensions.k8s.io".into(),
        version: "v1".into(),
        resource: "customresourcedefinitions".into(),
        kind: "CustomResourceDefinition".into(),
        namespaced: false,
    }
}

/// Returns the selectable fields of a version. A field that is no plain path is left out.
fn selectable_fields(body: &DefinitionBody, version: &str) -> Arc<[DefinedField]> {
    let versions = body.spec.versions.iter().filter(|of| of.name == version);
    let fields = versions.flat_map(|of| of.selectable_fields.iter().map(|field| (field, &of.schema.root)));
    let fields = fields.filter_map(|(field, schema)| {
        let path = FieldPath::parse(&field.json_path).ok()?.to_string();
        let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
        let is_text = path.split('.').fold(schema, |at, name| &at["properties"][name])["type"] == "string";
        let is_unchanged = field.json_path.strip_prefix('.') == Some(&path);
        (is_plain && is_unchanged).then_some(DefinedField { path, is_text })
    });
    fields.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_served_version_are_read() {
        let body = || {
            serde_json::from_value(serde_json::json!({"spec": {"versions": [
                {"name": "v1", "selectableFields": [
                    {"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}, {"jsonPath": ".spec.lost"},
                    {"jsonPath": ".spec['a.b']"}, {"jsonPath": ".spec.a,b"}],
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"properties": {
                        "color": {"type": "string"}, "size": {"type": "integer"}}}}}}},
                {"name": "v2"},
            ]}}))
            .expect("a definition")
        };
        let fields = |version| {
            let found = selectable_fields(&body(), version);
            found.iter().map(|field| (field.path.clone(), field.is_text)).collect::<Vec<_>>()
        };
        let expected = [("spec.color", true), ("spec.size", false), ("spec.lost", false)];
        assert_eq!(fields("v1"), expected.map(|(path, is_text)| (path.to_owned(), is_text)));
        assert!(fields("v2").is_empty() && fields("v3").is_empty());
    }
}
