//! The index of objects by UID and by the UIDs of their owners.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use kdelta::object::ApiResource;

use super::object::{ObjectId, OwnerReference, Presence, TreeObject};
use super::related::Target;

/// All known objects, each once.
#[derive(Debug, Default)]
pub(crate) struct OwnerIndex {
    objects: HashMap<ObjectId, TreeObject>,
    /// The objects that name an owner, whether or not that is known.
    dependents: HashMap<ObjectId, BTreeSet<ObjectId>>,
    /// The objects by name, for other relations than ownership.
    names: Option<HashMap<Target, ObjectId>>,
}

impl OwnerIndex {
    /// Returns an empty index. `has_names` is whether its objects can be found by their names.
    pub(crate) fn new(has_names: bool) -> Self {
        Self { names: has_names.then(HashMap::new), ..Self::default() }
    }

    /// Whether objects can be found by their names, so that their relations are of use.
    pub(crate) fn has_names(&self) -> bool {
        self.names.is_some()
    }

    /// Adds an object. An object that is known already, from another group or an earlier state, is replaced, except that
    /// it keeps the type under which it was found first, and its relations if the new state has none.
    pub(crate) fn insert(&mut self, mut object: TreeObject) {
        if let Some(known) = self.remove(&object.uid) {
            object.resource = known.resource;
            object.relations = object.relations.or(known.relations);
        }
        for owner in &object.owners {
            self.dependents.entry(Arc::clone(&owner.uid)).or_default().insert(Arc::clone(&object.uid));
        }
        let objects = &self.objects;
        if let Some(names) = &mut self.names {
            // A placeholder does not replace an object.
            let is_found =
                |uid: &ObjectId| objects.get(uid).is_some_and(|known| known.presence == Presence::Found);
            let target = object.target();
            if object.presence == Presence::Found || !names.get(&target).is_some_and(is_found) {
                names.insert(target, Arc::clone(&object.uid));
            }
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
        if let Some(names) = &mut self.names {
            let target = object.target();
            if names.get(&target).is_some_and(|known| **known == *uid) {
                names.remove(&target);
            }
        }
        Some(object)
    }

    /// Returns an object.
    pub(crate) fn get(&self, uid: &str) -> Option<&TreeObject> {
        self.objects.get(uid)
    }

    /// Returns all objects.
    pub(super) fn objects(&self) -> impl Iterator<Item = &TreeObject> {
        self.objects.values()
    }

    /// Returns the object that a name means.
    pub(crate) fn named(&self, target: &Target) -> Option<&ObjectId> {
        self.names.as_ref()?.get(target)
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
