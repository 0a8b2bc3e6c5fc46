//! The label selector of a workload, which its pods and revisions have: only these are listed.

use kdelta::object::{ApiResource, JsonValue, Object};

use super::collection::Listed;
use crate::settings::{Target, Types};
use crate::view::TreeObject;

/// Types by group and plural.
pub(super) type ResourceTypes = &'static [(&'static str, &'static str)];

const PODS: (&str, &str) = ("", "pods");
const REPLICA_SETS: (&str, &str) = ("apps", "replicasets");
const REVISIONS: (&str, &str) = ("apps", "controllerrevisions");

/// The types whose objects own no pods, so that they need not be looked for below them.
const LEAVES: ResourceTypes = &[
    ("", "configmaps"),
    ("", "endpoints"),
    ("", "events"),
    ("", "persistentvolumeclaims"),
    ("", "secrets"),
    ("", "serviceaccounts"),
    ("", "services"),
    ("apps", "controllerrevisions"),
    ("cilium.io", "ciliumendpoints"),
    ("coordination.k8s.io", "leases"),
    ("discovery.k8s.io", "endpointslices"),
    ("events.k8s.io", "events"),
    ("policy", "poddisruptionbudgets"),
    ("resource.k8s.io", "resourceclaims"),
];

/// The selector of the only selected object.
#[derive(Debug, Clone)]
pub(super) struct WorkloadSelector {
    /// The selector as text.
    pub(super) labels: String,
    types: ResourceTypes,
}

impl WorkloadSelector {
    /// Returns the selector if one object is selected and its kind selects what it owns.
    pub(super) fn of(roots: &[Listed]) -> Option<Self> {
        let mut objects = roots.iter().flat_map(|listed| listed.objects.iter().map(move |o| (listed, o)));
        let (listed, object) = objects.next()?;
        if objects.next().is_some() {
            return None;
        }
        Self::of_object(&listed.part.resource, object)
    }

    /// Returns the selector of an object if its kind selects what it owns.
    pub(super) fn of_object(resource: &ApiResource, object: &Object) -> Option<Self> {
        let types = types_of(resource)?;
        Some(Self { labels: selector(object)?, types })
    }

    /// Whether the objects of a type below the selected object have its labels.
    pub(super) fn applies_to(&self, resource: &ApiResource) -> bool {
        self.types.contains(&(&resource.group, &resource.resource))
    }

    /// Whether all owned objects were found among those with the labels. An object of another type may own objects with
    /// other labels.
    pub(super) fn covers<'a>(&self, mut owned: impl Iterator<Item = &'a TreeObject>) -> bool {
        owned.all(|object| {
            let resource = &object.resource;
            self.applies_to(resource) || LEAVES.contains(&(&resource.group, &resource.resource))
        })
    }

    /// Returns the types, to list them as a whole.
    pub(super) fn targets(&self) -> Vec<Target> {
        let word = |(group, resource): &(&str, &str)| match *group {
            "" => (*resource).to_owned(),
            group => format!("{resource}.{group}"),
        };
        let types = self.types.iter().map(|of| Types::Word(word(of)));
        types.map(|types| Target { types, names: Vec::new(), patterns: Vec::new() }).collect()
    }
}

/// Whether the objects of a type usually belong to trees, so that they are watched before others.
pub(super) fn is_known_owned(resource: &ApiResource) -> bool {
    let own = (&*resource.group, &*resource.resource);
    LEAVES.contains(&own) || matches!(own.0, "" | "apps" | "batch" | "autoscaling" | "networking.k8s.io")
}

/// Returns the types whose objects have the labels that an object of this type selects.
pub(super) fn types_of(resource: &ApiResource) -> Option<ResourceTypes> {
    match (&*resource.group, &*resource.resource) {
        ("apps", "deployments") => Some(&[PODS, REPLICA_SETS]),
        ("apps", "replicasets") | ("", "replicationcontrollers") | ("batch", "jobs") => Some(&[PODS]),
        ("apps", "statefulsets" | "daemonsets") => Some(&[PODS, REVISIONS]),
        _ => None,
    }
}

/// Returns `spec.selector` as text; `None` if it is absent or not a selector.
fn selector(object: &Object) -> Option<String> {
    let json = object.json();
    let value = JsonValue::parse(&json);
    let selector = value.get("spec")?.get("selector")?;
    let labels = match (selector.get("matchLabels"), selector.get("matchExpressions")) {
        // A replication controller has the labels only.
        (None, None) => selector,
        (labels, _) => labels.unwrap_or(&JsonValue::Null),
    };
    let mut terms = Vec::new();
    if let JsonValue::Object(labels) = labels {
        for (key, value) in labels {
            terms.push(format!("{}={}", word(key)?, word(text(value)?)?));
        }
    }
    if let Some(JsonValue::Array(expressions)) = selector.get("matchExpressions") {
        for expression in expressions {
            terms.push(term(expression)?);
        }
    }
    (!terms.is_empty()).then(|| terms.join(","))
}

/// Returns a requirement as text.
fn term(expression: &JsonValue<'_>) -> Option<String> {
    let key = word(text(expression.get("key")?)?)?;
    let values = || match expression.get("values")? {
        JsonValue::Array(values) => {
            let values: Option<Vec<&str>> = values.iter().map(|value| word(text(value)?)).collect();
            values.map(|values| values.join(","))
        }
        _ => None,
    };
    match text(expression.get("operator")?)? {
        "In" => Some(format!("{key} in ({})", values()?)),
        "NotIn" => Some(format!("{key} notin ({})", values()?)),
        "Exists" => Some(key.to_owned()),
        "DoesNotExist" => Some(format!("!{key}")),
        _ => None,
    }
}

fn text<'a>(value: &'a JsonValue<'_>) -> Option<&'a str> {
    match value {
        JsonValue::Text(text) => Some(text),
        _ => None,
    }
}

/// Returns a key or value without characters that mean something else in a selector.
fn word(text: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    text.chars().all(is_plain).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::object::{Ingest, TypeMeta};

    use super::*;

    fn read(spec: &str) -> Option<String> {
        let type_meta = Arc::new(TypeMeta { api_version: "apps/v1".into(), kind: "Deployment".into() });
        let json = format!(r#"{{"metadata":{{"name":"x"}},"spec":{spec}}}"#);
        selector(&Object::from_json(json.as_bytes(), &Ingest::of(type_meta)).expect("an object"))
    }

    #[test]
    fn selectors_are_written_as_text() {
        for (spec, expected) in [
            (r#"{"selector":{"matchLabels":{"app":"web","tier":""}}}"#, Some("app=web,tier=")),
            (r#"{"selector":{"app":"web"}}"#, Some("app=web")),
            (
                r#"{"selector":{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"k","operator":"In","values":["x","y"]},{"key":"l","operator":"NotIn","values":["z"]},{"key":"m","operator":"Exists"},{"key":"n","operator":"DoesNotExist"}]}}"#,
                Some("a=b,k in (x,y),l notin (z),m,!n"),
            ),
            (r#"{"selector":{"matchExpressions":[{"key":"m","operator":"Exists"}]}}"#, Some("m")),
            (r#"{"selector":{"matchExpressions":[{"key":"m","operator":"Odd"}]}}"#, None),
            (r#"{"selector":{"matchLabels":{"a":"b,c"}}}"#, None),
            (r#"{"selector":{}}"#, None),
            (r#"{"selector":"app=web"}"#, None),
            ("{}", None),
        ] {
            assert_eq!(read(spec).as_deref(), expected, "{spec}");
        }
    }
}
