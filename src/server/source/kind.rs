//! The definition of a resource.

use std::sync::Arc;

use serde_json::{Value, json};

/// The verbs of a resource without restrictions.
pub(crate) const VERBS: [&str; 8] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// The number of a resource in a store, in the order of definition.
pub(crate) type KindId = usize;

/// A resource in its single version.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_field_names, reason = "the name that the API has for it")]
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) kind: String,
    pub(crate) namespaced: bool,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    /// The subresources, such as `status` and `scale`.
    pub(crate) subresources: Vec<String>,
    pub(crate) verbs: &'static [&'static str],
    /// The definition of a custom resource; `None` for a built-in one.
    pub(crate) custom: Option<Arc<Custom>>,
    /// The conversion from the stored version; `None` for the stored version itself.
    pub(crate) conversion: Option<Conversion>,
}

/// A conversion of an object's JSON from its stored version to another one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Conversion(pub(crate) fn(&mut Value));

impl PartialEq for Conversion {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}

/// The parts of a `CustomResourceDefinition`'s version that the server uses.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Custom {
    /// `additionalPrinterColumns`.
    pub(crate) columns: Value,
    /// `openAPIV3Schema`.
    pub(crate) schema: Value,
    /// `subresources.scale`: the paths of the replicas; null without that subresource.
    pub(crate) scale: Value,
    /// The fields of `selectableFields`.
    pub(crate) selectable: Vec<String>,
}

impl Kind {
    /// Returns `v1` or `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Returns `pods` or `deployments.apps`.
    pub(crate) fn group_resource(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// Returns the `details` of a Status about an object.
    pub(crate) fn details(&self, name: &str) -> Value {
        let mut details = json!({"name": name, "kind": self.plural});
        if !self.group.is_empty() {
            details["group"] = self.group.as_str().into();
        }
        details
    }

    /// Returns whether objects of this resource can be read. Others, such as access reviews, are only created.
    pub(crate) fn is_readable(&self) -> bool {
        self.verbs.contains(&"get")
    }

    pub(crate) fn is_custom(&self) -> bool {
        self.custom.is_some()
    }

    pub(crate) fn has_subresource(&self, name: &str) -> bool {
        self.subresources.iter().any(|own| own == name)
    }

    /// Returns the resource of a `CustomResourceDefinition` in its storage version, or `None` if it lacks a name.
    pub(crate) fn of_definition(definition: &Value) -> Option<Self> {
        let versions = definition.get("spec")?.get("versions")?.as_array()?;
        let stored = versions.iter().find(|version| version["storage"] == true).or(versions.first())?;
        Self::of_definition_version(definition, stored)
    }

    /// Returns the resource of a `CustomResourceDefinition` in one of its versions, or `None` if it lacks a name.
    pub(crate) fn of_definition_version(definition: &Value, version: &Value) -> Option<Self> {
        let spec = definition.get("spec")?;
        let names = spec.get("names")?;
        let text = |value: &Value, key: &str| Some(value.get(key)?.as_str()?.to_owned());
        let texts = |key: &str| -> Vec<String> {
            let each = names.get(key).and_then(Value::as_array).into_iter().flatten();
            each.filter_map(|text| Some(text.as_str()?.to_owned())).collect()
        };
        let kind = text(names, "kind")?;
        let subresources = &version["subresources"];
        let has = |name: &&str| subresources[*name].is_object();
        let selectable = version["selectableFields"].as_array().into_iter().flatten();
        let selectable =
            selectable.filter_map(|field| Some(field["jsonPath"].as_str()?.trim_start_matches('.')));
        let custom = Custom {
            columns: version.get("additionalPrinterColumns").cloned().unwrap_or(json!([])),
            schema: version["schema"]["openAPIV3Schema"].clone(),
            scale: subresources["scale"].clone(),
            selectable: selectable.map(str::to_owned).collect(),
        };
        Some(Self {
            group: text(spec, "group")?,
            version: text(version, "name")?,
            plural: text(names, "plural")?,
            singular: text(names, "singular").unwrap_or_else(|| kind.to_lowercase()),
            namespaced: spec["scope"] == "Namespaced",
            short_names: texts("shortNames"),
            categories: texts("categories"),
            subresources: ["scale", "status"]
                .iter()
                .filter(|name| has(name))
                .map(|&name| name.to_owned())
                .collect(),
            verbs: &VERBS,
            custom: Some(Arc::new(custom)),
            conversion: None,
            kind,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_defines_its_storage_version() {
        let definition = json!({"spec": {
            "group": "g", "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing", "shortNames": ["th"]},
            "versions": [{"name": "v1", "storage": false}, {"name": "v2", "storage": true, "subresources": {"status": {}},
                "selectableFields": [{"jsonPath": ".spec.color"}]}],
        }});
        let kind = Kind::of_definition(&definition).expect("a kind");
        assert_eq!((kind.api_version().as_str(), kind.group_resource().as_str()), ("g/v2", "things.g"));
        assert!(kind.is_custom() && kind.namespaced && kind.has_subresource("status"));
        assert_eq!(Kind::of_definition(&json!({"spec": {}})), None);
    }
}
