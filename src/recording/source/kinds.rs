//! The resources of a recording: those in the recorded discovery documents, and those of the recorded objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::lines::{Mark, MarkKind};
use crate::object::{ApiResource, is_built_in_group};
use crate::recording::reader::Recording;
use crate::server::alternate_versions;
use crate::server::source::{Custom, Kind};
use crate::wire::discovery::{DiscoveredResource, DiscoveryDocument, ResourceList, Root, UnusableNames};

/// The verbs of a recorded resource.
pub(super) const READ: &[&str] = &["get", "list", "watch"];

/// The origin of the served objects, which messages name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Recording,
    Mirror,
}

impl Origin {
    /// Returns the message for rejected writes.
    pub(super) fn write_refusal(self) -> &'static str {
        match self {
            Self::Recording => "a recording is read-only",
            Self::Mirror => "a mirror is read-only",
        }
    }

    /// Returns the message for a subresource that needs a running container or node; `None` for other subresources.
    pub(super) fn subresource_refusal(self, group: &str, plural: &str, name: &str) -> Option<String> {
        let lack = match (group, plural, name) {
            ("", "pods", "log") => "has no logs",
            ("", "pods", "exec") => "can't run commands",
            ("", "pods", "attach") => "can't attach to containers",
            ("", "pods", "portforward") => "can't forward ports",
            ("", "pods" | "services" | "nodes", "proxy") => "can't forward requests",
            _ => return None,
        };
        let own = match self {
            Self::Recording => "a recording",
            Self::Mirror => "a mirror",
        };
        Some(format!("{own} {lack}"))
    }
}

/// The API versions in which recorded objects are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServedVersions {
    /// The versions in which the objects were recorded: the history of a resource can be read in these only.
    Recorded,
    /// Also the alternate versions, which other clients request.
    WithAlternates,
}

/// The resources of a recording or a mirror.
#[derive(Debug)]
pub(super) struct RecordedKinds {
    pub(super) origin: Origin,
    /// All resources, in the order of discovery. Those without recorded objects have no verbs.
    pub(super) all: Vec<Arc<Kind>>,
    /// The recorded ones.
    pub(super) recorded: Vec<(Arc<ApiResource>, Arc<Kind>)>,
    /// Other versions of recorded resources, each with the position of its resource in `recorded`.
    pub(super) alternates: Vec<(usize, Arc<Kind>)>,
    /// The readable resources that were not recorded: group, version and plural.
    unrecorded: Vec<[String; 3]>,
    /// The recording, which may have others after the moment; `None` for a mirror.
    recording: Option<Recording>,
}

impl RecordedKinds {
    /// Reads the recorded documents. `recorded` are the resources of the recorded objects, which may lack documents.
    pub(super) fn read(
        documents: &BTreeMap<Arc<str>, Bytes>,
        recorded: &[Arc<ApiResource>],
        origin: Origin,
        versions: ServedVersions,
    ) -> Self {
        let mut kinds = Self {
            origin,
            all: Vec::new(),
            recorded: Vec::new(),
            alternates: Vec::new(),
            unrecorded: Vec::new(),
            recording: None,
        };
        let mut missing: Vec<&Arc<ApiResource>> = recorded.iter().collect();
        for found in discovered(documents) {
            let of_objects = missing.iter().position(|own| has_name(own, &found.resource));
            let of_objects = of_objects.map(|at| missing.remove(at));
            if of_objects.is_none() && (found.can("get") || found.can("list")) {
                let ApiResource { group, version, resource, .. } = &found.resource;
                kinds.unrecorded.push([group, version, resource].map(Clone::clone));
            }
            kinds.add(of_objects, kind(found, of_objects.is_some()));
        }
        for resource in missing {
            kinds.add(Some(resource), kind(undocumented(resource), true));
        }
        if versions == ServedVersions::WithAlternates {
            kinds.add_alternates();
        }
        kinds
    }

    /// Sets the recording, in which the first list of a resource may be complete after the moment.
    pub(super) fn of_recording(self, recording: &Recording) -> Self {
        Self { recording: Some(recording.clone()), ..self }
    }

    fn add(&mut self, resource: Option<&Arc<ApiResource>>, kind: Kind) {
        let kind = Arc::new(kind);
        self.recorded.extend(resource.map(|resource| (Arc::clone(resource), Arc::clone(&kind))));
        self.all.push(kind);
    }

    /// Adds the alternate versions of the recorded resources that were not recorded themselves.
    fn add_alternates(&mut self) {
        for at in 0..self.recorded.len() {
            let ApiResource { group, version, resource, .. } = &*self.recorded[at].0;
            let Some(alternate) = alternate_versions::of(group, version, resource, READ) else { continue };
            let is_it = |kind: &Kind| {
                (&kind.group, &kind.version, &kind.plural)
                    == (&alternate.group, &alternate.version, &alternate.plural)
            };
            if self.recorded.iter().any(|(_, kind)| is_it(kind)) {
                continue;
            }
            let documented = self.all.iter().position(|kind| is_it(kind));
            self.unrecorded.retain(|[group, version, plural]| {
                (group, version, plural) != (&alternate.group, &alternate.version, &alternate.plural)
            });
            let kind = if let Some(at) = documented {
                let conversion = alternate.conversion;
                let kind = Arc::new(Kind { verbs: READ, conversion, ..(*self.all[at]).clone() });
                self.all[at] = Arc::clone(&kind);
                kind
            } else {
                let kind = Arc::new(alternate);
                alternate_versions::insert(&mut self.all, Arc::clone(&kind));
                kind
            };
            self.alternates.push((at, kind));
        }
    }

