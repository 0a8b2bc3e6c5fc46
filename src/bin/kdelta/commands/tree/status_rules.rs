//! The representation that shows the status of a type's objects, and the status of one.

use jiff::Timestamp;
use kdelta::object::ApiResource;
use kdelta::query::{ComputedStatus, ObjectStatus};
use kdelta::wire::{IncludeObject, Representation};

use crate::view::{Relations, TreeObject};

/// Types whose status follows from the metadata alone, by group and plural: they have no other, and bodies that are
/// large, secret or many.
const WITHOUT_STATUS: &[(&str, &str)] = &[
    ("", "configmaps"),
    ("", "endpoints"),
    ("", "events"),
    ("", "limitranges"),
    ("", "podtemplates"),
    ("", "secrets"),
    ("", "serviceaccounts"),
    ("apps", "controllerrevisions"),
    ("coordination.k8s.io", "leases"),
    ("discovery.k8s.io", "endpointslices"),
    ("events.k8s.io", "events"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("rbac.authorization.k8s.io", "rolebindings"),
    ("rbac.authorization.k8s.io", "roles"),
    ("scheduling.k8s.io", "priorityclasses"),
    ("storage.k8s.io", "storageclasses"),
];

/// Returns the least representation of a type that shows the status of its objects.
pub(super) fn representation(resource: &ApiResource) -> Representation {
    if WITHOUT_STATUS.contains(&(&resource.group, &resource.resource)) {
        Representation::Metadata
    } else {
        Representation::Objects
    }
}

/// Whether objects in this representation show their status.
pub(super) fn shows_status(resource: &ApiResource, requested: Representation) -> bool {
    is_whole(requested) || representation(resource) == Representation::Metadata
}

/// Whether objects in this representation have all their fields.
pub(super) fn is_whole(requested: Representation) -> bool {
    matches!(requested, Representation::Objects | Representation::Table(IncludeObject::Object))
}

/// Sets the status of an object from its JSON, and its relations if `reads_relations`, for which the JSON is whole.
pub(super) fn set_state(object: &mut TreeObject, json: &[u8], reads_relations: bool, now: Timestamp) {
    if reads_relations {
        object.relations = Some(Box::new(Relations::read(&object.resource, json)));
    }
    let (status, message) = match ComputedStatus::of(json, now) {
        Ok(computed) => (computed.status, computed.message.into_owned()),
        Err(error) => (ObjectStatus::Unknown, error.to_string()),
    };
    object.status = Some(status);
    object.message = message;
}
