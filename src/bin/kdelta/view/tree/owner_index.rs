//! The index of objects by UID and by the UIDs of their owners.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use kdelta::object::ApiResource;

use super::object::{ObjectId, OwnerReference, TreeObject};

/// All known objects, each once.
#[derive(Debug, Default)]
pub(crate) struct OwnerIndex {
    objects: HashMap<ObjectId, TreeObject>,
    /// The objects that name an owner, whether or not that is known.
    dependents: HashMap<ObjectId, BTreeSet<ObjectId>>,
}

impl OwnerIndex {
    /// Adds an object. An object that is known already, from another group or an earlier state, is replaced, except that
    /// it keeps the type under which it was found first.
    pub(crate) fn insert(&mut self, mut object: TreeObject) {
        if let Some(known) = self.remove(&object.uid) {
            object.resource = known.resource;
        }
        for owner in &object.owners {
            self.dependents.entry(Arc::clone(&owner.uid)).or_default().insert(Arc::clone(&object.uid));
        }
        self.objects.insert(Arc::clone(&object.uid), object);
    }

    /// Removes an object.
    pub(crate) fn remove(&mut self, uid: &str) -> Option<TreeObject> {
        let object = self.objects.remove(uid)?;
        for owner in &object.owners {
            if let Some(dependents) = self.dependents.get_mut(&owner.uid) {
                dependents.remove(uid);
                if dependents.is_empty() {
                    self.dependents.remove(&owner.uid);
                }
            }
        }
        Some(object)
    }

    /// Returns an object.
    pub(crate) fn get(&self, uid: &str) -> Option<&TreeObject> {
        self.objects.get(uid)
    }

    /// Returns an object, to set its status.
    pub(crate) fn get_mut(&mut self, uid: &str) -> Option<&mut TreeObject> {
        self.objects.get_mut(uid)
    }

    /// Returns the number of objects of a type in a namespace.
    pub(crate) fn count(&self, resource: &ApiResource, namespace: &str) -> usize {
        let is_counted =
            |object: &&TreeObject| *object.resource == *resource && object.namespace == namespace;
        self.objects.values().filter(is_counted).count()
    }

    /// Returns the objects below these.
    pub(crate) fn below(&self, uids: &[ObjectId]) -> impl Iterator<Item = &TreeObject> {
        let mut found: HashSet<&ObjectId> = uids.iter().collect();
        let mut pending: Vec<&ObjectId> = uids.iter().collect();
        let mut below = Vec::new();
        while let Some(uid) = pending.pop() {
            for child in self.dependents(uid).filter(|child| found.insert(child)) {
                below.extend(self.objects.get(child));
                pending.push(child);
            }
        }
        below.into_iter()
    }

    /// Returns the owners of these objects, of all above and of all below them that are not known, each once and with the
    /// namespace of its dependent.
    pub(crate) fn unknown_owners(&self, uids: &[ObjectId]) -> Vec<(OwnerReference, String)> {
        let below = self.below(uids).map(|object| &object.uid);
        let mut pending: Vec<&ObjectId> = below.chain(uids).collect();
        let mut seen: HashSet<&ObjectId> = pending.iter().copied().collect();
        let mut unknown = Vec::new();
        while let Some(uid) = pending.pop() {
            let Some(object) = self.objects.get(uid) else { continue };
            for owner in object.owners.iter().filter(|owner| seen.insert(&owner.uid)) {
                if self.objects.contains_key(&owner.uid) {
                    pending.push(&owner.uid);
                } else {
                    unknown.push((owner.clone(), object.namespace.clone()));
                }
            }
        }
        unknown
    }

    /// Returns the objects that name this owner, in the order of their UIDs.
    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = &ObjectId> {
        self.dependents.get(uid).into_iter().flatten()
    }

    /// Returns the owners of an object that are known, its controller first.
    pub(super) fn known_owners(&self, uid: &str) -> impl Iterator<Item = &OwnerReference> {
        let owners = self.objects.get(uid).map(|object| &*object.owners).unwrap_or_default();
        let (controllers, others): (Vec<_>, Vec<_>) = owners.iter().partition(|owner| owner.is_controller);
        controllers.into_iter().chain(others).filter(|owner| self.objects.contains_key(&owner.uid))
    }
}
