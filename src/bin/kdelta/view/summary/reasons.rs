//! Counts by reason.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The number of occurrences, by reason; the empty reason is an unknown one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReasonCounts(BTreeMap<String, u64>);

impl ReasonCounts {
    pub(super) fn add(&mut self, reason: &str, count: u64) {
        match self.0.get_mut(reason) {
            Some(total) => *total += count,
            None => drop(self.0.insert(reason.to_owned(), count)),
        }
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        other.0.iter().for_each(|(reason, count)| self.add(reason, *count));
    }

    /// Whether it never happened.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sum for all reasons.
    pub(crate) fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the known reasons with their counts, the most frequent first.
    pub(crate) fn by_count(&self) -> Vec<(&str, u64)> {
        let known = self.0.iter().filter(|(reason, _)| !reason.is_empty());
        let mut reasons: Vec<_> = known.map(|(reason, count)| (reason.as_str(), *count)).collect();
        reasons.sort_by_key(|(_, count)| Reverse(*count));
        reasons
    }
}
