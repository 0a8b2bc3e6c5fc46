//! The versions up to which each watch was recorded.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use crate::lines::{Change, ChangeKind, Mark, MarkKind};
use crate::object::{ApiResource, Origin, ResourceVersion};
use crate::recording::entry::Item;
use crate::recording::position::{Position, Watch};
use crate::recording::reader::Step;

/// The positions of all watches.
#[derive(Debug, Default)]
pub(in crate::recording) struct Positions {
    watches: HashMap<Watch, WatchPosition>,
}

#[derive(Debug, Default)]
struct WatchPosition {
    /// The version of the state; `None` before the initial state is complete.
    version: Option<ResourceVersion>,
    /// Whether the version is that of a deletion. Others of the same version may not be recorded: if a recorder is killed between
    /// them, the next one must receive them.
    may_lack_deletions: bool,
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

    /// Returns the position of a running watch whose last change is a deletion, possibly one of several.
    fn at_deletion(version: &ResourceVersion) -> Self {
        Self { may_lack_deletions: true, ..Self::at(version) }
    }

    /// Returns the version to continue from.
    fn version_to_watch(&self) -> Option<ResourceVersion> {
        let before = || self.version.as_ref()?.before();
        if self.may_lack_deletions { before().or_else(|| self.version.clone()) } else { self.version.clone() }
    }

    /// Returns the version of the state, unless it is that of an earlier list than the last one.
    fn last_version(&self) -> Option<&ResourceVersion> {
        self.version.as_ref().filter(|_| self.relisted.is_none())
    }
}

impl Positions {
    /// Adds the position of a watch that ran when a keyframe was written.
    pub(in crate::recording) fn insert(&mut self, position: &Position) {
        let at = if position.may_lack_deletions() { WatchPosition::at_deletion } else { WatchPosition::at };
        self.watches.insert(position.watch(), at(&position.state_version));
    }

    /// Adds a resource whose objects are in a keyframe, which is written after their lists. If watches of it ran, which are
    /// inserted before, only their objects are known to be complete. The keyframe does not have the namespaces of others.
    pub(in crate::recording) fn insert_complete(&mut self, resource: &Arc<ApiResource>) {
        if self.watches.keys().any(|watch| watch.resource == *resource) {
            return;
        }
        let position = self.watches.entry(Watch::of_collection(resource, &"".into())).or_default();
        position.was_complete = true;
    }

    /// Returns the watches of a resource whose list was complete once: the namespace, and the name if it was one object.
    pub(in crate::recording) fn complete(&self, resource: &ApiResource) -> Vec<(Arc<str>, Option<Arc<str>>)> {
        let complete = self
            .watches
            .iter()
            .filter(|(watch, position)| *watch.resource == *resource && position.was_complete);
        complete.map(|(watch, _)| (Arc::clone(&watch.namespace), watch.name.clone())).collect()
    }

    /// Returns the lowest version before a gap whose differences were not all recorded, of the watches of a resource that have
    /// objects of a namespace (empty for all).
    pub(super) fn before_unfinished_gap(
        &self,
        resource: &ApiResource,
        namespace: &str,
    ) -> Option<ResourceVersion> {
        let overlaps = |watched: &str| watched.is_empty() || namespace.is_empty() || watched == namespace;
        let watches = self
            .watches
            .iter()
            .filter(|(watch, _)| *watch.resource == *resource && overlaps(&watch.namespace));
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
            .filter_map(|(watch, position)| {
                let (version, state_version) = (position.version_to_watch()?, position.version.clone()?);
                let Watch { resource, namespace, name } = watch.clone();
                Some(Position { resource, namespace, name, version, state_version })
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
            Item::Mark(mark) => self.mark(mark),
            Item::Bookmark { resource, namespace, version } => {
                let watch = Watch::of_collection(resource, namespace);
                let known = self.watches.get(&watch).and_then(WatchPosition::last_version);
                // An excerpt has such a bookmark after its state, if that ends with a deletion.
                let deletion = known.filter(|known| known.before().as_ref() == Some(version));
                let position = deletion.map(WatchPosition::at_deletion);
                self.watches.insert(watch, position.unwrap_or_else(|| WatchPosition::at(version)));
            }
            _ => {}
        }
    }

    fn mark(&mut self, mark: &Mark) {
        let watch = Watch::of_mark(mark);
        match &mark.kind {
            MarkKind::Synced { version } => {
                let position = self.synced(&watch, version);
                self.watches.insert(watch, position);
            }
            MarkKind::Gap { from, to, .. } => {
                // A named object has one difference at most, and no bookmark shows that it is recorded.
                let is_collection = watch.name.is_none();
                let position = self.watches.entry(watch).or_default();
                position.relisted = Some(to.clone());
                if is_collection {
                    position.before_gap.get_or_insert_with(|| from.clone());
                }
            }
            // The watch has ended, and changes before the next one are not received.
            MarkKind::Error(_) => {
                let position = self.watches.entry(watch).or_default();
                (position.version, position.relisted, position.is_active) = (None, None, false);
            }
        }
    }

    /// Returns the position of a watch whose state is complete up to a version. If it continues a state that ends with a deletion,
    /// others of that version may follow.
    fn synced(&self, watch: &Watch, version: &ResourceVersion) -> WatchPosition {
        let in_namespace = Watch::of_collection(&watch.resource, &watch.namespace);
        let in_all = Watch::of_collection(&watch.resource, &"".into());
        let continued = [watch, &in_namespace, &in_all].into_iter().find_map(|of| self.watches.get(of));
        let deletion = continued.filter(|continued| {
            let versions = [continued.version.clone(), continued.version_to_watch()];
            continued.may_lack_deletions && versions.iter().flatten().any(|known| known == version)
        });
        let deletion = deletion.and_then(WatchPosition::last_version);
        deletion.map_or_else(|| WatchPosition::at(version), WatchPosition::at_deletion)
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
        let version = ResourceVersion::from(version);
        for (watch, position) in self.covering_mut(resource, namespace, name) {
            if !position.is_active {
                position.version = None;
            } else if origin == Origin::Watch && position.version.is_some() {
                position.before_gap = None;
                // The versions of a server that was restored from a backup are lower than before.
                if let Some(listed) = position.relisted.take() {
                    (position.version, position.may_lack_deletions) = (Some(listed), false);
                }
                let Some(known) = &position.version else { continue };
                // Lists report objects in any order of versions, and some servers send the deletion of an object
                // with its last version.
                if known.compare(&version).is_ok_and(Ordering::is_lt) {
                    position.version = Some(version.clone());
                    position.may_lack_deletions = kind == ChangeKind::Deleted && watch.name.is_none();
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
    ) -> impl Iterator<Item = (&'a Watch, &'a mut WatchPosition)> {
        self.watches.iter_mut().filter(move |(watch, _)| covers(watch, resource, namespace, name))
    }
}

fn covers(watch: &Watch, resource: &ApiResource, namespace: &str, name: &str) -> bool {
    *watch.resource == *resource && watch.includes_name(namespace, name)
}
