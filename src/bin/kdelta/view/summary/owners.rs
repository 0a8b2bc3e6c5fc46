//! The chains of owners, up to the topmost one.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kdelta::object::{ApiResource, JsonNode, Object};

use super::snapshot::{Warning, controller};
use crate::view::tree::{ObjectId, OwnerReference};

/// The longest chain of owners that is followed. Chains of real objects have at most four; a cycle has no end.
const MAX_CHAIN: usize = 10;

/// A type of owners, as references name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OwnerType {
    pub(crate) group: String,
    pub(crate) kind: String,
}

/// The owner of a group of objects, or an object without owners.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RootName {
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// An object that may own others.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// The number of objects that were known before it: of two objects with one name, the last added is the newer one.
    number: usize,
    name: RootName,
    owner: Option<OwnerReference>,
}

/// Known objects by kind, namespace and name.
pub(super) type KnownNames<'a> = HashMap<[&'a str; 3], Vec<&'a Known>>;

/// The known owners by UID.
#[derive(Debug, Default)]
pub(super) struct Owners {
    known: HashMap<ObjectId, Known>,
    /// The types whose objects were all added.
    complete: BTreeSet<OwnerType>,
}

impl Owners {
    /// Adds an object with its owner.
    pub(super) fn add(
        &mut self,
        resource: &ApiResource,
        object: (&str, &str),
        uid: &str,
        owner: Option<OwnerReference>,
    ) {
        let name = root_name(resource, object);
        let number = self.known.len();
        self.known.entry(uid.into()).or_insert(Known { number, name, owner });
    }

    /// Adds all objects of a type as they are at the end of the range.
    pub(super) fn complete(
        &mut self,
        owner_type: OwnerType,
        resource: Option<&ApiResource>,
        objects: &[Arc<Object>],
    ) {
        for (object, resource) in objects.iter().filter_map(|object| Some((object, resource?))) {
            self.add_object(resource, object);
        }
        self.complete.insert(owner_type);
    }

    /// Adds an object as it is at the end of the range, and returns its owner.
    pub(super) fn add_object(&mut self, resource: &ApiResource, object: &Object) -> Option<OwnerReference> {
        let json = object.json();
        let metadata = JsonNode::root(&json).member("metadata").ok().flatten();
        let references = metadata.and_then(|metadata| metadata.member("ownerReferences").ok().flatten());
        let owner = references.and_then(controller);
        let uid = object.uid().to_string();
        self.add(resource, (object.namespace(), object.name()), &uid, owner.clone());
        owner
    }

    /// Returns the type of an owner in this chain whose objects are needed to follow it further.
    pub(super) fn missing(&self, owner: Option<&OwnerReference>) -> Option<OwnerType> {
        let mut owner = owner?;
        for _ in 0..MAX_CHAIN {
            match self.known.get(&owner.uid) {
                Some(Known { owner: Some(next), .. }) => owner = next,
                Some(Known { owner: None, .. }) => return None,
                None => {
                    let owner_type = OwnerType { group: owner.group().to_owned(), kind: owner.kind.clone() };
                    return (!self.complete.contains(&owner_type)).then_some(owner_type);
                }
            }
        }
        None
    }

    /// Returns the topmost owner of an object; the object itself if it has none.
    pub(super) fn root(
        &self,
        resource: &ApiResource,
        (namespace, name): (&str, &str),
        owner: Option<&OwnerReference>,
    ) -> RootName {
        let mut root = root_name(resource, (namespace, name));
        let mut next = owner;
        for _ in 0..MAX_CHAIN {
            let Some(owner) = next else { break };
            if let Some(Known { name, owner, .. }) = self.known.get(&owner.uid) {
                root = name.clone();
                next = owner.as_ref();
            } else {
                root = RootName {
                    group: owner.group().to_owned(),
                    kind: owner.kind.clone(),
                    // Nodes own the mirror pods of static pods.
                    namespace: if owner.kind == "Node" { String::new() } else { namespace.to_owned() },
                    name: owner.name.clone(),
                };
                next = None;
            }
        }
        root
    }

    /// Returns the known objects by their names.
    pub(super) fn names(&self) -> KnownNames<'_> {
        let mut names = KnownNames::new();
        for known in self.known.values() {
            let RootName { kind, namespace, name, .. } = &known.name;
            names.entry([kind, namespace, name]).or_default().push(known);
        }
        names
    }

    /// Returns the object that a warning is about, by its UID or else by its name: some events have no UID, and an object may
    /// have been created again, in which case it is the last one; `None` if it is unknown.
    pub(super) fn warned<'a>(&'a self, warning: &Warning, names: &KnownNames<'a>) -> Option<&'a Known> {
        let of_name = || {
            let Warning { api_version, kind, namespace, name, .. } = warning;
            let is_of_group = |known: &&&Known| api_version.is_empty() || known.name.group == warning.group();
            let of_name = names.get(&[&**kind, namespace, name])?.iter();
            of_name.filter(is_of_group).max_by_key(|known| known.number).copied()
        };
        self.known.get(&*warning.uid).or_else(of_name)
    }

    /// Returns the topmost owner of a known object.
    pub(super) fn root_of(&self, known: &Known) -> RootName {
        let Some(owner) = &known.owner else { return known.name.clone() };
        let RootName { group, kind, namespace, name } = &known.name;
        let resource = ApiResource {
            group: group.clone(),
            version: String::new(),
            resource: String::new(),
            kind: kind.clone(),
            namespaced: !namespace.is_empty(),
        };
        self.root(&resource, (namespace, name), Some(owner))
    }
}

fn root_name(resource: &ApiResource, (namespace, name): (&str, &str)) -> RootName {
    RootName {
        group: resource.group.clone(),
        kind: resource.kind.clone(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}
