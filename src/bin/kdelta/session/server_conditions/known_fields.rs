//! The fields that servers select objects by, in addition to their names and labels. Pure.

use std::sync::Arc;

use kdelta::api::{Request, ServerVersion, is_built_in};
use kdelta::object::{ApiResource, FieldPath};

/// A selectable field of a built-in type.
struct BuiltIn {
    group: &'static str,
    plural: &'static str,
    /// The path in the objects.
    path: &'static str,
    /// The field in a selector.
    field: &'static str,
    /// The value that a selector sees in objects without the field; objects never have it otherwise.
    absent: &'static str,
    /// The first minor version of Kubernetes 1 whose servers select by it; 0 for all that are in use.
    since: u32,
}

/// Fields of texts, under their paths: an absent field is the empty text, and no object has an empty one.
const TEXTS: &[(&str, &str, &[&str])] = &[
    (
        "",
        "pods",
        &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.nominatedNodeName",
            "status.phase",
            "status.podIP",
        ],
    ),
    ("", "namespaces", &["status.phase"]),
    ("", "secrets", &["type"]),
    (
        "",
        "events",
        &[
            "involvedObject.apiVersion",
            "involvedObject.fieldPath",
            "involvedObject.kind",
            "involvedObject.name",
            "involvedObject.namespace",
            "involvedObject.resourceVersion",
            "involvedObject.uid",
            "reason",
            "type",
        ],
    ),
    ("certificates.k8s.io", "certificatesigningrequests", &["spec.signerName"]),
    ("certificates.k8s.io", "clustertrustbundles", &["spec.signerName"]),
];

/// Fields that are no texts, that have another name in a selector, or that older servers do not select by.
///
/// The versions are those of Kubernetes' sources: hostNetwork of pods came with CHANGELOG-1.28 (kubernetes/kubernetes#110477),
/// both fields of services with CHANGELOG-1.31 (#123905), and those of resource slices with k8s.io/api v0.31.0, where
/// resource/v1alpha3 defines them as selectors; version 0.30 has other names.
const OTHERS: &[BuiltIn] = &[
    BuiltIn::new("", "pods", "spec.hostNetwork", "spec.hostNetwork", "false", 28),
    BuiltIn::new("", "nodes", "spec.unschedulable", "spec.unschedulable", "false", 0),
    BuiltIn::new("", "services", "spec.clusterIP", "spec.clusterIP", "", 31),
    BuiltIn::new("", "services", "spec.type", "spec.type", "", 31),
    BuiltIn::new("batch", "jobs", "status.succeeded", "status.successful", "0", 0),
    BuiltIn::new("resource.k8s.io", "resourceslices", "spec.driver", "spec.driver", "", 31),
    BuiltIn::new("resource.k8s.io", "resourceslices", "spec.nodeName", "spec.nodeName", "", 31),
];

impl BuiltIn {
    const fn new(
        group: &'static str,
        plural: &'static str,
        path: &'static str,
        field: &'static str,
        absent: &'static str,
        since: u32,
    ) -> Self {
        Self { group, plural, path, field, absent, since }
    }
}

/// A field that the server of a part selects by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownField {
    /// The field in a selector.
    pub(super) field: String,
    /// The value that a selector sees in objects without the field; `None` if objects may also have this value, as custom
    /// resources may have an empty text.
    pub(super) absent: Option<&'static str>,
    /// Whether every object that has the field has a text there.
    pub(super) is_text: bool,
}

impl KnownField {
    /// Returns a field of the metadata that every object has.
    pub(super) fn metadata(field: &str) -> Self {
        Self { field: field.to_owned(), absent: None, is_text: true }
    }
}

/// The selectable fields of a type on one server.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownFields {
    /// The version of the server, if it is known.
    pub(super) version: Option<ServerVersion>,
    /// The definition of a custom resource, if it was requested.
    pub(super) definition: Option<Definition>,
}

/// The definition of a custom resource.
#[derive(Debug, Clone)]
pub(super) struct Definition {
    /// The request that was sent for it.
    pub(super) request: Request,
    /// Its selectable fields; `None` if it can't be read.
    pub(super) fields: Option<Arc<[DefinedField]>>,
}

/// A selectable field of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DefinedField {
    /// Its canonical path.
    pub(super) path: String,
    /// Whether its type is a text.
    pub(super) is_text: bool,
}

