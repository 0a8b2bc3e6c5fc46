//! The watches whose events a recording has, and the positions at which they continue.

use std::sync::Arc;

use crate::lines::Mark;
use crate::object::{ApiResource, ResourceVersion};

/// The version up to which a part of a recording is complete: where a watch continues.
///
/// A server may delete several objects in one version. If the last change of a collection is a deletion, its state is that of the
/// version of the deletion as far as it was received, and a watch continues from the version before: it receives the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The watched resource.
    pub resource: Arc<ApiResource>,
    /// The watched namespace; empty for all namespaces and for cluster-scoped types.
    pub namespace: Arc<str>,
    /// The watched name, for the watch of a single object.
    pub name: Option<Arc<str>>,
    /// The version to continue from.
    pub version: ResourceVersion,
    /// The version of the recorded state.
    pub state_version: ResourceVersion,
}

impl Position {
    /// Returns the watch.
    pub(in crate::recording) fn watch(&self) -> Watch {
        let Self { resource, namespace, name, .. } = self.clone();
        Watch { resource, namespace, name }
    }

    /// Returns whether deletions of the version of the state may not have been received.
    pub(in crate::recording) fn may_lack_deletions(&self) -> bool {
        self.version != self.state_version
    }
}

/// A watched collection, or a watched object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::recording) struct Watch {
    pub(in crate::recording) resource: Arc<ApiResource>,
    /// Empty for all namespaces, and for a cluster-scoped resource.
    pub(in crate::recording) namespace: Arc<str>,
    /// `None` for a collection.
    pub(in crate::recording) name: Option<Arc<str>>,
}

impl Watch {
    pub(in crate::recording) fn of_mark(mark: &Mark) -> Self {
        let Mark { resource, namespace, name, .. } = mark;
        Self { resource: Arc::clone(resource), namespace: Arc::clone(namespace), name: name.clone() }
    }

    /// Returns the watch of a collection.
    pub(in crate::recording) fn of_collection(resource: &Arc<ApiResource>, namespace: &Arc<str>) -> Self {
        Self { resource: Arc::clone(resource), namespace: Arc::clone(namespace), name: None }
    }

    /// Returns whether it is of a resource, possibly in another version.
    pub(in crate::recording) fn is_of(&self, resource: &ApiResource) -> bool {
        self.resource.group == resource.group && self.resource.resource == resource.resource
    }

    /// Returns whether its namespace and name include those of an object.
    pub(in crate::recording) fn includes_name(&self, namespace: &str, name: &str) -> bool {
        (self.namespace.is_empty() || *self.namespace == *namespace)
            && self.name.as_ref().is_none_or(|own| **own == *name)
    }

    /// Returns whether its namespace and name include those of all objects of another watch.
    pub(in crate::recording) fn includes_names_of(&self, other: &Self) -> bool {
        (self.namespace.is_empty() || self.namespace == other.namespace)
            && (self.name.is_none() || self.name == other.name)
    }
}
