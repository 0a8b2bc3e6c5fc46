//! The versions up to which each watch was recorded.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use crate::lines::{Change, ChangeKind, Mark, MarkKind};
use crate::object::{ApiResource, Origin, ResourceVersion};
use crate::recording::entry::Item;
use crate::recording::position::Position;
use crate::recording::reader::Step;

/// A watched collection, or a watched object.
type Watch = (Arc<ApiResource>, Arc<str>, Option<Arc<str>>);

/// The positions of all watches.
#[derive(Debug, Default)]
pub(in crate::recording) struct Positions {
    watches: HashMap<Watch, WatchPosition>,
}

#[derive(Debug, Default)]
struct WatchPosition {
    /// The version to continue from; `None` before the initial state is complete.
    version: Option<ResourceVersion>,
    /// The version of the list after a gap, until all of its differences are recorded: if the recorder is killed
    /// before, the next one must compare again.
    relisted: Option<ResourceVersion>,
    /// The version before a gap, until all of its differences are recorded: no recorded state is complete in between.
    before_gap: Option<ResourceVersion>,
    /// Whether its list was complete once, possibly before an error.
    was_complete: bool,
    /// Whether the watch runs, so that the changes of its objects move its version. The previous recorder may have
    /// watched more than this one.
    is_active: bool,
}

impl WatchPosition {
    /// Returns the position of a running watch.
    fn at(version: &ResourceVersion) -> Self {
        Self { version: Some(version.clone()), was_complete: true, is_active: true, ..Self::default() }
    }
}

impl Positions {
    /// Adds the position of a watch that ran when a keyframe was written.
    pub(in crate::recording) fn insert(&mut self, position: Position) {
        let Position { resource, namespace, name, version } = position;
        let position = self.watches.entry((resource, namespace, name)).or_default();
        *position = WatchPosition::at(&version);
    }

    /// Adds a resource whose objects are in a keyframe, which is written after their lists. If watches of it ran, which are
    /// inserted before, only their objects are known to be complete. The keyframe does not have the namespaces of others.
    pub(in crate::recording) fn insert_complete(&mut self, resource: &Arc<ApiResource>) {
        if self.watches.keys().any(|(of, ..)| of == resource) {
            return;
        }
        let position = self.watches.entry((Arc::clone(resource), "".into(), None)).or_default();
        position.was_complete = true;
    }

    /// Returns the watches of a resource whose list was complete once: the namespace, and the name if it was one object.
    pub(in crate::recording) fn complete(&self, resource: &ApiResource) -> Vec<(Arc<str>, Option<Arc<str>>)> {
        let complete =
            self.watches.iter().filter(|((of, ..), position)| **of == *resource && position.was_complete);
        complete.map(|((_, namespace, name), _)| (Arc::clone(namespace), name.clone())).collect()
    }

    /// Returns the lowest version before a gap whose differences were not all recorded, of the watches of a resource that have
    /// objects of a namespace (empty for all).
    pub(super) fn before_unfinished_gap(
        &self,
        resource: &ApiResource,
        namespace: &str,
    ) -> Option<ResourceVersion> {
        let overlaps = |watched: &str| watched.is_empty() || namespace.is_empty() || watched == namespace;
        let watches =
            self.watches.iter().filter(|((of, watched, _), _)| **of == *resource && overlaps(watched));
        watches.filter_map(|(_, position)| position.before_gap.clone()).min_by_key(ResourceVersion::number)
    }

    /// Returns whether the differences after a gap were not all recorded.
    pub(super) fn has_unfinished_gap(&self) -> bool {
        self.watches.values().any(|position| position.before_gap.is_some())
    }

    /// Returns the positions that watches can continue from, sorted.
    pub(in crate::recording) fn all(&self) -> Vec<Position> {
        self.sorted(|position| position.relisted.is_none())
    }

    /// Returns the last known position of each watch, sorted, whether or not it can continue from there.
    pub(in crate::recording) fn last_known(&self) -> Vec<Position> {
        self.sorted(|_| true)
    }

