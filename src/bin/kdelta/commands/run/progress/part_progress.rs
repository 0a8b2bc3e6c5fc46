//! The progress of one part.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use kdelta::object::{Key, Object, ResourceVersion, Uid};

use crate::commands::watch::later_version;

/// The state in which an object was handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands::run) struct HandledState {
    pub(in crate::commands::run) uid: Uid,
    pub(in crate::commands::run) version: ResourceVersion,
}

impl HandledState {
    pub(in crate::commands::run) fn of(object: &Object) -> Self {
        Self { uid: object.uid().clone(), version: object.resource_version().clone() }
    }
}

/// The number of a pending change, in the order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::commands::run) struct ChangeNumber(u64);

/// The progress of one part.
#[derive(Debug, Default)]
pub(in crate::commands::run) struct PartProgress {
    /// The version up to which every change was received; `None` before the initial state is complete.
    received: Option<ResourceVersion>,
    /// The pending changes, each with the version received before it.
    pending: BTreeMap<ChangeNumber, Option<ResourceVersion>>,
    next: u64,
    states: HashMap<Key, HandledState>,
}

impl PartProgress {
    /// Restores the progress that an earlier run saved.
    pub(in crate::commands::run) fn restored(
        version: Option<ResourceVersion>,
        states: HashMap<Key, HandledState>,
    ) -> Self {
        Self { received: version, states, ..Self::default() }
    }

    /// Returns the version up to which every change was handled.
    pub(in crate::commands::run) fn version(&self) -> Option<&ResourceVersion> {
        match self.pending.first_key_value() {
            Some((_, before)) => before.as_ref(),
            None => self.received.as_ref(),
        }
    }

    /// Returns the state in which each object was handled last.
    pub(in crate::commands::run) fn states(&self) -> &HashMap<Key, HandledState> {
        &self.states
    }

    /// Whether nothing was received or restored.
    pub(in crate::commands::run) fn is_empty(&self) -> bool {
        self.received.is_none() && self.states.is_empty()
    }

    /// Records that every change up to a version has been received.
    pub(in crate::commands::run) fn received(&mut self, version: &ResourceVersion) {
        if !version.is_unset() {
            self.received = Some(later_version(self.received.take(), version));
        }
    }

    /// Records the version of the complete initial state, which a restored server may have set back.
    pub(in crate::commands::run) fn synced(&mut self, version: &ResourceVersion) {
        if let Some(received) = self.received.clone() {
            self.gap(&received, version);
        }
        self.received(version);
    }

    /// Records a gap. The versions of a server that went back are worthless: it assigns them again.
    pub(in crate::commands::run) fn gap(&mut self, from: &ResourceVersion, to: &ResourceVersion) {
        if to.compare(from).is_ok_and(Ordering::is_lt) {
            self.received = None;
            self.pending.values_mut().for_each(|before| *before = None);
        }
    }

    /// Adds a pending change, which follows the versions received so far.
    pub(super) fn begin_change(&mut self) -> ChangeNumber {
        let number = ChangeNumber(self.next);
        self.next += 1;
        self.pending.insert(number, self.received.clone());
        number
    }

    /// Removes a pending change.
    pub(super) fn end_change(&mut self, number: ChangeNumber) {
        self.pending.remove(&number);
    }

    pub(super) fn set_state(&mut self, key: Key, state: Option<HandledState>) {
        match state {
            Some(state) => {
                self.states.insert(key, state);
            }
            None => {
                self.states.remove(&key);
            }
        }
    }
}