    /// Returns an alternate version, and the position of its resource in `recorded`.
    pub(super) fn alternate(&self, group: &str, version: &str, plural: &str) -> Option<(usize, Arc<Kind>)> {
        let is_it = |kind: &Kind| kind.group == group && kind.version == version && kind.plural == plural;
        self.alternates.iter().find(|(_, kind)| is_it(kind)).cloned()
    }

    /// Returns whether a resource can be read. `*` is any name, and an empty version any version.
    pub(super) fn is_readable(&self, group: &str, version: &str, plural: &str) -> bool {
        let matches = |pattern: &str, own: &str| pattern == "*" || pattern == own;
        self.all.iter().filter(|kind| kind.is_readable()).any(|kind| {
            matches(group, &kind.group)
                && (version.is_empty() || matches(version, &kind.version))
                && matches(plural, &kind.plural)
        })
    }

    /// Returns the reason why a resource of the discovery documents can't be read, if it was not recorded.
    pub(super) fn unavailable_reason(&self, group: &str, version: &str, plural: &str) -> Option<String> {
        self.is_unavailable(group, version, plural).then(|| self.missing_reason(group, plural))
    }

    /// Returns whether a resource of the discovery documents can't be read.
    pub(super) fn is_unavailable(&self, group: &str, version: &str, plural: &str) -> bool {
        self.unrecorded.iter().any(|[own, of, name]| own == group && of == version && name == plural)
    }

    /// Returns the reason why a resource that was not recorded, or not in the requested version, can't be read.
    pub(super) fn missing_reason(&self, group: &str, plural: &str) -> String {
        let names: Vec<String> =
            self.recorded.iter().map(|(resource, _)| resource.group_resource()).collect();
        let name = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
        if let Some((other, _)) = self.recorded.iter().find(|(_, kind)| kind.group_resource() == name) {
            let verb = match self.origin {
                Origin::Recording => "was recorded",
                Origin::Mirror => "is mirrored",
            };
            return format!("{name} {verb} in version {} only", other.version);
        }
        if let Some(first) = self.first_list(group, plural) {
            let version = match &first.kind {
                MarkKind::Synced { version } => version.number(),
                _ => None,
            };
            let version = version.map(|version| format!(", with rv:{version}")).unwrap_or_default();
            return format!(
                "{name} was not recorded yet: its recording begins at {}{version}",
                first.received
            );
        }
        match (self.origin, names.as_slice()) {
            (Origin::Recording, []) => {
                format!("{name} was not recorded: the recording has no objects at this moment")
            }
            (Origin::Recording, names) => {
                format!("{name} was not recorded: the recording has {}", abbreviated(names))
            }
            (Origin::Mirror, []) => format!("{name} is not mirrored"),
            (Origin::Mirror, names) => {
                format!("{name} is not mirrored: the mirror has {}", abbreviated(names))
            }
        }
    }

    /// Returns the mark that the first list of a resource that the moment does not have was complete.
    fn first_list(&self, group: &str, plural: &str) -> Option<Mark> {
        match self.recording.as_ref()?.first_list(group, plural) {
            Ok(first) => first,
            Err(error) => {
                tracing::debug!(%error, "whether the type was recorded later can't be read");
                None
            }
        }
    }
}

/// Joins the first names, and counts the others.
fn abbreviated(names: &[String]) -> String {
    const MAX: usize = 5;
    match names.len().checked_sub(MAX).filter(|more| *more > 0) {
        Some(1) => format!("{} and one more type", names[..MAX].join(", ")),
        Some(more) => format!("{} and {more} more types", names[..MAX].join(", ")),
        None => names.join(", "),
    }
}

fn has_name(own: &ApiResource, other: &ApiResource) -> bool {
    (&own.group, &own.version, &own.resource) == (&other.group, &other.version, &other.resource)
}

/// Returns the resources of the documents, in their order. Documents that can't be parsed are skipped: the resources of
/// the recorded objects are known without them.
fn discovered(documents: &BTreeMap<Arc<str>, Bytes>) -> Vec<DiscoveredResource> {
    let mut unusable = UnusableNames::default();
    let mut found = Vec::new();
    for path in ["/api", "/apis"] {
        let root = documents.get(path).and_then(|body| serde_json::from_slice::<Root>(body).ok());
        match root.and_then(|root| root.read(&mut unusable).ok()) {
            Some(DiscoveryDocument::Aggregated(resources, _)) => found.extend(resources),
            Some(DiscoveryDocument::GroupVersions(versions)) => {
                for version in versions {
                    let body = documents.get(version.path().as_str());
                    let list = body.and_then(|body| serde_json::from_slice::<ResourceList>(body).ok());
                    found.extend(list.unwrap_or_default().read(&version, &mut unusable));
                }
            }
            None => {}
        }
    }
    found
}

/// Returns the description of a resource that no document describes.
fn undocumented(resource: &ApiResource) -> DiscoveredResource {
    DiscoveredResource {
        resource: resource.clone(),
        singular: resource.kind.to_lowercase(),
        short_names: Vec::new(),
        categories: Vec::new(),
        verbs: Vec::new(),
        preferred: false,
    }
}

fn kind(found: DiscoveredResource, is_recorded: bool) -> Kind {
    let DiscoveredResource { resource, singular, short_names, categories, .. } = found;
    let is_custom = !is_built_in_group(&resource.group);
    Kind {
        group: resource.group,
        version: resource.version,
        plural: resource.resource,
        singular,
        kind: resource.kind,
        namespaced: resource.namespaced,
        short_names,
        categories,
        subresources: vec!["status".to_owned()],
        verbs: if is_recorded { READ } else { &[] },
        custom: is_custom.then(Arc::<Custom>::default),
        conversion: None,
    }
}