    /// Returns the positions of the watches that run, sorted: a keyframe has no others.
    pub(in crate::recording) fn active(&self) -> Vec<Position> {
        self.sorted(|position| position.is_active && position.relisted.is_none())
    }

    fn sorted(&self, is_included: impl Fn(&WatchPosition) -> bool) -> Vec<Position> {
        let mut all: Vec<Position> = self
            .watches
            .iter()
            .filter(|(_, position)| is_included(position))
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

    /// Records an entry that was read.
    pub(in crate::recording) fn step(&mut self, step: Step) {
        match step {
            Step::Item(item) => self.item(&item),
            Step::Change { resource, namespace, name, kind, origin, version } => {
                self.change(&resource, (&namespace, &name), (kind, origin), version);
            }
        }
    }

    /// Returns whether the initial states of all watches that were observed and have not ended are complete.
    pub(super) fn is_synced(&self) -> bool {
        let is_waiting = |position: &WatchPosition| position.version.is_none() && position.relisted.is_some();
        self.watches.values().any(|position| position.version.is_some())
            && !self.watches.values().any(is_waiting)
    }

    /// Returns the version under which a change is recorded: its object's, or that of the list that revealed a
    /// deletion.
    pub(super) fn version_of(&self, change: &Change) -> Option<u64> {
        let own = change.object.resource_version().number();
        if change.kind != ChangeKind::Deleted || change.origin != Origin::Relist {
            return own;
        }
        let lists = self.covering(&change.resource, change.object.namespace(), change.object.name());
        own.max(lists.filter_map(|position| position.relisted.as_ref()?.number()).max())
    }

    /// Records a mark, a bookmark or the start of a recorder.
    pub(in crate::recording) fn item(&mut self, item: &Item) {
        match item {
            Item::Started => self.watches.values_mut().for_each(|position| position.is_active = false),
            Item::Mark(Mark { kind, resource, namespace, name, .. }) => {
                let watch = (Arc::clone(resource), Arc::clone(namespace), name.clone());
                let position = self.watches.entry(watch).or_default();
                match kind {
                    MarkKind::Synced { version } => *position = WatchPosition::at(version),
                    MarkKind::Gap { from, to, .. } => {
                        position.relisted = Some(to.clone());
                        // A named object has one difference at most, and no bookmark shows that it is recorded.
                        if name.is_none() {
                            position.before_gap.get_or_insert_with(|| from.clone());
                        }
                    }
                    // The watch has ended, and changes before the next one are not received.
                    MarkKind::Error(_) => {
                        (position.version, position.relisted, position.is_active) = (None, None, false);
                    }
                }
            }
            Item::Bookmark { resource, namespace, version } => {
                let watch = (Arc::clone(resource), Arc::clone(namespace), None);
                self.watches.insert(watch, WatchPosition::at(version));
            }
            _ => {}
        }
    }

    /// Records a change of the object with this namespace and name, which moves each running watch that it belongs to. A watch
    /// that does not run can't continue from its version any more, because the object is newer.
    pub(in crate::recording) fn change(
        &mut self,
        resource: &Arc<ApiResource>,
        (namespace, name): (&str, &str),
        (kind, origin): (ChangeKind, Origin),
        version: u64,
    ) {
        let mut version = ResourceVersion::from(version);
        // Other objects may have been deleted in the same version: if a recorder is killed between them, the next one must
        // receive them.
        if kind == ChangeKind::Deleted
            && let Some(before) = version.before()
        {
            version = before;
        }
        for position in self.covering_mut(resource, namespace, name) {
            if !position.is_active {
                position.version = None;
            } else if origin == Origin::Watch && position.version.is_some() {
                position.before_gap = None;
                // The versions of a server that was restored from a backup are lower than before.
                position.version = position.relisted.take().or_else(|| position.version.take());
                let Some(known) = &position.version else { continue };
                // Lists report objects in any order of versions, and some servers send the deletion of an object
                // with its last version.
                if known.compare(&version).is_ok_and(Ordering::is_lt) {
                    position.version = Some(version.clone());
                }
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
