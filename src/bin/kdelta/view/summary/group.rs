//! A group of a summary: the changes of an owner and of everything below it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::owners::RootName;
use super::reasons::ReasonCounts;
use super::track::{Track, add_distinct};

/// The maximum number of changed fields that are shown of a group.
const MAX_FIELDS: usize = 3;

/// The importance of a group, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Importance {
    /// Something is unready or has failed at the end.
    Unready,
    /// The owner, or an object without one, vanished.
    Vanished,
    /// Something was unready in between.
    Recovered,
    /// A container restarted.
    Restarted,
    /// A specification or other content changed.
    Changed,
    /// Objects appeared, or owned ones vanished.
    Appeared,
    /// There were warnings.
    Warned,
    /// Nothing but updates of a status or of metadata.
    Updated,
}

impl Importance {
    /// Returns the text in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Unready => "unready",
            Self::Vanished => "vanished",
            Self::Recovered => "recovered",
            Self::Restarted => "restarted",
            Self::Changed => "changed",
            Self::Appeared => "appeared",
            Self::Warned => "warned",
            Self::Updated => "updated",
        }
    }
}

/// The changes of an owner and of everything below it. Counts are of objects unless they say otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct ChangeGroup {
    /// The API group of the owner.
    pub(crate) group: String,
    pub(crate) kind: String,
    /// Empty for cluster-scoped owners.
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// Whether the owner itself appeared, vanished, or was created again.
    pub(crate) root_appeared: bool,
    pub(crate) root_vanished: bool,
    pub(crate) root_recreated: bool,
    /// Whether it is unready at the end.
    pub(crate) root_unready: bool,
    /// The changed objects.
    pub(crate) objects: u64,
    /// Their states.
    pub(crate) changes: u64,
    /// Unready at the end, by plural.
    pub(crate) unready: BTreeMap<String, u64>,
    /// The reasons of the unready objects.
    pub(crate) unready_reasons: ReasonCounts,
    /// Losses of readiness of objects that are ready or deleted at the end, by reason.
    pub(crate) recovered: ReasonCounts,
    /// Restarts of containers, by the end of the previous run.
    pub(crate) restarts: ReasonCounts,
    /// The changes of contents: specifications, data, rules.
    pub(crate) content_changes: u64,
    /// The first changed fields of contents, escaped.
    pub(crate) fields: Vec<String>,
    /// Owned objects that appeared and vanished, by plural.
    pub(crate) appeared: BTreeMap<String, u64>,
    pub(crate) vanished: BTreeMap<String, u64>,
    /// Warning events, by reason.
    pub(crate) warnings: ReasonCounts,
}

impl ChangeGroup {
    pub(super) fn new(root: &RootName) -> Self {
        let RootName { group, kind, namespace, name } = root.clone();
        Self {
            group,
            kind,
            namespace,
            name,
            root_appeared: false,
            root_vanished: false,
            root_recreated: false,
            root_unready: false,
            objects: 0,
            changes: 0,
            unready: BTreeMap::new(),
            unready_reasons: ReasonCounts::default(),
            recovered: ReasonCounts::default(),
            restarts: ReasonCounts::default(),
            content_changes: 0,
            fields: Vec::new(),
            appeared: BTreeMap::new(),
            vanished: BTreeMap::new(),
            warnings: ReasonCounts::default(),
        }
    }

    /// Adds an object of the group. `end` is the end of the range.
    pub(super) fn add(&mut self, track: &Track, end: Timestamp) {
        let plural = || track.resource.resource.clone();
        self.objects += 1;
        self.changes += track.changes;
        self.restarts.add_all(&track.restarts);
        if track.is_unready(end) {
            *self.unready.entry(plural()).or_default() += 1;
            self.unready_reasons.add(track.state.health.unready_reason(), 1);
            self.root_unready |= self.is_root(track);
        } else {
            self.recovered.add_all(&track.unready);
        }
        self.content_changes += track.content_changes;
        // The owner's fields come first: controllers derive the changes of owned objects from them.
        if self.is_root(track) {
            let of_owned = std::mem::replace(&mut self.fields, track.fields.clone());
            add_distinct(&mut self.fields, of_owned, MAX_FIELDS);
            self.root_appeared |= !track.existed;
            self.root_vanished |= !track.exists;
            self.root_recreated |= track.recreated > 0 && track.exists;
        } else {
            add_distinct(&mut self.fields, track.fields.iter().cloned(), MAX_FIELDS);
            if !track.existed {
                *self.appeared.entry(plural()).or_default() += 1;
            }
            if !track.exists {
                *self.vanished.entry(plural()).or_default() += 1;
            }
        }
    }

    /// Adds a warning about an object of the group.
    pub(super) fn warn(&mut self, reason: &str, count: u64) {
        self.warnings.add(reason, count);
    }

    fn is_root(&self, track: &Track) -> bool {
        *track.name == *self.name
            && track.resource.kind == self.kind
            && track.resource.group == self.group
            && *track.namespace == *self.namespace
    }

    /// Returns the importance.
    pub(crate) fn importance(&self) -> Importance {
        match () {
            () if !self.unready.is_empty() => Importance::Unready,
            () if self.root_vanished && !self.root_appeared => Importance::Vanished,
            () if !self.recovered.is_empty() => Importance::Recovered,
            () if !self.restarts.is_empty() => Importance::Restarted,
            () if self.content_changes > 0 => Importance::Changed,
            () if self.root_appeared || self.root_recreated => Importance::Appeared,
            () if !self.appeared.is_empty() || !self.vanished.is_empty() => Importance::Appeared,
            () if !self.warnings.is_empty() => Importance::Warned,
            () => Importance::Updated,
        }
    }

    /// Returns the number of occurrences by which groups of the same importance are sorted.
    fn weight(&self) -> u64 {
        let sum = |counts: &BTreeMap<String, u64>| counts.values().sum::<u64>();
        sum(&self.unready)
            + self.recovered.total()
            + self.restarts.total()
            + self.content_changes
            + sum(&self.appeared)
            + sum(&self.vanished)
    }

    /// Returns the key by which groups are sorted: importance, number of occurrences, number of changes, name.
    pub(super) fn order(&self) -> impl Ord + use<> {
        let name = (self.namespace.clone(), self.kind.clone(), self.name.clone());
        (self.importance(), Reverse(self.weight()), Reverse(self.changes), name)
    }
}
