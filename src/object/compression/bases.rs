//! The bases of each workload: the texts that its bodies are compressed against.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use super::prefix::Prefix;

/// Bases per workload. Objects of one workload may be in states that have little in common, such as pending, running
/// and completed pods.
const BASES_PER_WORKLOAD: usize = 3;

/// Bases whose length differs from the text's by less than this fraction of it are tried first: they are mostly in the
/// same state.
const LENGTH_TOLERANCE: usize = 64;

/// A frame is poor unless it is smaller than its text divided by this; a dictionary would do as well.
const POOR_RATIO: usize = 4;
/// After this many poor frames in a row the current text replaces a base.
const MAX_POOR_IN_A_ROW: u32 = 4;

/// After this many texts in a row without a sibling among the bases, only one base is tried.
const FEW_MISSES: u32 = 4;
/// After this many the current text also replaces a base, and again after each doubling: the workload may have no
/// siblings.
const MANY_MISSES: u32 = 16;

/// Workloads that may be added before those without objects are removed.
const SWEEP_SLACK: usize = 1024;

/// The bases of all workloads.
#[derive(Default)]
pub(super) struct Bases {
    by_workload: HashMap<u32, WorkloadBases>,
    /// The number of workloads at which those without live bases are removed.
    sweep_at: usize,
}

/// The bases of one workload.
#[derive(Default)]
pub(super) struct WorkloadBases {
    bases: [Base; BASES_PER_WORKLOAD],
    /// Consecutive texts without a sibling among the bases, and consecutive poor frames among them.
    misses: u32,
    poor: u32,
}

#[derive(Default)]
struct Base {
    /// Weak: a base lives only as long as bodies need it.
    prefix: Weak<Prefix>,
    /// The length of the base's text.
    length: usize,
}

impl Bases {
    /// Returns the bases of a workload.
    pub(super) fn for_workload(&mut self, workload: u32) -> &mut WorkloadBases {
        if self.by_workload.len() >= self.sweep_at {
            self.by_workload.retain(|_, workload| workload.bases.iter().any(Base::is_alive));
            self.sweep_at = 2 * self.by_workload.len() + SWEEP_SLACK;
            self.by_workload.shrink_to(self.sweep_at);
        }
        self.by_workload.entry(workload).or_default()
    }

    /// Returns the number of workloads with bases.
    #[cfg(test)]
    pub(super) fn workloads(&self) -> usize {
        self.by_workload.len()
    }
}

impl WorkloadBases {
    /// Returns the live bases to try for a text, best first.
    pub(super) fn candidates(&self, text: &[u8]) -> impl Iterator<Item = Arc<Prefix>> {
        let count = if self.misses < FEW_MISSES { BASES_PER_WORKLOAD } else { 1 };
        self.order(text).into_iter().filter_map(|at| self.bases[at].prefix.upgrade()).take(count)
    }

    fn order(&self, text: &[u8]) -> [usize; BASES_PER_WORKLOAD] {
        let mut order = std::array::from_fn(|at| at);
        order.sort_by_key(|at| {
            self.bases[*at].length.abs_diff(text.len()) / (text.len() / LENGTH_TOLERANCE + 1)
        });
        order
    }

    /// Returns whether a base can be added without replacing a live one.
    pub(super) fn has_room(&self) -> bool {
        !self.bases.iter().all(Base::is_alive)
    }

    /// Adds a base, in place of one that is no longer alive or else of the best candidate for its text.
    pub(super) fn add(&mut self, prefix: &Arc<Prefix>, text: &[u8]) {
        let dead = self.bases.iter().position(|base| !base.is_alive());
        let at = dead.unwrap_or_else(|| self.order(text)[0]);
        self.bases[at] = Base { prefix: Arc::downgrade(prefix), length: text.len() };
        self.poor = 0;
    }

    /// Records that a base was a sibling of a text.
    pub(super) fn record_match(&mut self) {
        (self.misses, self.poor) = (0, 0);
    }

    /// Records that no base was a sibling of a text, given its frame against the best candidate. Returns whether the
    /// text should become a base.
    pub(super) fn record_miss(&mut self, frame: &[u8], text: &[u8]) -> bool {
        self.misses = self.misses.saturating_add(1);
        self.poor = if frame.len() < text.len() / POOR_RATIO { 0 } else { self.poor.saturating_add(1) };
        let is_due = self.misses >= MANY_MISSES && self.misses.is_power_of_two();
        is_due || self.poor >= MAX_POOR_IN_A_ROW
    }
}

impl Base {
    fn is_alive(&self) -> bool {
        self.prefix.strong_count() > 0
    }
}