impl KnownFields {
    /// Returns the field at a path, in its canonical form.
    pub(super) fn find(&self, resource: &ApiResource, path: &str) -> Option<KnownField> {
        let path = FieldPath::parse(path).ok()?.to_string();
        let is_of = |group: &str, plural: &str| group == resource.group && plural == resource.resource;
        let texts = TEXTS.iter().filter(|(group, plural, _)| is_of(group, plural));
        if texts.flat_map(|(.., fields)| *fields).any(|field| *field == path) {
            return Some(KnownField { field: path, absent: Some(""), is_text: true });
        }
        let is_served = |since: u32| {
            since == 0
                || self.version.is_some_and(|version| version >= ServerVersion { major: 1, minor: since })
        };
        let mut others =
            OTHERS.iter().filter(|other| is_of(other.group, other.plural) && is_served(other.since));
        if let Some(other) = others.find(|other| other.path == path) {
            // A number or a boolean has another value without the field.
            let is_text = other.absent.is_empty();
            return Some(KnownField { field: other.field.to_owned(), absent: Some(other.absent), is_text });
        }
        let defined = self.definition.as_ref()?.fields.as_ref()?;
        let defined = defined.iter().find(|field| field.path == path)?;
        Some(KnownField { field: path, absent: None, is_text: defined.is_text })
    }

    /// Whether the server evaluates every selector by the rules of Kubernetes. The server of an aggregated API may ignore
    /// some; a type with a definition belongs to none.
    pub(super) fn is_exact(&self, resource: &ApiResource) -> bool {
        let is_defined = || self.definition.as_ref().is_some_and(|definition| definition.fields.is_some());
        is_built_in(&resource.group) || is_defined()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::part::tests::resource;

    #[test]
    fn fields_depend_on_type_and_version() {
        let known = |minor: Option<u32>| KnownFields {
            version: minor.map(|minor| ServerVersion { major: 1, minor }),
            definition: None,
        };
        let find = |minor, of: &str, path: &str| {
            known(minor).find(&resource(of), path).map(|found| (found.field, found.absent))
        };
        let text = |field: &str| Some((field.to_owned(), Some("")));
        assert_eq!(find(None, "pods", "{.spec.nodeName}"), text("spec.nodeName"));
        assert_eq!(
            find(None, "!nodes", "spec.unschedulable"),
            Some(("spec.unschedulable".into(), Some("false")))
        );
        assert_eq!(
            find(Some(36), "jobs.batch", "status.succeeded"),
            Some(("status.successful".into(), Some("0")))
        );
        assert_eq!(find(Some(31), "services", "spec.type"), text("spec.type"));
        assert_eq!(find(Some(31), "!resourceslices.resource.k8s.io", "spec.driver"), text("spec.driver"));
        assert!(find(Some(28), "pods", "spec.hostNetwork").is_some());
        for (minor, of, path) in [
            (None, "services", "spec.type"),
            (Some(30), "services", "spec.type"),
            (Some(30), "services", "spec.clusterIP"),
            (Some(30), "!resourceslices.resource.k8s.io", "spec.nodeName"),
            (Some(27), "pods", "spec.hostNetwork"),
            (Some(36), "pods", "spec.priority"),
            (Some(36), "pods.metrics.k8s.io", "spec.nodeName"),
            (Some(36), "deployments.apps", "spec.nodeName"),
            (Some(36), "widgets.example.com", "spec.color"),
            (Some(36), "pods", "spec["),
        ] {
            assert_eq!(find(minor, of, path), None, "{minor:?} {of} {path}");
        }
    }

    #[test]
    fn definition_lists_fields_of_custom_resources() {
        let widgets = resource("widgets.example.com");
        let of = |fields: Option<&[&str]>| {
            let field = |field: &&str| DefinedField { path: (*field).to_owned(), is_text: true };
            let fields = fields.map(|fields| fields.iter().map(field).collect());
            KnownFields {
                version: None,
                definition: Some(Definition { request: Request::new("/x"), fields }),
            }
        };
        let found = of(Some(&["spec.color"])).find(&widgets, ".spec.color");
        assert_eq!(found, Some(KnownField { field: "spec.color".into(), absent: None, is_text: true }));
        assert_eq!(of(Some(&[])).find(&widgets, "spec.color"), None);
        assert!(of(Some(&[])).is_exact(&widgets) && !of(None).is_exact(&widgets));
        assert!(KnownFields::default().is_exact(&resource("pods")));
        assert!(!KnownFields::default().is_exact(&resource("pods.metrics.k8s.io")));
    }
}
