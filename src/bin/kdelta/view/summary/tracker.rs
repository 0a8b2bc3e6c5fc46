//! The changes of all objects in a range, and their summary.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use kdelta::lines::{Change, ChangeKind};
use kdelta::object::{ApiResource, Object, Origin};

use super::group::ChangeGroup;
use super::owners::{OwnerType, Owners, RootName};
use super::snapshot::{Warning, is_event};
use super::track::Track;
use crate::view::tree::OwnerReference;

/// The changes of one object in a range. It holds a track, not the states.
#[derive(Debug, Default)]
pub(crate) struct ObjectChanges {
    /// The number of changes.
    changes: u64,
    track: Option<Track>,
    /// The warnings that an event had, with their numbers.
    warnings: Vec<(Warning, u64)>,
}

/// Joins the changes of objects.
#[derive(Debug, Default)]
pub(crate) struct ChangeTracker {
    tracks: Vec<Track>,
    /// The warnings by object and reason, with their numbers.
    warnings: HashMap<String, Vec<(Warning, u64)>>,
    owners: Owners,
    /// The owners of the objects with warnings that did not change.
    warned_owners: Vec<OwnerReference>,
    /// The number of changes, those of events included.
    changes: u64,
}

/// The changes in a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangeSummary {
    /// The number of changes.
    pub(crate) changes: u64,
    /// The number of changed objects.
    pub(crate) objects: u64,
    /// The groups, the most important first.
    pub(crate) groups: Vec<ChangeGroup>,
}

impl ObjectChanges {
    /// Records the next change. `number` is its number among the changes of all objects, `manager` its author.
    pub(crate) fn record(&mut self, number: u64, change: &Change, manager: Option<&str>) {
        let Change { kind, object, resource, origin, .. } = change;
        let is_listed = *kind == ChangeKind::Added && *origin == Origin::List;
        self.changes += u64::from(!is_listed && *kind != ChangeKind::Sync);
        if is_event(resource) {
            if !is_listed && *kind != ChangeKind::Deleted {
                self.record_event(object);
            }
            return;
        }
        let track = self.track.get_or_insert_with(|| Track::begin(change, number));
        track.record(change, manager);
    }

    fn record_event(&mut self, object: &Object) {
        let Some(warning) = Warning::of(&object.json()) else { return };
        add_warning(&mut self.warnings, warning, 1);
    }

    /// Whether the states of deleted objects of a type are compared.
    pub(crate) fn reads_deleted(resource: &ApiResource) -> bool {
        !is_event(resource)
    }
}

/// Adds to the number of a warning about an object.
fn add_warning(warnings: &mut Vec<(Warning, u64)>, warning: Warning, count: u64) {
    match warnings.iter_mut().find(|(known, _)| *known == warning) {
        Some((_, known)) => *known += count,
        None => warnings.push((warning, count)),
    }
}

impl ChangeTracker {
    /// Joins the changes of objects in any order.
    pub(crate) fn of(objects: Vec<ObjectChanges>) -> Self {
        let mut tracker = Self::default();
        for ObjectChanges { changes, track, warnings } in objects {
            tracker.changes += changes;
            tracker.tracks.extend(track);
            for (warning, count) in warnings {
                let about =
                    format!("{}/{}/{}/{}", warning.kind, warning.namespace, warning.name, warning.uid);
                add_warning(tracker.warnings.entry(about).or_default(), warning, count);
            }
        }
        // The fields of a group are those of the objects that changed first.
        tracker.tracks.sort_unstable_by_key(|track| track.order);
        for track in &tracker.tracks {
            let owner = track.state.owner.clone();
            let name = (&*track.namespace, &*track.name);
            tracker.owners.add(&track.resource, name, &track.uid.to_string(), owner);
        }
        tracker
    }

    /// Returns the types of the owners that are not known yet, with [`ChangeTracker::add_owners`] to be called for each, until
    /// there are none.
    pub(crate) fn missing_owners(&self) -> BTreeSet<OwnerType> {
        let of_changed = self.tracks.iter().filter_map(|track| track.state.owner.as_ref());
        let owners = of_changed.chain(&self.warned_owners);
        owners.filter_map(|owner| self.owners.missing(Some(owner))).collect()
    }

    /// Returns the namespaces and names of the objects with warnings that did not change, by type, with
    /// [`ChangeTracker::add_warned`] to be called for those that exist.
    pub(crate) fn unchanged_warned(&self) -> BTreeMap<OwnerType, BTreeSet<(String, String)>> {
        let names = self.owners.names();
        let mut unchanged: BTreeMap<OwnerType, BTreeSet<_>> = BTreeMap::new();
        for (warning, _) in self.warnings.values().flatten() {
            if self.owners.warned(warning, &names).is_none() {
                let of_type = OwnerType { group: warning.group().to_owned(), kind: warning.kind.clone() };
                let name = (warning.namespace.clone(), warning.name.clone());
                unchanged.entry(of_type).or_default().insert(name);
            }
        }
        unchanged
    }

    /// Adds objects with warnings as they are at the end of the range.
    pub(crate) fn add_warned(&mut self, resource: &ApiResource, objects: &[Arc<Object>]) {
        for object in objects {
            let owner = self.owners.add_object(resource, object);
            self.warned_owners.extend(owner);
        }
    }

    /// Adds all objects of a type of owners as they are at the end of the range; `None` if the type was not recorded.
    pub(crate) fn add_owners(
        &mut self,
        owner_type: OwnerType,
        recorded: Option<(&ApiResource, &[Arc<Object>])>,
    ) {
        let (resource, objects) = recorded.unzip();
        self.owners.complete(owner_type, resource, objects.unwrap_or_default());
    }

    /// Returns the summary. `end` is the end of the range.
    pub(crate) fn summary(self, end: Timestamp) -> ChangeSummary {
        let Self { tracks, warnings, owners, changes, .. } = self;
        let mut groups: HashMap<RootName, ChangeGroup> = HashMap::new();
        let mut objects = 0;
        for track in tracks.iter().filter(|track| track.changes > 0) {
            objects += 1;
            let name = (&*track.namespace, &*track.name);
            let root = owners.root(&track.resource, name, track.state.owner.as_ref());
            groups.entry(root.clone()).or_insert_with(|| ChangeGroup::new(&root)).add(track, end);
        }
        let names = owners.names();
        for (warning, count) in warnings.into_values().flatten() {
            let known = owners.warned(&warning, &names).map(|known| owners.root_of(known));
            let root = known.unwrap_or_else(|| RootName {
                group: warning.group().to_owned(),
                kind: warning.kind.clone(),
                namespace: warning.namespace.clone(),
                name: warning.name.clone(),
            });
            let group = groups.entry(root.clone()).or_insert_with(|| ChangeGroup::new(&root));
            group.warn(&warning.reason, count);
        }
        let mut groups: Vec<ChangeGroup> = groups.into_values().collect();
        groups.sort_by_cached_key(ChangeGroup::order);
        ChangeSummary { changes, objects, groups }
    }
}
