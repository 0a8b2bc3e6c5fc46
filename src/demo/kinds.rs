//! Which resources the server has: the built-in ones, and those that a stored CustomResourceDefinition defines.

use serde_json::{Value, json};

/// Every verb that discovery names for a resource.
pub(super) const VERBS: [&str; 8] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// One resource in its one version.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kind {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: String,
    pub(super) singular: String,
    pub(super) kind: String,
    pub(super) namespaced: bool,
    pub(super) short_names: Vec<String>,
    pub(super) categories: Vec<String>,
    /// `status` and `scale`, where there are such.
    pub(super) subresources: Vec<String>,
    /// `additionalPrinterColumns` of a custom resource; nothing for a built-in one.
    pub(super) custom_columns: Option<Value>,
}

/// group, plural, kind, version, whether namespaced, short names, subresources; as words, because it is a table.
type BuiltIn = (&'static str, &'static str, &'static str, &'static str, bool, &'static str, &'static str);

/// Sorted within a group as discovery sorts.
const BUILT_IN: [BuiltIn; 13] = [
    ("", "configmaps", "ConfigMap", "v1", true, "cm", ""),
    ("", "events", "Event", "v1", true, "ev", ""),
    ("", "namespaces", "Namespace", "v1", false, "ns", "status"),
    ("", "nodes", "Node", "v1", false, "no", "status"),
    ("", "pods", "Pod", "v1", true, "po", "status"),
    ("", "secrets", "Secret", "v1", true, "", ""),
    ("", "serviceaccounts", "ServiceAccount", "v1", true, "sa", ""),
    ("", "services", "Service", "v1", true, "svc", "status"),
    ("apps", "deployments", "Deployment", "v1", true, "deploy", "scale status"),
    ("apps", "replicasets", "ReplicaSet", "v1", true, "rs", "scale status"),
    ("batch", "jobs", "Job", "v1", true, "", "status"),
    (
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        "CustomResourceDefinition",
        "v1",
        false,
        "crd crds",
        "status",
    ),
    ("coordination.k8s.io", "leases", "Lease", "v1", true, "", ""),
];

/// The numbers of built-in resources in a store: their places in the table.
pub(super) const CONFIG_MAPS: usize = 0;
pub(super) const EVENTS: usize = 1;
pub(super) const NAMESPACES: usize = 2;
pub(super) const NODES: usize = 3;
pub(super) const PODS: usize = 4;
pub(super) const SECRETS: usize = 5;
pub(super) const SERVICE_ACCOUNTS: usize = 6;
pub(super) const SERVICES: usize = 7;
pub(super) const DEPLOYMENTS: usize = 8;
pub(super) const REPLICA_SETS: usize = 9;
pub(super) const JOBS: usize = 10;
pub(super) const DEFINITIONS: usize = 11;
pub(super) const LEASES: usize = 12;

/// What `kubectl get all` asks for.
const ALL: [&str; 5] = ["pods", "services", "deployments", "replicasets", "jobs"];

impl Kind {
    /// `v1` or `apps/v1`.
    pub(super) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `pods` or `deployments.apps`.
    pub(super) fn group_resource(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    /// The `details` of a Status that speaks of an object.
    pub(super) fn details(&self, name: &str) -> Value {
        let mut details = json!({"name": name, "kind": self.plural});
        if !self.group.is_empty() {
            details["group"] = self.group.as_str().into();
        }
        details
    }

    pub(super) fn is_custom(&self) -> bool {
        self.custom_columns.is_some()
    }

    pub(super) fn has_subresource(&self, name: &str) -> bool {
        self.subresources.iter().any(|own| own == name)
    }

    /// The verbs that discovery names; a namespace is not deleted by the collection.
    pub(super) fn verbs(&self) -> Vec<&'static str> {
        VERBS.into_iter().filter(|verb| self.plural != "namespaces" || *verb != "deletecollection").collect()
    }

