//! The relations of an object, read from its JSON.

use kdelta::object::{ApiResource, JsonValue};

use super::EdgeKind;
use super::event::EventNote;
use super::fields::{items, path, text};
use super::kinds::{
    AUTOSCALER, CLAIM, CRON_JOB, EVENT, INGRESS, POD, SECRET, SERVICE, SLICE, VOLUME, WORKLOADS, kind_of,
};
use super::pod_spec::read_pod_spec;
use super::reference::{Reference, References, SERVICE_LABEL, Target};

/// The relations that follow from an object alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Relations {
    pub(super) references: Vec<Reference>,
    /// The content, if the object is an event.
    pub(crate) event: Option<EventNote>,
}

impl Relations {
    /// Reads the relations of a whole object. Members of the wrong type are skipped.
    pub(crate) fn read(resource: &ApiResource, json: &[u8]) -> Self {
        let kind = kind_of(resource);
        let has_relations =
            matches!(kind, POD | CLAIM | VOLUME | SLICE | INGRESS | AUTOSCALER | EVENT | CRON_JOB)
                || WORKLOADS.contains(&kind);
        if !has_relations {
            return Self::default();
        }
        let value = JsonValue::parse(json);
        let namespace = text(&value, &["metadata", "namespace"]).unwrap_or_default();
        let mut references = References::new(namespace);
        let pod_spec: &[&str] = match kind {
            POD => &["spec"],
            CRON_JOB => &["spec", "jobTemplate", "spec", "template", "spec"],
            _ => &["spec", "template", "spec"],
        };
        let mut event = None;
        match kind {
            CLAIM => references.add(EdgeKind::Bound, VOLUME, text(&value, &["spec", "volumeName"])),
            VOLUME => add_claim(&mut references, &value),
            SLICE => add_endpoints(&mut references, &value),
            INGRESS => add_backends(&mut references, &value),
            AUTOSCALER => {
                add_by_kind(
                    &mut references,
                    EdgeKind::Scales,
                    path(&value, &["spec", "scaleTargetRef"]),
                    namespace,
                );
            }
            EVENT => {
                let about = value.get("involvedObject");
                let namespace = about.and_then(|about| text(about, &["namespace"])).unwrap_or_default();
                add_by_kind(&mut references, EdgeKind::About, about, namespace);
                event = Some(EventNote::read(&value));
            }
            _ => {
                if let Some(spec) = path(&value, pod_spec) {
                    read_pod_spec(spec, &mut references);
                }
            }
        }
        Self { references: references.found, event }
    }
}

/// Adds a reference with a kind and an API version.
fn add_by_kind(
    references: &mut References,
    edge: EdgeKind,
    reference: Option<&JsonValue<'_>>,
    namespace: &str,
) {
    let Some(reference) = reference else { return };
    let field = |name| text(reference, &[name]).unwrap_or_default();
    let (kind, name) = (field("kind").to_owned(), field("name").to_owned());
    if kind.is_empty() || name.is_empty() {
        return;
    }
    let group = field("apiVersion").split_once('/').map_or("", |(group, _)| group).to_owned();
    references.push(edge, Target { group, kind, namespace: namespace.to_owned(), name });
}

fn add_claim(references: &mut References, volume: &JsonValue<'_>) {
    let claim = |field| text(volume, &["spec", "claimRef", field]);
    claim("namespace").unwrap_or_default().clone_into(&mut references.namespace);
    references.add_reverse(EdgeKind::Bound, CLAIM, claim("name"));
}

fn add_endpoints(references: &mut References, slice: &JsonValue<'_>) {
    let service = text(slice, &["metadata", "labels", SERVICE_LABEL]);
    references.add_reverse(EdgeKind::BackedBy, SERVICE, service);
    for target in items(slice.get("endpoints")).filter_map(|endpoint| endpoint.get("targetRef")) {
        if text(target, &["kind"]) == Some("Pod") {
            references.add(EdgeKind::Endpoint, POD, text(target, &["name"]));
        }
    }
}

fn add_backends(references: &mut References, ingress: &JsonValue<'_>) {
    let default = path(ingress, &["spec", "defaultBackend"]);
    let rules = items(path(ingress, &["spec", "rules"]));
    let paths = rules.flat_map(|rule| items(path(rule, &["http", "paths"])));
    for backend in default.into_iter().chain(paths.filter_map(|path| path.get("backend"))) {
        references.add(EdgeKind::Routes, SERVICE, text(backend, &["service", "name"]));
    }
    for tls in items(path(ingress, &["spec", "tls"])) {
        references.add(EdgeKind::Uses, SECRET, text(tls, &["secretName"]));
    }
}
