//! References of objects to others.

use super::EdgeKind;
use super::kinds::{KindName, NODE, VOLUME};

/// The label of an endpoint slice with the name of its service.
pub(super) const SERVICE_LABEL: &str = "kubernetes.io/service-name";

/// The number of references that are read of an object. An endpoint slice has at most 1,000.
const MAX_REFERENCES: usize = 2000;

/// The object of a reference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Target {
    pub(crate) group: String,
    pub(crate) kind: String,
    /// Empty for a cluster-scoped object.
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// A reference to another object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) edge: EdgeKind,
    pub(super) target: Target,
    /// Whether the relation leads from the target to the object that has the reference.
    pub(super) is_reverse: bool,
    /// Whether the target may be missing.
    pub(super) is_optional: bool,
    /// Whether nearly all pods have this reference, so that only its target shows it.
    pub(super) is_ambient: bool,
}

/// The references of an object while they are read.
pub(super) struct References {
    pub(super) namespace: String,
    pub(super) found: Vec<Reference>,
}

impl References {
    pub(super) fn new(namespace: &str) -> Self {
        Self { namespace: namespace.to_owned(), found: Vec::new() }
    }

    /// Adds a reference by name, in the object's namespace unless the target has none.
    pub(super) fn add(&mut self, edge: EdgeKind, of: KindName, name: Option<&str>) {
        if let Some(target) = self.target(of, name) {
            self.push(edge, target);
        }
    }

    /// Returns the target of a name, if it is one.
    pub(super) fn target(&self, of: KindName, name: Option<&str>) -> Option<Target> {
        let name = name.filter(|name| !name.is_empty())?.to_owned();
        let (group, kind) = (of.0.to_owned(), of.1.to_owned());
        let is_global = matches!(of, NODE | VOLUME);
        let namespace = if is_global { String::new() } else { self.namespace.clone() };
        Some(Target { group, kind, namespace, name })
    }

    pub(super) fn push(&mut self, edge: EdgeKind, target: Target) {
        self.push_reference(Reference {
            edge,
            target,
            is_reverse: false,
            is_optional: false,
            is_ambient: false,
        });
    }

    pub(super) fn push_reference(&mut self, reference: Reference) {
        if self.found.len() < MAX_REFERENCES && !self.found.contains(&reference) {
            self.found.push(reference);
        }
    }

    /// Adds a relation that leads from the named object.
    pub(super) fn add_reverse(&mut self, edge: EdgeKind, of: KindName, name: Option<&str>) {
        if let Some(target) = self.target(of, name) {
            let (is_reverse, is_optional, is_ambient) = (true, false, false);
            self.push_reference(Reference { edge, target, is_reverse, is_optional, is_ambient });
        }
    }
}
