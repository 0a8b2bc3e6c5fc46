//! An object of a tree: its names, its owners and its status.

use std::sync::Arc;

use jiff::Timestamp;
use kdelta::object::{ApiResource, JsonValue, Object};
use kdelta::query::ObjectStatus;

use super::related::{EventNote, Relations, Target};

/// The UID of an object. The same object may be served under two groups; it has one UID.
pub(crate) type ObjectId = Arc<str>;

/// The result of reading an object of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The object was read.
    Found,
    /// An owner that does not exist.
    Missing,
    /// An owner that can't be read, so that it may exist.
    Unreadable,
}

/// A reference to an owner, as in `metadata.ownerReferences`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnerReference {
    pub(crate) uid: ObjectId,
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    /// Whether the owner controls the object. An object has one controller at most.
    pub(crate) is_controller: bool,
}

impl OwnerReference {
    /// Returns the group of the owner; empty for the core group.
    pub(crate) fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// An object with what a tree shows of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeObject {
    pub(crate) uid: ObjectId,
    pub(crate) resource: Arc<ApiResource>,
    /// Empty for a cluster-scoped object.
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) owners: Vec<OwnerReference>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) presence: Presence,
    /// The status, once it is known.
    pub(crate) status: Option<ObjectStatus>,
    /// The explanation of the status.
    pub(crate) message: String,
    /// The relations other than ownership, once they are known.
    pub(crate) relations: Option<Box<Relations>>,
}

impl TreeObject {
    /// Returns an object without its status; `None` if it has no UID, as rows of some servers do.
    pub(crate) fn of(resource: &Arc<ApiResource>, object: &Object) -> Option<Self> {
        let uid = object.uid().to_string();
        if uid.is_empty() {
            return None;
        }
        let json = object.json();
        let metadata = Metadata::parse(&json);
        Some(Self {
            uid: uid.into(),
            resource: Arc::clone(resource),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            owners: metadata.owners,
            created: metadata.created,
            presence: Presence::Found,
            status: None,
            message: String::new(),
            relations: None,
        })
    }

    /// Returns the placeholder of an owner that could not be read.
    pub(crate) fn placeholder(
        owner: &OwnerReference,
        resource: Arc<ApiResource>,
        namespace: &str,
        presence: Presence,
    ) -> Self {
        let status = match presence {
            Presence::Missing => ObjectStatus::NotFound,
            Presence::Found | Presence::Unreadable => ObjectStatus::Unknown,
        };
        Self {
            uid: Arc::clone(&owner.uid),
            namespace: if resource.namespaced { namespace.to_owned() } else { String::new() },
            resource,
            name: owner.name.clone(),
            owners: Vec::new(),
            created: None,
            presence,
            status: Some(status),
            message: match presence {
                Presence::Found => "",
                Presence::Missing => "this owner does not exist",
                Presence::Unreadable => "this owner can't be read",
            }
            .to_owned(),
            relations: None,
        }
    }

    /// Returns the placeholder of an object to which others refer and that could not be read.
    pub(crate) fn unread(target: &Target, resource: Arc<ApiResource>, presence: Presence) -> Self {
        let Target { group, kind, namespace, name } = target;
        let reference = OwnerReference {
            uid: format!("{kind}.{group}/{namespace}/{name}").into(),
            api_version: String::new(),
            kind: kind.clone(),
            name: name.clone(),
            is_controller: false,
        };
        let message = if presence == Presence::Missing { "it does not exist" } else { "it can't be read" };
        Self {
            message: message.to_owned(),
            namespace: namespace.clone(),
            ..Self::placeholder(&reference, resource, namespace, presence)
        }
    }

    /// Whether it could not be read and only its name is known. Other objects have no slash in their UIDs.
    pub(crate) fn is_named_only(&self) -> bool {
        self.presence != Presence::Found && self.uid.contains('/')
    }

    /// Returns the name by which others refer to it.
    pub(crate) fn target(&self) -> Target {
        Target {
            group: self.resource.group.clone(),
            kind: self.resource.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }

    /// Whether it has reached its desired state.
    pub(crate) fn is_current(&self) -> bool {
        self.status == Some(ObjectStatus::Current)
    }

    /// Returns the content if the object is an event.
    pub(crate) fn event(&self) -> Option<&EventNote> {
        self.relations.as_ref()?.event.as_ref()
    }

    /// Returns the title in the form that commands take: `deployment.apps/web`.
    pub(crate) fn title(&self) -> String {
        titled(&self.resource.kind, &self.resource.group, &self.name)
    }
}

/// Returns a title such as `deployment.apps/web`.
pub(super) fn titled(kind: &str, group: &str, name: &str) -> String {
    let kind = kind.to_lowercase();
    if group.is_empty() { format!("{kind}/{name}") } else { format!("{kind}.{group}/{name}") }
}

/// The metadata that [`Object`] does not store separately.
#[derive(Default)]
struct Metadata {
    owners: Vec<OwnerReference>,
    created: Option<Timestamp>,
}

impl Metadata {
    /// Reads the metadata; members of the wrong type are skipped.
    fn parse(json: &[u8]) -> Self {
        #[derive(serde::Deserialize)]
        struct Envelope<'a> {
            #[serde(borrow)]
            metadata: Members<'a>,
        }
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Members<'a> {
            #[serde(borrow, default)]
            owner_references: Option<JsonValue<'a>>,
            #[serde(borrow, default)]
            creation_timestamp: Option<JsonValue<'a>>,
        }
        let Ok(Envelope { metadata }) = serde_json::from_slice(json) else { return Self::default() };
        let created = match &metadata.creation_timestamp {
            Some(JsonValue::Text(time)) => time.parse().ok(),
            _ => None,
        };
        let owners = match &metadata.owner_references {
            Some(JsonValue::Array(owners)) => owners.iter().filter_map(owner).collect(),
            _ => Vec::new(),
        };
        Self { owners, created }
    }
}

fn owner(reference: &JsonValue<'_>) -> Option<OwnerReference> {
    let text = |name| match reference.get(name) {
        Some(JsonValue::Text(text)) => Some(text.to_string()),
        _ => None,
    };
    Some(OwnerReference {
        uid: text("uid").filter(|uid| !uid.is_empty())?.into(),
        api_version: text("apiVersion").unwrap_or_default(),
        kind: text("kind").unwrap_or_default(),
        name: text("name").unwrap_or_default(),
        is_controller: matches!(reference.get("controller"), Some(JsonValue::Bool(true))),
    })
}
