//! The gaps after which the differences of a list are being recorded.
//!
//! A recorder may be killed before all of them are: the next one compares its list with that state, and records the rest after
//! a gap of its own. Until then, no recorded state of the collection is complete: both are one gap.

use std::collections::HashMap;

use crate::recording::position::Watch;

/// A gap whose differences are not known to be complete.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnfinishedGap<T> {
    /// The versions of its mark, if they are numbers.
    pub(super) versions: Option<(u64, u64)>,
    /// The number of its mark in the recording.
    pub(super) number: u64,
    /// The place or the times of the gap, and of those that it continues.
    pub(super) extent: T,
}

/// The unfinished gaps of all collections, at most one of each. A named object has none, because its gap has one difference at
/// most.
#[derive(Debug)]
pub(super) struct UnfinishedGaps<T>(HashMap<Watch, UnfinishedGap<T>>);

impl<T> Default for UnfinishedGaps<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> UnfinishedGaps<T> {
    /// Removes the gap before another one of a collection. Returns it if that one continues it: the next list was compared with a
    /// state before the list of the first one.
    pub(super) fn take_continued(
        &mut self,
        watch: &Watch,
        versions: Option<(u64, u64)>,
    ) -> Option<UnfinishedGap<T>> {
        let earlier = self.0.remove(watch)?;
        let (first, next) = earlier.versions.zip(versions)?;
        // A server that was restored from a backup assigns its versions again: they have no order.
        let are_ordered = [first, next].iter().all(|(from, to)| from <= to);
        (are_ordered && next.0 < first.1).then_some(earlier)
    }

    /// Adds a gap of a collection.
    pub(super) fn insert(&mut self, watch: &Watch, gap: UnfinishedGap<T>) {
        self.0.insert(watch.clone(), gap);
    }

    /// Records that the differences of the collections that a watch includes are complete.
    pub(super) fn end(&mut self, watch: &Watch) {
        if !self.0.is_empty() {
            self.0.retain(|of, _| !(watch.is_of(&of.resource) && watch.includes_names_of(of)));
        }
    }

    /// Keeps those for which a predicate of the watch and the number of the mark returns `true`.
    pub(super) fn retain(&mut self, mut is_kept: impl FnMut(&Watch, u64) -> bool) {
        self.0.retain(|watch, gap| is_kept(watch, gap.number));
    }

    pub(super) fn get(&self, watch: &Watch) -> Option<&UnfinishedGap<T>> {
        self.0.get(watch)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&Watch, &UnfinishedGap<T>)> {
        self.0.iter()
    }
}
