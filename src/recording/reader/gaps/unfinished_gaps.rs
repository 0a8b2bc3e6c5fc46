//! The gaps after which the differences of a list are being recorded.
//!
//! A recorder may be killed before all of them are: the next one compares its list with that state, and records the rest after
//! a gap of its own. Until then, no recorded state of the collection is complete: both are one gap.

use std::collections::HashMap;

use super::observed_type::is_of;
use crate::recording::position::Watch;

/// A gap whose differences are not known to be complete.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnfinishedGap {
    /// In Unix milliseconds.
    pub(super) start: i64,
    /// The time of its mark, in Unix milliseconds.
    pub(super) received: i64,
    /// The number of its mark.
    pub(super) number: u64,
    pub(super) versions: Option<(u64, u64)>,
}

impl UnfinishedGap {
    /// Returns whether the next list of the watch is compared with a state before the list of this gap.
    fn continues_in(&self, next: &Self) -> bool {
        self.versions.zip(next.versions).is_some_and(|((_, to), (from, _))| from < to)
    }

    /// Returns the gap from the start of an earlier one.
    fn after(self, earlier: Self) -> Self {
        let versions = earlier.versions.zip(self.versions);
        let versions = versions.map(|((before, _), (from, to))| (before.min(from), to));
        Self { start: earlier.start.min(self.start), versions, ..self }
    }
}

/// Those of all collections. A named object has one difference at most.
#[derive(Debug, Default)]
pub(super) struct UnfinishedGaps(HashMap<Watch, UnfinishedGap>);

impl UnfinishedGaps {
    /// Records a gap. If it continues an earlier one, returns both as one, and the time of the earlier mark.
    pub(super) fn begin(&mut self, watch: &Watch, gap: UnfinishedGap) -> (UnfinishedGap, Option<i64>) {
        if watch.name.is_some() {
            return (gap, None);
        }
        let earlier = self.0.get(watch).filter(|earlier| earlier.continues_in(&gap)).copied();
        let gap = earlier.map_or(gap, |earlier| gap.after(earlier));
        self.0.insert(watch.clone(), gap);
        (gap, earlier.map(|earlier| earlier.received))
    }

    /// Records that the differences of the collections that a watch includes are complete.
    pub(super) fn end(&mut self, watch: &Watch) {
        if !self.0.is_empty() {
            self.0.retain(|of, _| !(is_of(watch, &of.resource) && watch.includes_names_of(of)));
        }
    }

    /// Keeps those for which a predicate of the watch and the number of the mark returns `true`.
    pub(super) fn retain(&mut self, mut is_kept: impl FnMut(&Watch, u64) -> bool) {
        self.0.retain(|watch, gap| is_kept(watch, gap.number));
    }

    pub(super) fn get(&self, watch: &Watch) -> Option<&UnfinishedGap> {
        self.0.get(watch)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&Watch, &UnfinishedGap)> {
        self.0.iter()
    }
}
