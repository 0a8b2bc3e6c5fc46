//! The progress of a run: the version up to which every change of a part was handled, and the state in which each object was
//! handled last.
//!
//! Calls end in any order. A change that waits or is being run is pending; the version before the oldest pending change is
//! safe to continue from. An object's state is that of its last finished change, which may be newer than the safe version:
//! then its changes since that version are run again. A crash at any time loses no change.

mod initial_difference;
mod part_progress;
#[cfg(test)]
mod tests;

pub(super) use initial_difference::{InitialDifference, handled_object};
use part_progress::ChangeNumber;
pub(super) use part_progress::{HandledState, PartProgress};

use std::collections::HashMap;

use kdelta::object::Key;
use serde::{Deserialize, Serialize};

use crate::session::Part;

/// The identity of a part across runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartId {
    pub(super) context: String,
    pub(super) group: String,
    pub(super) resource: String,
    pub(super) namespace: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) name: Option<String>,
    /// The patterns of names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) patterns: Option<String>,
}

impl PartId {
    pub(super) fn of(part: &Part) -> Self {
        Self {
            context: part.context.to_string(),
            group: part.resource.group.clone(),
            resource: part.resource.resource.clone(),
            namespace: part.namespace.to_string(),
            name: part.name.as_deref().map(str::to_owned),
            patterns: part.patterns.as_ref().map(|patterns| patterns.text()),
        }
    }
}

/// The position of a part in the [`Progress`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PartIndex(usize);

impl PartIndex {
    pub(super) fn number(self) -> usize {
        self.0
    }
}

/// The progress of all parts of a run, and of earlier runs that it continues.
#[derive(Debug, Default)]
pub(super) struct Progress {
    parts: Vec<(PartId, PartProgress)>,
    indices: HashMap<PartId, PartIndex>,
    /// Whether anything has changed since the last [`Progress::take_changed`].
    has_changed: bool,
}

/// The state of an object after a change, which is recorded once the change is handled.
#[derive(Debug, Clone)]
pub(super) struct StateUpdate {
    pub(super) part: PartIndex,
    pub(super) key: Key,
    /// The state of the object; `None` if it was deleted.
    pub(super) state: Option<HandledState>,
}

/// A change that waits or is being run.
#[derive(Debug)]
pub(super) struct PendingChange {
    /// The part in which the change is pending. It can differ from that of the update, which a later change may replace.
    number: (PartIndex, ChangeNumber),
    pub(super) update: StateUpdate,
}

impl Progress {
    /// Returns a part, which is created if it is new.
    pub(super) fn part(&mut self, id: &PartId) -> PartIndex {
        if let Some(index) = self.indices.get(id) {
            return *index;
        }
        self.insert(id.clone(), PartProgress::default())
    }

    pub(super) fn insert(&mut self, id: PartId, part: PartProgress) -> PartIndex {
        let index = PartIndex(self.parts.len());
        self.parts.push((id.clone(), part));
        self.indices.insert(id, index);
        index
    }

    pub(super) fn get(&self, index: PartIndex) -> &PartProgress {
        &self.parts[index.0].1
    }

    pub(super) fn get_mut(&mut self, index: PartIndex) -> &mut PartProgress {
        self.has_changed = true;
        &mut self.parts[index.0].1
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = (PartIndex, &PartId, &PartProgress)> {
        self.parts.iter().enumerate().map(|(index, (id, part))| (PartIndex(index), id, part))
    }

    /// Adds a change that is about to be queued.
    pub(super) fn add_pending(&mut self, update: StateUpdate) -> PendingChange {
        PendingChange { number: (update.part, self.get_mut(update.part).begin_change()), update }
    }

    /// Records that a change was handled.
    pub(super) fn finish(&mut self, pending: PendingChange) {
        self.merge(&pending);
        self.apply(pending.update);
    }

    /// Records that a change was merged with a later one of the same object: it needs no call of its own.
    pub(super) fn merge(&mut self, pending: &PendingChange) {
        let (part, number) = pending.number;
        self.get_mut(part).end_change(number);
    }

    /// Records the state of an object.
    pub(super) fn apply(&mut self, update: StateUpdate) {
        self.get_mut(update.part).set_state(update.key, update.state);
    }

    /// Returns whether anything has changed since the last call.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }
}
