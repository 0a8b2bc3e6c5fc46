//! A part of a watch on a recording: the selection of its objects, which no server evaluates.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::lines::{Change, ChangeKind, Mark};
use kdelta::object::{ApiResource, DeletedFinalStateUnknown, DeletedObject, Key, Object, Origin};
use kdelta::recording::State;

use crate::commands::recorded::RecordedRange;
use crate::session::{Filter, Part, Session};
use crate::settings::Watch;

/// A part whose objects are read from a recording.
pub(super) struct ReplayedPart {
    pub(super) part: Part,
    /// The recorded versions of its type.
    pub(super) resources: Vec<Arc<ApiResource>>,
    /// Whether an object was selected.
    pub(super) has_object: bool,
    filter: Filter,
    /// The recorded time of the current entry in milliseconds, at which conditions on ages are evaluated. Relaxed: only
    /// this thread uses it, and the filter's clock must be `Sync`.
    now: Arc<AtomicI64>,
    /// The objects that the filter selects; none without conditions.
    selected: HashSet<Key>,
}

impl ReplayedPart {
    /// # Errors
    /// The recording can't be read or does not have the type, or a selector can't be parsed.
    pub(super) fn new(
        session: &Session,
        watch: &Watch,
        part: Part,
        range: &RecordedRange,
    ) -> anyhow::Result<Self> {
        let resources = range.required_resources(&part.resource)?;
        let now = Arc::new(AtomicI64::new(0));
        let clock = Arc::clone(&now);
        let filter = session.recorded_filter(&part, &watch.selection, &watch.by)?.with_clock(move || {
            Timestamp::from_millisecond(clock.load(Ordering::Relaxed)).unwrap_or_default()
        });
        Ok(Self { part, resources, has_object: false, filter, now, selected: HashSet::new() })
    }

    /// Returns the selected objects of a state.
    ///
    /// # Errors
    /// The recording can't be read, or the objects lack what a condition reads.
    pub(super) fn objects(&mut self, state: &State, now: Timestamp) -> anyhow::Result<Vec<Arc<Object>>> {
        self.now.store(now.as_millisecond(), Ordering::Relaxed);
        let mut objects = Vec::new();
        for resource in &self.resources {
            let namespace = Some(&*self.part.namespace).filter(|namespace| !namespace.is_empty());
            match &self.part.name {
                Some(name) => objects.extend(state.object(resource, &self.part.namespace, name)?),
                None => objects.extend(state.objects(resource, namespace)?),
            }
        }
        let mut selected = Vec::new();
        for object in objects {
            if self.selects(&object)? {
                selected.push(object);
            }
        }
        Ok(selected)
    }

    /// Whether a change is of an object that the part may select.
    pub(super) fn has(&self, cluster: usize, change: &Change) -> bool {
        let Part { namespace, name, .. } = &self.part;
        let object = &change.object;
        self.is_of_type(cluster, &change.resource)
            && (namespace.is_empty() || **namespace == *object.namespace())
            && name.as_ref().is_none_or(|name| **name == *object.name())
    }

    /// Whether a mark is about the collection of the part.
    pub(super) fn is_about(&self, cluster: usize, mark: &Mark) -> bool {
        let namespace = &self.part.namespace;
        self.is_of_type(cluster, &mark.resource)
            && (mark.namespace.is_empty() || namespace.is_empty() || mark.namespace == *namespace)
            && (mark.name.is_none() || mark.name == self.part.name)
    }

    fn is_of_type(&self, cluster: usize, resource: &ApiResource) -> bool {
        self.part.cluster == cluster
            && self.part.resource.group == resource.group
            && self.part.resource.resource == resource.resource
    }

    /// Returns the notification of a change. As with a server, an object that no longer matches is deleted in its last state
    /// that did, and one that begins to match is added; `None` for an object that does not match.
    pub(super) fn notification(&mut self, change: &Change) -> Option<Notification> {
        let Change { kind, object, old, origin, final_state_unknown, received, .. } = change;
        self.now.store(received.as_millisecond(), Ordering::Relaxed);
        let was_selected = self.filter.is_empty() || self.selected.contains(object.key());
        let origin = *origin;
        match kind {
            ChangeKind::Deleted => {
                self.selected.remove(object.key());
                let object = Arc::clone(object);
                let object = if *final_state_unknown {
                    let (key, object) = (Arc::clone(object.key()), Some(object));
                    DeletedObject::FinalStateUnknown(DeletedFinalStateUnknown { key, object })
                } else {
                    DeletedObject::Known(object)
                };
                was_selected.then_some(Notification::Deleted { object, origin })
            }
            ChangeKind::Added | ChangeKind::Modified => {
                let is_selected = self.selects(object).unwrap_or_default();
                let old = old.as_ref().filter(|_| *kind == ChangeKind::Modified);
                match (old, was_selected, is_selected) {
                    (Some(old), true, true) => {
                        let (old, new) = (Arc::clone(old), Arc::clone(object));
                        Some(Notification::Updated { old, new, origin })
                    }
                    (Some(old), true, false) => {
                        let object = DeletedObject::Known(Arc::clone(old));
                        Some(Notification::Deleted { object, origin })
                    }
                    (_, _, true) => {
                        let is_in_initial_list = origin == Origin::List;
                        Some(Notification::Added { object: Arc::clone(object), is_in_initial_list, origin })
                    }
                    (_, _, false) => None,
                }
            }
            ChangeKind::Sync => None,
        }
    }

    /// Returns whether the filter selects a recorded object.
    fn selects(&mut self, object: &Object) -> anyhow::Result<bool> {
        if self.filter.is_empty() {
            self.has_object = true;
            return Ok(true);
        }
        let is_selected = self.filter.selects(object)?;
        if is_selected {
            self.has_object = true;
            self.selected.insert(Arc::clone(object.key()));
        } else {
            self.selected.remove(object.key());
        }
        Ok(is_selected)
    }
}
