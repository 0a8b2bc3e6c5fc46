//! Which text the bodies of a workload are written against.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use zstd::zstd_safe::CDict;

use super::prefix::Prefix;
use super::reader::unpack;
use super::{Against, LEVEL, Writer};

/// Bases whose text is at hand. Lists come sorted by name, so siblings come in runs, and a few runs may be interleaved
/// by live events. A text that is digested takes about 85 KB.
const AT_HAND: usize = 8;

/// A frame is poor when it is not smaller than this part of its text: a dictionary does as well.
const POOR: usize = 4;
/// After so many poor frames in a row the base is given up for the text that is at hand.
const POOR_IN_A_ROW: u8 = 4;

/// Workloads without an object to forget before they are looked for.
const SPARE: usize = 1024;

/// The bases chosen, and the texts of those used last.
#[derive(Default)]
pub(super) struct Bases {
    /// Weak: a base lives as long as bodies need it.
    chosen: HashMap<u32, Choice>,
    /// How many may be chosen until those that have gone are looked for.
    look_at: usize,
    /// The most recent last.
    at_hand: Vec<AtHand>,
}

struct Choice {
    base: Weak<Prefix>,
    poor: u8,
}

struct AtHand {
    /// Weak: to be at hand keeps no base alive.
    base: Weak<Prefix>,
    text: Vec<u8>,
    /// From the second use on: to digest a text costs as much as to write two bodies.
    digested: Option<CDict<'static>>,
}

impl Bases {
    /// The base of a workload, while some body needs it.
    pub(super) fn of(&self, workload: u32) -> Option<Arc<Prefix>> {
        self.chosen.get(&workload)?.base.upgrade()
    }

    /// From now on this is the base of the workload.
    pub(super) fn choose(&mut self, workload: u32, base: &Arc<Prefix>, text: &[u8]) {
        if self.chosen.len() >= self.look_at {
            self.chosen.retain(|_, choice| choice.base.strong_count() > 0);
            self.look_at = 2 * self.chosen.len() + SPARE;
            self.chosen.shrink_to(self.look_at);
        }
        self.chosen.insert(workload, Choice { base: Arc::downgrade(base), poor: 0 });
        self.put_at_hand(AtHand { base: Arc::downgrade(base), text: text.to_vec(), digested: None });
    }

    /// Whether a frame that was written against the base of this workload is no reason to keep that base.
    pub(super) fn is_poor(&mut self, workload: u32, frame: &[u8], text: &[u8]) -> bool {
        let Some(choice) = self.chosen.get_mut(&workload) else { return true };
        choice.poor = if frame.len() < text.len() / POOR { 0 } else { choice.poor.saturating_add(1) };
        choice.poor >= POOR_IN_A_ROW
    }

    /// The frame of a text written against a base.
    pub(super) fn write<'w>(
        &mut self,
        writer: &'w mut Writer,
        base: &Arc<Prefix>,
        text: &[u8],
    ) -> Option<&'w [u8]> {
        let found =
            self.at_hand.iter().position(|at_hand| std::ptr::eq(at_hand.base.as_ptr(), Arc::as_ptr(base)));
        let Some(at) = found else {
            let base_text = unpack(&[], base).ok()?;
            let frame = writer.write(text, &Against::Text(&base_text));
            self.put_at_hand(AtHand { base: Arc::downgrade(base), text: base_text, digested: None });
            return frame;
        };
        self.at_hand[at..].rotate_left(1);
        let at_hand = self.at_hand.last_mut()?;
        if at_hand.digested.is_none() {
            at_hand.digested = CDict::try_create(&at_hand.text, LEVEL);
        }
        let against = match &at_hand.digested {
            Some(digested) => Against::Digested(digested),
            None => Against::Text(&at_hand.text),
        };
        writer.write(text, &against)
    }

    /// How many workloads it remembers.
    #[cfg(test)]
    pub(super) fn chosen(&self) -> usize {
        self.chosen.len()
    }

    fn put_at_hand(&mut self, at_hand: AtHand) {
        if self.at_hand.len() == AT_HAND {
            self.at_hand.remove(0);
        }
        self.at_hand.push(at_hand);
    }
}