    /// What is said of a field that may not stand in a field selector; nothing of one that may.
    pub(super) fn refuses_field(&self, field: &str) -> Option<String> {
        if ["metadata.name", "metadata.namespace"].contains(&field) {
            return None;
        }
        match self.field_labels() {
            Some(own) if own.contains(&field) => None,
            Some(_) => Some(format!("field label not supported: {field}")),
            None => Some(format!(
                "{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            )),
        }
    }

    /// The fields that this resource can be selected by beside its names; nothing where it has no list of its own.
    fn field_labels(&self) -> Option<&'static [&'static str]> {
        Some(match (self.group.as_str(), self.plural.as_str()) {
            ("", "pods") => &[
                "spec.nodeName",
                "spec.restartPolicy",
                "spec.schedulerName",
                "spec.serviceAccountName",
                "status.phase",
                "status.podIP",
                "status.nominatedNodeName",
            ],
            ("", "events") => &[
                "involvedObject.kind",
                "involvedObject.namespace",
                "involvedObject.name",
                "involvedObject.uid",
                "involvedObject.apiVersion",
                "involvedObject.resourceVersion",
                "involvedObject.fieldPath",
                "reason",
                "reportingComponent",
                "type",
            ],
            ("", "namespaces") => &["status.phase"],
            ("", "secrets") => &["type"],
            ("", "services") => &["spec.clusterIP", "spec.type"],
            ("apps", "replicasets") => &["status.replicas"],
            ("", "nodes") => &[],
            _ if self.is_custom() => &[],
            _ => return None,
        })
    }

    /// The resource that a CustomResourceDefinition defines: its storage version. Nothing where it lacks a name.
    pub(super) fn of_definition(definition: &Value) -> Option<Self> {
        let spec = definition.get("spec")?;
        let (names, versions) = (spec.get("names")?, spec.get("versions")?.as_array()?);
        let version = versions.iter().find(|version| version["storage"] == true).or(versions.first())?;
        let text = |value: &Value, key: &str| Some(value.get(key)?.as_str()?.to_owned());
        let texts = |key: &str| -> Vec<String> {
            let each = names.get(key).and_then(Value::as_array).into_iter().flatten();
            each.filter_map(|text| Some(text.as_str()?.to_owned())).collect()
        };
        let kind = text(names, "kind")?;
        let subresources = version.get("subresources").and_then(Value::as_object).into_iter().flatten();
        Some(Self {
            group: text(spec, "group")?,
            version: text(version, "name")?,
            plural: text(names, "plural")?,
            singular: text(names, "singular").unwrap_or_else(|| kind.to_lowercase()),
            namespaced: spec["scope"] == "Namespaced",
            short_names: texts("shortNames"),
            categories: texts("categories"),
            subresources: subresources
                .map(|(name, _)| name.clone())
                .filter(|name| name == "status")
                .collect(),
            custom_columns: Some(version.get("additionalPrinterColumns").cloned().unwrap_or(json!([]))),
            kind,
        })
    }
}

/// The resources that every server has.
pub(super) fn built_in() -> impl Iterator<Item = Kind> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    BUILT_IN.into_iter().map(move |(group, plural, kind, version, namespaced, short, subresources)| Kind {
        group: group.into(),
        version: version.into(),
        plural: plural.into(),
        singular: kind.to_lowercase(),
        kind: kind.into(),
        namespaced,
        short_names: words(short),
        categories: if ALL.contains(&plural) { words("all") } else { Vec::new() },
        subresources: words(subresources),
        custom_columns: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_the_places_in_the_table() {
        let plurals: Vec<_> = built_in().map(|kind| kind.plural).collect();
        for (id, plural) in [
            (CONFIG_MAPS, "configmaps"),
            (EVENTS, "events"),
            (NAMESPACES, "namespaces"),
            (NODES, "nodes"),
            (PODS, "pods"),
            (SECRETS, "secrets"),
            (SERVICE_ACCOUNTS, "serviceaccounts"),
            (SERVICES, "services"),
            (DEPLOYMENTS, "deployments"),
            (REPLICA_SETS, "replicasets"),
            (JOBS, "jobs"),
            (DEFINITIONS, "customresourcedefinitions"),
            (LEASES, "leases"),
        ] {
            assert_eq!(plurals[id], plural);
        }
    }

    #[test]
    fn a_definition_defines_its_storage_version() {
        let definition = json!({"spec": {
            "group": "g", "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing", "shortNames": ["th"]},
            "versions": [{"name": "v1", "storage": false}, {"name": "v2", "storage": true, "subresources": {"status": {}}}],
        }});
        let kind = Kind::of_definition(&definition).expect("a kind");
        assert_eq!((kind.api_version().as_str(), kind.group_resource().as_str()), ("g/v2", "things.g"));
        assert!(kind.is_custom() && kind.namespaced && kind.has_subresource("status"));
        assert_eq!(Kind::of_definition(&json!({"spec": {}})), None);
    }
}
