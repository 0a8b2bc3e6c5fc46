//! Which text the bodies of a workload are written against.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use super::prefix::Prefix;

/// A frame is poor when it is not smaller than this part of its text: a dictionary does as well.
const POOR: usize = 4;
/// After so many poor frames in a row the base is given up for the text that is at hand.
const POOR_IN_A_ROW: u8 = 4;

/// Workloads without an object to forget before they are looked for.
const SPARE: usize = 1024;

/// The bases chosen.
#[derive(Default)]
pub(super) struct Bases {
    /// Weak: a base lives as long as bodies need it.
    chosen: HashMap<u32, Choice>,
    /// How many may be chosen until those that have gone are looked for.
    look_at: usize,
}

struct Choice {
    base: Weak<Prefix>,
    poor: u8,
}

impl Bases {
    /// The base of a workload, while some body needs it.
    pub(super) fn of(&self, workload: u32) -> Option<Arc<Prefix>> {
        self.chosen.get(&workload)?.base.upgrade()
    }

    /// From now on this is the base of the workload.
    pub(super) fn choose(&mut self, workload: u32, base: &Arc<Prefix>) {
        if self.chosen.len() >= self.look_at {
            self.chosen.retain(|_, choice| choice.base.strong_count() > 0);
            self.look_at = 2 * self.chosen.len() + SPARE;
            self.chosen.shrink_to(self.look_at);
        }
        self.chosen.insert(workload, Choice { base: Arc::downgrade(base), poor: 0 });
    }

    /// Whether a frame that was written against the base of this workload is no reason to keep that base.
    pub(super) fn is_poor(&mut self, workload: u32, frame: &[u8], text: &[u8]) -> bool {
        let Some(choice) = self.chosen.get_mut(&workload) else { return true };
        choice.poor = if frame.len() < text.len() / POOR { 0 } else { choice.poor.saturating_add(1) };
        choice.poor >= POOR_IN_A_ROW
    }

    /// How many workloads it remembers.
    #[cfg(test)]
    pub(super) fn chosen(&self) -> usize {
        self.chosen.len()
    }
}
