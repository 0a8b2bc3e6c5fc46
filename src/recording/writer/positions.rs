//! The versions up to which each watch was recorded.

use std::collections::HashMap;
use std::sync::Arc;

use crate::lines::{Change, ChangeKind, Mark, MarkKind};
use crate::object::{ApiResource, Origin, ResourceVersion};
use crate::recording::entry::Item;
use crate::recording::position::Position;

/// A watched collection, or a watched object of a name.
type Watch = (Arc<ApiResource>, Arc<str>, Option<Arc<str>>);

/// The positions of all watches.
#[derive(Debug, Default)]
pub(super) struct Positions {
    watches: HashMap<Watch, WatchPosition>,
}

#[derive(Debug, Default)]
struct WatchPosition {
    /// The version to continue from; `None` before the initial state is complete.
    version: Option<ResourceVersion>,
    /// The version of the list after a gap, until all of its differences are recorded: a recorder that was killed among
    /// them must compare again.
    relisted: Option<ResourceVersion>,
}

impl Positions {
    /// Adds the positions of a keyframe.
    pub(super) fn insert(&mut self, position: Position) {
        let Position { resource, namespace, name, version } = position;
        self.watches.entry((resource, namespace, name)).or_default().version = Some(version);
    }

    /// Returns the positions, sorted.
    pub(super) fn all(&self) -> Vec<Position> {
        let mut all: Vec<Position> = self
            .watches
            .iter()
            .filter_map(|((resource, namespace, name), position)| {
                let version = position.version.clone()?;
                let (resource, namespace) = (Arc::clone(resource), Arc::clone(namespace));
                Some(Position { resource, namespace, name: name.clone(), version })
            })
            .collect();
        all.sort_by(|one, other| {
            let order = |of: &Position| {
                (of.resource.group.clone(), of.resource.resource.clone(), of.namespace.clone())
            };
            (order(one), &one.name).cmp(&(order(other), &other.name))
        });
        all
    }

    /// Returns whether the initial state of a watch is complete.
    pub(super) fn is_synced(&self) -> bool {
        self.watches.values().any(|position| position.version.is_some())
    }

    /// Returns the version by which a change is found: its object's, or that of the list that missed a deleted object.
    pub(super) fn version_of(&self, change: &Change) -> Option<u64> {
        let own = change.object.resource_version().number();
        if change.kind != ChangeKind::Deleted || change.origin != Origin::Relist {
            return own;
        }
        let lists = self.covering(&change.resource, change.object.namespace(), change.object.name());
        own.max(lists.filter_map(|position| position.relisted.as_ref()?.number()).max())
    }

    /// Records a mark or bookmark.
    pub(super) fn item(&mut self, item: &Item) {
        match item {
            Item::Mark(Mark { kind, resource, namespace, name, .. }) => {
                let watch = (Arc::clone(resource), Arc::clone(namespace), name.clone());
                let position = self.watches.entry(watch).or_default();
                match kind {
                    MarkKind::Synced { version } => {
                        position.version = Some(version.clone());
                        position.relisted = None;
                    }
                    MarkKind::Gap { to, .. } => position.relisted = Some(to.clone()),
                    MarkKind::Error(_) => {}
                }
            }
            Item::Bookmark { resource, namespace, version } => {
                let watch = (Arc::clone(resource), Arc::clone(namespace), None);
                let position = self.watches.entry(watch).or_default();
                position.version = Some(version.clone());
                position.relisted = None;
            }
            _ => {}
        }
    }

    /// Records a change, which moves each watch that it belongs to.
    pub(super) fn change(
        &mut self,
        resource: &Arc<ApiResource>,
        namespace: &str,
        name: &str,
        origin: Origin,
        version: u64,
    ) {
        // Lists report objects in any order of versions.
        if origin != Origin::Watch {
            return;
        }
        let version = ResourceVersion::new(&version.to_string());
        for position in self.covering_mut(resource, namespace, name) {
            if position.version.is_some() {
                position.version = Some(version.clone());
                position.relisted = None;
            }
        }
    }

    fn covering<'a>(
        &'a self,
        resource: &'a ApiResource,
        namespace: &'a str,
        name: &'a str,
    ) -> impl Iterator<Item = &'a WatchPosition> {
        let all = self.watches.iter();
        all.filter(move |(watch, _)| covers(watch, resource, namespace, name)).map(|(_, position)| position)
    }

    fn covering_mut<'a>(
        &'a mut self,
        resource: &'a ApiResource,
        namespace: &'a str,
        name: &'a str,
    ) -> impl Iterator<Item = &'a mut WatchPosition> {
        let all = self.watches.iter_mut();
        all.filter(move |(watch, _)| covers(watch, resource, namespace, name)).map(|(_, position)| position)
    }
}

fn covers((of, watched, only): &Watch, resource: &ApiResource, namespace: &str, name: &str) -> bool {
    **of == *resource
        && (watched.is_empty() || **watched == *namespace)
        && only.as_ref().is_none_or(|only| **only == *name)
}
