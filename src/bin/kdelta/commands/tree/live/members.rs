//! The objects that the watches of a tree have delivered, each with the parts that hold it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::object::{ApiResource, Key, Object};
use kdelta::wire::Representation;
use tokio::sync::Notify;

use crate::commands::tree::status_rules::{is_whole, set_state, shows_status};
use crate::commands::tree::workload_selector::WorkloadSelector;
use crate::view::{ObjectId, OwnerIndex, TreeObject};

/// The watches that a part belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Watches {
    /// The watches of the selected objects.
    Roots,
    /// The watches of the objects that may be owned, which start again when other requests are necessary.
    Owned { generation: usize },
    /// A watch of related objects.
    Related { number: usize },
}

/// A part of one of the watches.
pub(super) type PartId = (Watches, usize);

/// A watched part.
struct WatchedPart {
    resource: Arc<ApiResource>,
    /// Whether its objects have all that their status follows from.
    is_complete: bool,
    /// Whether they have all their fields.
    is_whole: bool,
    objects: HashMap<Key, ObjectId>,
}

/// The numbers of parts that hold an object.
#[derive(Debug, Default, Clone, Copy)]
struct Holders {
    complete: usize,
    others: usize,
}

/// All objects that may belong to the tree.
#[derive(Default)]
pub(super) struct Members {
    pub(super) index: OwnerIndex,
    parts: HashMap<PartId, WatchedPart>,
    holders: HashMap<ObjectId, Holders>,
    /// The selected objects, in order.
    roots: BTreeMap<(usize, Key), ObjectId>,
    /// The selectors of the selected objects whose kinds select what they own.
    selectors: HashMap<ObjectId, Option<WorkloadSelector>>,
    /// The namespaces of the parts with the selected objects; empty for all.
    root_namespaces: BTreeMap<usize, Arc<str>>,
    /// The objects whose status must be requested once they are part of the tree.
    pub(super) stale: HashSet<ObjectId>,
    /// The watches whose initial state is complete.
    synced: HashSet<Watches>,
    /// The types that can't be watched, by plural and group.
    refused: HashSet<String>,
    /// Whether anything has failed.
    pub(super) is_partial: bool,
    /// Whether anything has changed since the tree was last built.
    has_changed: bool,
    /// Notified after every change.
    changed: Arc<Notify>,
}

impl Members {
    /// Returns no objects. `reads_relations` is whether relations other than ownership are read.
    pub(super) fn new(reads_relations: bool) -> Self {
        Self { index: OwnerIndex::new(reads_relations), ..Self::default() }
    }

    /// Adds a part before its first object. `representation` is what its objects are requested as.
    pub(super) fn add_part(&mut self, id: PartId, resource: Arc<ApiResource>, requested: Representation) {
        let (is_complete, is_whole) = (shows_status(&resource, requested), is_whole(requested));
        self.parts.insert(id, WatchedPart { resource, is_complete, is_whole, objects: HashMap::new() });
    }

    /// Records the namespace of a part with selected objects.
    pub(super) fn add_root_namespace(&mut self, number: usize, namespace: Arc<str>) {
        self.root_namespaces.insert(number, namespace);
    }

    /// Removes a part with its objects.
    pub(super) fn remove_part(&mut self, id: PartId) {
        if let Some(part) = self.parts.remove(&id) {
            for (key, uid) in part.objects {
                self.release(id, &key, &uid, part.is_complete);
            }
        }
        if id.0 == Watches::Roots {
            self.root_namespaces.remove(&id.1);
        }
        self.mark_changed();
    }

    /// Removes the parts of all earlier generations of watches.
    pub(super) fn remove_before(&mut self, current: usize) {
        let is_old = |id: &&PartId| matches!(id.0, Watches::Owned { generation } if generation < current);
        let old: Vec<PartId> = self.parts.keys().filter(is_old).copied().collect();
        for id in old {
            self.remove_part(id);
        }
    }

    /// Removes the parts of these watches, which have ended.
    pub(super) fn remove_watches(&mut self, watches: Watches) {
        let parts: Vec<PartId> = self.parts.keys().filter(|id| id.0 == watches).copied().collect();
        for id in parts {
            self.remove_part(id);
        }
        self.synced.remove(&watches);
    }

