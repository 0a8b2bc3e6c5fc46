//! Which texts the bodies of a workload are written against.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use super::prefix::Prefix;

/// Bases of a workload at a time: its objects may be in states that have little in common, as pods that wait, run and
/// have ended.
const STATES: usize = 3;

/// A base serves texts of its length first, as far as that is the same but for this part: those are mostly in its state.
const SAME_LENGTH: usize = 64;

/// A frame is poor when it is not smaller than this part of its text: a dictionary does as well.
const POOR: usize = 4;
/// After so many poor frames in a row a base is given up for the text that is at hand.
const POOR_IN_A_ROW: u32 = 4;

/// After so many texts in a row that none of the bases was a sibling of, one base only is tried.
const FEW_STRANGERS: u32 = 4;
/// After so many a base is given up too, and after twice as many the next: there may be no siblings at all.
const MANY_STRANGERS: u32 = 16;

/// Workloads without an object to forget before they are looked for.
const SPARE: usize = 1024;

/// The bases chosen.
#[derive(Default)]
pub(super) struct Bases {
    chosen: HashMap<u32, Choice>,
    /// How many may be chosen until those that have gone are looked for.
    look_at: usize,
}

/// The bases of one workload.
#[derive(Default)]
pub(super) struct Choice {
    bases: [Base; STATES],
    /// Texts in a row without a sibling among the bases, and how many of them had poor frames, in a row.
    strangers: u32,
    poor: u32,
}

#[derive(Default)]
struct Base {
    /// Weak: a base lives as long as bodies need it.
    prefix: Weak<Prefix>,
    /// The length of its text.
    length: usize,
}

impl Bases {
    /// The bases of a workload.
    pub(super) fn of(&mut self, workload: u32) -> &mut Choice {
        if self.chosen.len() >= self.look_at {
            self.chosen.retain(|_, choice| choice.bases.iter().any(Base::lives));
            self.look_at = 2 * self.chosen.len() + SPARE;
            self.chosen.shrink_to(self.look_at);
        }
        self.chosen.entry(workload).or_default()
    }

    /// How many workloads it remembers.
    #[cfg(test)]
    pub(super) fn chosen(&self) -> usize {
        self.chosen.len()
    }
}

impl Choice {
    /// The bases to try for a text in turn, of those that some body needs.
    pub(super) fn for_text(&self, text: &[u8]) -> impl Iterator<Item = Arc<Prefix>> {
        let most = if self.strangers < FEW_STRANGERS { STATES } else { 1 };
        self.order(text).into_iter().filter_map(|at| self.bases[at].prefix.upgrade()).take(most)
    }

    fn order(&self, text: &[u8]) -> [usize; STATES] {
        let mut order = std::array::from_fn(|at| at);
        order.sort_by_key(|at| self.bases[*at].length.abs_diff(text.len()) / (text.len() / SAME_LENGTH + 1));
        order
    }

    /// Whether another base would push out none.
    pub(super) fn has_room(&self) -> bool {
        !self.bases.iter().all(Base::lives)
    }

    /// From now on this is a base of the workload, in place of one that is gone, else of the first for its text.
    pub(super) fn add(&mut self, prefix: &Arc<Prefix>, text: &[u8]) {
        let gone = self.bases.iter().position(|base| !base.lives());
        let at = gone.unwrap_or_else(|| self.order(text)[0]);
        self.bases[at] = Base { prefix: Arc::downgrade(prefix), length: text.len() };
        self.poor = 0;
    }

    /// One of the bases is a sibling of a text.
    pub(super) fn met_sibling(&mut self) {
        (self.strangers, self.poor) = (0, 0);
    }

    /// None is; whether the text had better be a base, when this frame is what was gained from the first for it.
    pub(super) fn met_stranger(&mut self, frame: &[u8], text: &[u8]) -> bool {
        self.strangers = self.strangers.saturating_add(1);
        self.poor = if frame.len() < text.len() / POOR { 0 } else { self.poor.saturating_add(1) };
        let many = self.strangers >= MANY_STRANGERS && self.strangers.is_power_of_two();
        many || self.poor >= POOR_IN_A_ROW
    }
}

impl Base {
    fn lives(&self) -> bool {
        self.prefix.strong_count() > 0
    }
}
