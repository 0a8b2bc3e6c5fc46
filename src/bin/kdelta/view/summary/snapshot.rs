//! The parts of one state of an object that a summary compares.

use std::hash::{DefaultHasher, Hasher};

use kdelta::object::{ApiResource, JsonNode};

use crate::view::health::{Health, number, text, text_of};
use crate::view::tree::OwnerReference;

/// One state of an object. The body is read once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub(super) health: Health,
    /// A number that identifies the content: the generation, or a hash of everything but metadata and status.
    pub(super) content: u64,
    /// The owner that controls the object, or else the first one.
    pub(super) owner: Option<OwnerReference>,
}

impl Snapshot {
    /// Reads a state.
    pub(super) fn of(json: &[u8]) -> Self {
        let mut snapshot = Self::default();
        let mut generation = None;
        let mut hasher = DefaultHasher::new();
        let mut members = JsonNode::root(json).members();
        let mut from = 0;
        while let Some(Ok((name, value))) = members.next() {
            let to = members.offset();
            match &*name {
                "apiVersion" | "kind" => {}
                "metadata" => generation = snapshot.read_metadata(value),
                "status" => snapshot.health.read_status(value),
                _ if generation.is_some() => {}
                _ => hasher.write(json.get(from..to).unwrap_or_default()),
            }
            from = to;
        }
        snapshot.content = generation.unwrap_or_else(|| hasher.finish());
        snapshot
    }

    /// Reads the metadata and returns the generation.
    fn read_metadata(&mut self, metadata: JsonNode<'_>) -> Option<u64> {
        let mut generation = None;
        for (name, value) in metadata.members().map_while(Result::ok) {
            match &*name {
                "deletionTimestamp" => self.health.is_deleting = !text_of(value).is_empty(),
                "generation" => generation = number(value).map(i64::unsigned_abs),
                "ownerReferences" => self.owner = controller(value),
                _ => {}
            }
        }
        generation
    }
}

/// Returns the reference to the controller, or else the first reference.
pub(super) fn controller(references: JsonNode<'_>) -> Option<OwnerReference> {
    let mut first = None;
    for reference in references.elements().map_while(Result::ok) {
        let Some(owner) = owner(reference) else { continue };
        if owner.is_controller {
            return Some(owner);
        }
        first.get_or_insert(owner);
    }
    first
}

fn owner(reference: JsonNode<'_>) -> Option<OwnerReference> {
    let mut owner = OwnerReference {
        uid: "".into(),
        api_version: String::new(),
        kind: String::new(),
        name: String::new(),
        is_controller: false,
    };
    for (name, value) in reference.members().map_while(Result::ok) {
        match &*name {
            "uid" => owner.uid = text_of(value).into(),
            "apiVersion" => owner.api_version = text_of(value),
            "kind" => owner.kind = text_of(value),
            "name" => owner.name = text_of(value),
            "controller" => {
                owner.is_controller = matches!(value.scalar(), Ok(kdelta::object::JsonValue::Bool(true)));
            }
            _ => {}
        }
    }
    (!owner.uid.is_empty()).then_some(owner)
}

/// A warning: an event of that type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Warning {
    pub(super) reason: String,
    /// The UID of the object that it is about; empty if it is unknown.
    pub(super) uid: String,
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

impl Warning {
    /// Reads an event; `None` if it is no warning. Both versions of events are read: their members for the object differ.
    pub(super) fn of(json: &[u8]) -> Option<Self> {
        let mut reason = String::new();
        let mut about = None;
        let mut is_warning = false;
        for (name, value) in JsonNode::root(json).members().map_while(Result::ok) {
            match &*name {
                "type" => is_warning = text_of(value) == "Warning",
                "reason" => reason = text_of(value),
                "involvedObject" | "regarding" => about = Some(value),
                _ => {}
            }
        }
        let about = about.filter(|_| is_warning)?;
        let [uid, api_version, kind, namespace, name] =
            ["uid", "apiVersion", "kind", "namespace", "name"].map(|name| text(about, name));
        Some(Self { reason, uid, api_version, kind, namespace, name })
    }

    /// Returns the API group of the object.
    pub(super) fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// Whether objects of a type follow the changes of other objects so often that their own changes carry no information.
pub(super) fn is_busy(resource: &ApiResource) -> bool {
    matches!(
        (resource.group.as_str(), resource.resource.as_str()),
        ("coordination.k8s.io", "leases") | ("discovery.k8s.io", "endpointslices") | ("", "endpoints")
    )
}

/// Whether the objects of a type are events.
pub(super) fn is_event(resource: &ApiResource) -> bool {
    resource.resource == "events" && matches!(resource.group.as_str(), "" | "events.k8s.io")
}
