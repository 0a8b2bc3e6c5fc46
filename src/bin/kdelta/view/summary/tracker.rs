//! The changes of all objects in a range, and their summary.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use kdelta::lines::{Change, ChangeKind};
use kdelta::object::{ApiResource, Key, Object, Origin};

use super::group::ChangeGroup;
use super::owners::{OwnerType, Owners, RootName};
use super::snapshot::{Warning, is_event};
use super::track::Track;

/// Receives the changes of a range. It holds a track of each changed object, not its states.
#[derive(Debug, Default)]
pub(crate) struct ChangeTracker {
    tracks: HashMap<Arc<ApiResource>, HashMap<Key, Track>>,
    /// The number of tracks.
    tracked: u64,
    /// The warnings by object and reason, with their numbers.
    warnings: HashMap<String, Vec<(Warning, u64)>>,
    owners: Owners,
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

impl ChangeTracker {
    /// Records a change. `manager` is its author.
    pub(crate) fn record(&mut self, change: &Change, manager: Option<&str>) {
        let Change { kind, object, resource, origin, .. } = change;
        let is_listed = *kind == ChangeKind::Added && *origin == Origin::List;
        self.changes += u64::from(!is_listed && *kind != ChangeKind::Sync);
        if is_event(resource) {
            if !is_listed && *kind != ChangeKind::Deleted {
                self.record_event(object);
            }
            return;
        }
        if !self.tracks.contains_key(resource) {
            self.tracks.insert(Arc::clone(resource), HashMap::new());
        }
        let Some(tracks) = self.tracks.get_mut(resource) else { return };
        if let Some(track) = tracks.get_mut(object.key()) {
            track.record(change, manager);
        } else {
            let mut track = Track::begin(change, self.tracked);
            self.tracked += 1;
            track.record(change, manager);
            tracks.insert(Arc::clone(object.key()), track);
        }
    }

    fn record_event(&mut self, object: &Object) {
        let Some(warning) = Warning::of(&object.json()) else { return };
        let about = format!("{}/{}/{}/{}", warning.kind, warning.namespace, warning.name, warning.uid);
        let of_object = self.warnings.entry(about).or_default();
        match of_object.iter_mut().find(|(known, _)| known.reason == warning.reason) {
            Some((_, count)) => *count += 1,
            None => of_object.push((warning, 1)),
        }
    }

    /// Returns the types of the owners that are not known yet, with [`ChangeTracker::add_owners`] to be called for each, until
    /// there are none.
    pub(crate) fn missing_owners(&mut self) -> BTreeSet<OwnerType> {
        for (resource, tracks) in &self.tracks {
            for track in tracks.values() {
                let uid = track.uid.to_string();
                let owner = track.state.owner.clone();
                self.owners.add(resource, (&track.namespace, &track.name), &uid, owner);
            }
        }
        let tracks = self.tracks.values().flat_map(HashMap::values);
        tracks.filter_map(|track| self.owners.missing(track.state.owner.as_ref())).collect()
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
        let mut changed: Vec<&Track> =
            tracks.values().flat_map(HashMap::values).filter(|track| track.changes > 0).collect();
        // The fields of a group are those of the objects that changed first.
        changed.sort_unstable_by_key(|track| track.order);
        let objects = changed.len() as u64;
        for track in changed {
            let name = (&*track.namespace, &*track.name);
            let root = owners.root(&track.resource, name, track.state.owner.as_ref());
            groups.entry(root.clone()).or_insert_with(|| ChangeGroup::new(&root)).add(track, end);
        }
        for (warning, count) in warnings.into_values().flatten() {
            let root = owners.root_of(&warning.uid).unwrap_or_else(|| RootName {
                group: warning.api_version.split_once('/').map_or("", |(group, _)| group).to_owned(),
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