    /// Records that a part can't be watched.
    pub(super) fn mark_refused(&mut self, id: PartId) {
        self.is_partial = true;
        if let Some(part) = self.parts.get(&id).filter(|_| !matches!(id.0, Watches::Related { .. })) {
            self.refused.insert(part.resource.group_resource());
        }
    }

    /// Whether objects of a type can't be watched, which is reported.
    pub(super) fn is_refused(&self, group_resource: &str) -> bool {
        self.refused.contains(group_resource)
    }

    /// Applies a notification of a part.
    pub(super) fn apply(&mut self, id: PartId, notification: &Notification, now: Timestamp) {
        match notification {
            Notification::Added { object, .. } | Notification::Updated { new: object, .. } => {
                self.set(id, object, now);
            }
            Notification::Deleted { object, .. } => {
                let Some(part) = self.parts.get_mut(&id) else { return };
                let (is_complete, key) = (part.is_complete, object.key().clone());
                if let Some(uid) = part.objects.remove(&key) {
                    self.release(id, &key, &uid, is_complete);
                }
            }
            Notification::Mark(_) => return,
        }
        self.mark_changed();
    }

    fn set(&mut self, id: PartId, object: &Object, now: Timestamp) {
        let Some(part) = self.parts.get_mut(&id) else { return };
        let Some(mut state) = TreeObject::of(&part.resource, object) else { return };
        let (uid, key, is_complete) = (Arc::clone(&state.uid), object.key().clone(), part.is_complete);
        let reads_relations = self.index.has_names() && part.is_whole;
        let before = part.objects.insert(key.clone(), Arc::clone(&uid));
        if before.as_ref() != Some(&uid) {
            if let Some(before) = before {
                self.release(id, &key, &before, is_complete);
            }
            let holders = self.holders.entry(Arc::clone(&uid)).or_default();
            *if is_complete { &mut holders.complete } else { &mut holders.others } += 1;
        }
        if id.0 == Watches::Roots {
            self.selectors.insert(Arc::clone(&uid), WorkloadSelector::of_object(&state.resource, object));
            self.roots.insert((id.1, key), Arc::clone(&uid));
        }
        if is_complete {
            set_state(&mut state, &object.json(), reads_relations, now);
            self.stale.remove(&uid);
        } else if self.holders.get(&uid).is_some_and(|holders| holders.complete > 0) {
            // The other part has a state with all that is shown.
            return;
        } else {
            if let Some(known) = self.index.get(&uid) {
                (state.status, state.message) = (known.status, known.message.clone());
            }
            self.stale.insert(uid);
        }
        self.index.insert(state);
    }

    /// Removes an object from a part, and from the index if no other part has it.
    fn release(&mut self, id: PartId, key: &Key, uid: &ObjectId, is_complete: bool) {
        if id.0 == Watches::Roots {
            self.roots.remove(&(id.1, key.clone()));
        }
        let Some(holders) = self.holders.get_mut(uid) else { return };
        let count = if is_complete { &mut holders.complete } else { &mut holders.others };
        *count = count.saturating_sub(1);
        if holders.complete + holders.others == 0 {
            self.holders.remove(uid);
            self.index.remove(uid);
            self.selectors.remove(uid);
            self.stale.remove(uid);
        } else if holders.complete == 0 {
            self.stale.insert(Arc::clone(uid));
        }
    }

    /// Whether a part has the object, so that its changes and its deletion are received.
    pub(super) fn is_watched(&self, uid: &ObjectId) -> bool {
        self.holders.contains_key(uid)
    }

    /// Returns the selected objects in order.
    pub(super) fn roots(&self) -> Vec<ObjectId> {
        let mut seen = HashSet::new();
        self.roots.values().filter(|uid| seen.insert(*uid)).cloned().collect()
    }

    /// Returns the selector of the only selected object, if it has one.
    pub(super) fn workload_selector(&self) -> Option<&WorkloadSelector> {
        match self.roots().as_slice() {
            [only] => self.selectors.get(only)?.as_ref(),
            _ => None,
        }
    }

