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

/// The number of a change that waits or is being run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::commands::run) struct Ticket(u64);

/// The progress of one part.
#[derive(Debug, Default)]
pub(in crate::commands::run) struct PartProgress {
    /// The version up to which every change was received; `None` before the initial state is complete.
    received: Option<ResourceVersion>,
    /// The changes that are not finished, each with the version received before it.
    open: BTreeMap<Ticket, Option<ResourceVersion>>,
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
        match self.open.first_key_value() {
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
            self.open.values_mut().for_each(|before| *before = None);
        }
    }

    pub(super) fn open(&mut self) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.open.insert(ticket, self.received.clone());
        ticket
    }

    pub(super) fn close(&mut self, ticket: Ticket) {
        self.open.remove(&ticket);
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
