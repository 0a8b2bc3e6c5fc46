//! The requests that the relations of a tree need.

use std::collections::{BTreeMap, BTreeSet};

use super::kinds::{
    AUTOSCALER, CLAIM, CONFIG_MAP, CRON_JOB, EVENT, INGRESS, KindName, NODE, POD, SECRET, SERVICE,
    SERVICE_ACCOUNT, SLICE, WORKLOADS, is_scalable, kind_of,
};
use super::reference::{SERVICE_LABEL, Target};
use crate::view::tree::{OwnerIndex, TreeObject};

/// The number of namespaces up to which each is listed, instead of all at once.
const MAX_NAMESPACES: usize = 3;
/// The number of services up to which a selector of slices names them.
const MAX_SERVICES: usize = 20;
/// The namespace of events about cluster-scoped objects.
const EVENTS_NAMESPACE: &str = "default";

/// The directions in which the relations of an object are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Both,
    /// To the objects on which it depends.
    Forward,
    /// To the objects that depend on it.
    Backward,
}

/// The requests that complete the relations of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) lists: BTreeSet<ListNeed>,
    /// Objects to be requested by their names.
    pub(crate) targets: BTreeSet<Target>,
}

/// A list of whole objects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ListNeed {
    pub(crate) kind: KindName,
    /// Empty for all namespaces.
    pub(crate) namespace: String,
    pub(crate) scope: ListScope,
}

/// The objects of a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ListScope {
    All,
    /// The endpoint slices of these services.
    Services(BTreeSet<String>),
    /// The pods of a node.
    Node(String),
    /// The events about an object, by its kind and name.
    About {
        kind: String,
        name: String,
    },
}

impl ListScope {
    fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Services(one), Self::Services(other)) => {
                let all: BTreeSet<String> = one.into_iter().chain(other).collect();
                if all.len() > MAX_SERVICES { Self::All } else { Self::Services(all) }
            }
            (one, other) if one == other => one,
            _ => Self::All,
        }
    }

    /// Returns the label selector that the server evaluates.
    pub(crate) fn label_selector(&self) -> Option<String> {
        let Self::Services(names) = self else { return None };
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        Some(match names.as_slice() {
            [name] => format!("{SERVICE_LABEL}={name}"),
            names => format!("{SERVICE_LABEL} in ({})", names.join(",")),
        })
    }

    /// Returns the field selector that the server evaluates.
    pub(crate) fn field_selector(&self) -> Option<String> {
        match self {
            Self::Node(name) => Some(format!("spec.nodeName={name}")),
            Self::About { kind, name } => {
                Some(format!("involvedObject.kind={kind},involvedObject.name={name}"))
            }
            Self::All | Self::Services(_) => None,
        }
    }
}

/// Collects what the relations of a tree need.
#[derive(Default)]
pub(super) struct NeedsBuilder {
    lists: BTreeMap<KindName, BTreeMap<String, ListScope>>,
    targets: BTreeSet<Target>,
}

impl NeedsBuilder {
    fn list(&mut self, kind: KindName, namespace: &str, scope: ListScope) {
        let lists = self.lists.entry(kind).or_default();
        let merged = match lists.remove(namespace) {
            Some(known) => known.merge(scope),
            None => scope,
        };
        lists.insert(namespace.to_owned(), merged);
    }

    /// Adds a reference to an unknown object.
    pub(super) fn target(&mut self, target: &Target) {
        self.targets.insert(target.clone());
    }

    /// Adds the lists that have the relations of an object. `is_row` is whether ownership makes it part of the tree.
    pub(super) fn expand(
        &mut self,
        index: &OwnerIndex,
        object: &TreeObject,
        direction: Direction,
        is_row: bool,
    ) {
        let namespace = &*object.namespace;
        let kind = kind_of(&object.resource);
        if is_row {
            self.events(object);
        }
        match kind {
            POD if direction == Direction::Both => self.list(SLICE, namespace, ListScope::All),
            SLICE if direction != Direction::Backward && object.relations.is_none() => {
                self.list(SLICE, namespace, slices_of_owner(index, object));
            }
            SERVICE => {
                if direction != Direction::Backward {
                    self.list(SLICE, namespace, slices_of(&object.name));
                }
                if direction != Direction::Forward {
                    self.list(INGRESS, namespace, ListScope::All);
                }
            }
            INGRESS if direction != Direction::Backward && object.relations.is_none() => {
                self.list(INGRESS, namespace, ListScope::All);
            }
            NODE if direction == Direction::Both && is_plain(&object.name) => {
                self.list(POD, "", ListScope::Node(object.name.clone()));
            }
            CLAIM if direction != Direction::Forward => self.list(POD, namespace, ListScope::All),
            CONFIG_MAP | SECRET | SERVICE_ACCOUNT if direction == Direction::Both => {
                let users = WORKLOADS.into_iter().chain([POD, CRON_JOB]);
                users.for_each(|kind| self.list(kind, namespace, ListScope::All));
                if kind == SECRET {
                    self.list(INGRESS, namespace, ListScope::All);
                }
            }
            _ if direction == Direction::Both && is_scalable(kind) && !namespace.is_empty() => {
                self.list(AUTOSCALER, namespace, ListScope::All);
            }
            _ => {}
        }
    }

    fn events(&mut self, object: &TreeObject) {
        let namespace = if object.namespace.is_empty() { EVENTS_NAMESPACE } else { &object.namespace };
        let scope = if is_plain(&object.name) && is_plain(&object.resource.kind) {
            ListScope::About { kind: object.resource.kind.clone(), name: object.name.clone() }
        } else {
            ListScope::All
        };
        self.list(EVENT, namespace, scope);
    }

    pub(super) fn finish(self) -> Needs {
        let mut lists = BTreeSet::new();
        for (kind, mut namespaces) in self.lists {
            if namespaces.len() > MAX_NAMESPACES {
                namespaces = BTreeMap::from([(String::new(), ListScope::All)]);
            } else if let Some(all) = namespaces.get("").filter(|scope| **scope == ListScope::All) {
                namespaces = BTreeMap::from([(String::new(), all.clone())]);
            }
            let of_kind = namespaces.into_iter();
            lists.extend(of_kind.map(|(namespace, scope)| ListNeed { kind, namespace, scope }));
        }
        Needs { lists, targets: self.targets }
    }
}

fn slices_of(service: &str) -> ListScope {
    if is_plain(service) { ListScope::Services([service.to_owned()].into()) } else { ListScope::All }
}

/// Returns the slices of the service that owns one.
fn slices_of_owner(index: &OwnerIndex, slice: &TreeObject) -> ListScope {
    let mut owners = slice.owners.iter().filter_map(|owner| index.get(&owner.uid));
    match owners.find(|owner| kind_of(&owner.resource) == SERVICE) {
        Some(service) => slices_of(&service.name),
        None => ListScope::All,
    }
}

/// Whether a text has no characters with a meaning in selectors.
fn is_plain(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    !text.is_empty() && text.chars().all(is_plain)
}
