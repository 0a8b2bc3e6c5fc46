//! The changes of one object in the range.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kdelta::lines::{Change, ChangeKind};
use kdelta::object::{ApiResource, Object, Origin, Uid};

use super::reasons::ReasonCounts;
use super::snapshot::{Snapshot, is_busy};
use crate::view::details::Details;
use crate::view::health::HealthChange;

/// The time that a new object has to become ready before it counts as unready.
const START_TIME: SignedDuration = SignedDuration::from_mins(1);

/// The maximum number of changed fields that are kept of each object.
const MAX_FIELDS: usize = 3;

/// The changes of one object.
#[derive(Debug)]
pub(super) struct Track {
    /// The number of the first change.
    pub(super) order: u64,
    pub(super) resource: Arc<ApiResource>,
    pub(super) namespace: Box<str>,
    pub(super) name: Box<str>,
    pub(super) uid: Uid,
    /// The last known state.
    pub(super) state: Snapshot,
    /// Whether it existed before the range, and whether it exists at the end.
    pub(super) existed: bool,
    pub(super) exists: bool,
    /// The number of times that it was created after an earlier object of its name was deleted.
    pub(super) recreated: u64,
    /// The number of states.
    pub(super) changes: u64,
    /// The number of times that it became unready, and the reasons.
    pub(super) unready: ReasonCounts,
    pub(super) restarts: ReasonCounts,
    pub(super) content_changes: u64,
    /// The first changed fields of its content, with the author.
    pub(super) fields: Vec<String>,
    /// The time of its creation, if it was created in the range.
    created: Option<Timestamp>,
}

impl Track {
    /// Begins a track with the first change of an object. `order` is its number.
    pub(super) fn begin(change: &Change, order: u64) -> Self {
        let Change { kind, object, old, origin, resource, .. } = change;
        let before = old.as_ref().or((*kind == ChangeKind::Deleted).then_some(object));
        let is_new = *kind == ChangeKind::Added && *origin != Origin::List;
        Self {
            order,
            resource: Arc::clone(resource),
            namespace: object.namespace().into(),
            name: object.name().into(),
            uid: object.uid().clone(),
            state: before.map(|before| Snapshot::of(&before.json())).unwrap_or_default(),
            existed: !is_new,
            exists: !is_new,
            recreated: 0,
            changes: 0,
            unready: ReasonCounts::default(),
            restarts: ReasonCounts::default(),
            content_changes: 0,
            fields: Vec::new(),
            created: None,
        }
    }

    /// Records a change.
    pub(super) fn record(&mut self, change: &Change, manager: Option<&str>) {
        let Change { kind, object, origin, received, .. } = change;
        match kind {
            // The initial list of the recording is no change.
            ChangeKind::Added if *origin == Origin::List => self.state = Snapshot::of(&object.json()),
            ChangeKind::Added => {
                self.changes += 1;
                self.recreated += u64::from(!self.exists && (self.existed || self.created.is_some()));
                self.state = Snapshot::of(&object.json());
                (self.exists, self.created) = (true, Some(*received));
            }
            ChangeKind::Modified => {
                self.changes += 1;
                self.update(change, manager);
            }
            ChangeKind::Deleted => {
                self.changes += 1;
                self.exists = false;
            }
            ChangeKind::Sync => {}
        }
        self.uid = object.uid().clone();
    }

    fn update(&mut self, change: &Change, manager: Option<&str>) {
        if is_busy(&self.resource) {
            return;
        }
        let state = Snapshot::of(&change.object.json());
        let health = &state.health;
        for changed in health.changes_since(&self.state.health) {
            if let HealthChange::Restart { from, to, end, .. } = changed {
                let reason = end.map(|end| end.to_string()).unwrap_or_default();
                self.restarts.add(&reason, to - from);
            }
        }
        let was_ready = self.state.health.is_ready() == Some(true);
        let fails = health.has_failed() && !self.state.health.has_failed();
        if !health.is_deleting && (fails || was_ready && health.is_ready() == Some(false)) {
            self.unready.add(health.unready_reason(), 1);
        }
        if state.content != self.state.content {
            self.update_content(change, manager);
        }
        self.state = state;
    }

    /// Counts a change of the content, and keeps the first changed fields.
    fn update_content(&mut self, change: &Change, manager: Option<&str>) {
        let is_pod = is_pod(&self.resource);
        let has_room = self.fields.len() < MAX_FIELDS;
        let old = change.old.as_ref().filter(|_| has_room || is_pod);
        let lines = old.map(|old| content_lines(old, &change.object, &self.resource)).unwrap_or_default();
        // The generation of every pod is incremented by its deletion too.
        if is_pod && lines.is_empty() {
            return;
        }
        self.content_changes += 1;
        let by = manager.map(|manager| format!(" (by {manager})")).unwrap_or_default();
        add_distinct(&mut self.fields, lines.into_iter().map(|line| format!("{line}{by}")), MAX_FIELDS);
    }

    /// Whether the object is unready or has failed at the end of the range, and had time to become ready.
    pub(super) fn is_unready(&self, end: Timestamp) -> bool {
        let health = &self.state.health;
        let is_starting = self.created.is_some_and(|created| end.duration_since(created) < START_TIME)
            && self.unready.is_empty();
        self.exists
            && !health.is_deleting
            && (health.has_failed() || (health.is_ready() == Some(false) && !is_starting))
    }
}

fn is_pod(resource: &ApiResource) -> bool {
    resource.group.is_empty() && resource.resource == "pods"
}

/// Adds texts that are not in the list yet, up to `limit` in total.
pub(super) fn add_distinct(list: &mut Vec<String>, texts: impl IntoIterator<Item = String>, limit: usize) {
    for text in texts {
        if list.len() >= limit {
            return;
        }
        if !list.contains(&text) {
            list.push(text);
        }
    }
}

/// Returns the lines of the changed fields outside of metadata and status, without the binding of a pod to a node. Data of
/// Secrets is masked.
fn content_lines(old: &Object, new: &Object, resource: &ApiResource) -> Vec<String> {
    let lines = Details { noise: false, secrets: false }.lines(old, new, resource);
    let is_content = |line: &&str| {
        let path = line.trim_start_matches(['+', '-', ' ']);
        let is_binding = is_pod(resource) && path.starts_with("spec.nodeName:");
        !path.starts_with("metadata") && !path.starts_with("status") && !is_binding
    };
    lines.split_terminator('\n').filter(is_content).map(str::to_owned).collect()
}