    /// Returns the namespaces in which objects may be selected; an empty one stands for all.
    pub(super) fn root_namespaces(&self) -> impl Iterator<Item = &Arc<str>> {
        self.root_namespaces.values()
    }

    /// Records that the initial state of these watches is complete.
    pub(super) fn mark_synced(&mut self, watches: Watches) {
        self.synced.insert(watches);
        self.mark_changed();
    }

    /// Records that these watches have ended.
    pub(super) fn mark_failed(&mut self, watches: Watches) {
        self.is_partial = true;
        self.mark_synced(watches);
    }

    pub(super) fn is_synced(&self, watches: Watches) -> bool {
        self.synced.contains(&watches)
    }

    /// Records a change and wakes the tree.
    pub(super) fn mark_changed(&mut self) {
        self.has_changed = true;
        self.changed.notify_one();
    }

    /// Returns whether anything has changed since the last call.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// Returns the notification of changes.
    pub(super) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }
}

#[cfg(test)]
mod tests {
    use kdelta::object::{DeletedObject, Ingest, Origin};
    use kdelta::query::ObjectStatus;

    use super::*;

    const ROOTS: PartId = (Watches::Roots, 0);
    const OWNED: PartId = (Watches::Owned { generation: 0 }, 0);

    fn pods() -> Arc<ApiResource> {
        Arc::new(ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "pods".into(),
            kind: "Pod".into(),
            namespaced: true,
        })
    }

    fn pod(phase: &str) -> Arc<Object> {
        let json = serde_json::json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n", "uid": "u"},
            "status": {"phase": phase},
        });
        let ingest = Ingest::of(pods().type_meta());
        Arc::new(Object::from_json(json.to_string().as_bytes(), &ingest).expect("a pod"))
    }

    fn added(phase: &str) -> Notification {
        Notification::Added { object: pod(phase), is_in_initial_list: false, origin: Origin::Watch }
    }

    fn deleted() -> Notification {
        Notification::Deleted { object: DeletedObject::Known(pod("x")), origin: Origin::Watch }
    }

    /// Returns members with a part of whole pods and one of their metadata.
    fn members() -> Members {
        let mut members = Members::default();
        members.add_part(ROOTS, pods(), Representation::Objects);
        members.add_part(OWNED, pods(), Representation::Metadata);
        members
    }

    fn status(members: &Members) -> Option<ObjectStatus> {
        members.index.get("u").expect("a pod").status
    }

    #[test]
    fn a_whole_object_is_not_replaced_by_metadata() {
        let mut members = members();
        let now = Timestamp::UNIX_EPOCH;
        members.apply(OWNED, &added("Pending"), now);
        assert_eq!((status(&members), members.stale.len()), (None, 1));
        members.apply(ROOTS, &added("Succeeded"), now);
        assert_eq!((status(&members), members.stale.len()), (Some(ObjectStatus::Current), 0));
        members.apply(OWNED, &added("Pending"), now);
        assert_eq!((status(&members), members.stale.len()), (Some(ObjectStatus::Current), 0));
        assert_eq!(members.roots().len(), 1);
    }

    #[test]
    fn an_object_is_removed_with_its_last_part() {
        let mut members = members();
        let now = Timestamp::UNIX_EPOCH;
        members.apply(ROOTS, &added("Succeeded"), now);
        members.apply(OWNED, &added("Succeeded"), now);
        members.apply(ROOTS, &deleted(), now);
        assert!(members.roots().is_empty(), "its labels no longer match");
        assert!(members.stale.contains("u"), "its status is no longer received");
        members.apply(OWNED, &deleted(), now);
        assert!(members.index.get("u").is_none() && members.stale.is_empty());
        members.apply(OWNED, &added("Succeeded"), now);
        members.remove_before(0);
        assert!(members.index.get("u").is_some(), "of the current generation");
        members.remove_before(1);
        assert!(members.index.get("u").is_none());
    }

    #[test]
    fn changes_are_reported_once() {
        let mut members = members();
        assert!(!members.take_changed());
        members.apply(OWNED, &added("Pending"), Timestamp::UNIX_EPOCH);
        assert!(members.take_changed() && !members.take_changed());
        members.mark_synced(Watches::Roots);
        assert!(members.is_synced(Watches::Roots) && members.take_changed());
    }
}
