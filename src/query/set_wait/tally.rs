//! The counts from which the state of a wait follows.

use super::rules::{Quantifier, WaitRules};

/// The counts of objects and parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tally {
    /// Objects that exist.
    pub(super) existing: usize,
    /// Objects that exist and count.
    pub(super) met: usize,
    /// Objects that exist, do not count, and can no longer meet the conditions.
    pub(super) impossible: usize,
    /// Deleted objects that count.
    pub(super) met_deleted: usize,
    /// Parts.
    pub(super) parts: usize,
    /// Parts whose initial state is incomplete.
    pub(super) unsynced: usize,
    /// Parts for one name whose object is not known to exist, and has not counted.
    pub(super) absent: usize,
    /// Parts of `absent` whose initial state is complete, so that their object does not exist.
    pub(super) missing: usize,
    /// Parts for one name.
    pub(super) named: usize,
}

impl Tally {
    /// Returns the number of objects that count, and that of all.
    pub(super) fn met_of_total(self, rules: &WaitRules) -> (usize, usize) {
        // What does not exist has ended.
        let ended = if rules.is_for_end() && !rules.wait_for_create { self.missing } else { 0 };
        (self.met + self.met_deleted + ended, self.existing + self.met_deleted + self.absent)
    }

    /// Whether the quantifier holds. `is_settled` is whether no part is missing.
    pub(super) fn holds(self, rules: &WaitRules, is_settled: bool) -> bool {
        let (met, total) = self.met_of_total(rules);
        let is_complete = is_settled && self.unsynced == 0;
        let has_objects = self.absent == 0 && total > 0;
        if rules.wait_for_create && !has_objects {
            return false;
        }
        match rules.quantifier {
            Quantifier::All => is_complete && met == total && (total > 0 || rules.is_for_end()),
            Quantifier::Any => met > 0,
            Quantifier::AtLeast(least) => met >= least,
            Quantifier::None => is_complete && met == 0,
            Quantifier::AtMost(most) => is_complete && met <= most,
        }
    }

    /// Whether the quantifier can't hold any more. `is_closed` is whether no part will be added.
    pub(super) fn is_impossible(self, rules: &WaitRules, is_closed: bool) -> bool {
        let counted = self.met + self.met_deleted;
        let least = match rules.quantifier {
            Quantifier::All => return self.impossible > 0,
            // Objects that have counted once count for ever.
            Quantifier::None => return rules.was && counted > 0,
            Quantifier::AtMost(most) => return rules.was && counted > most,
            Quantifier::Any => 1,
            Quantifier::AtLeast(least) => least,
        };
        if is_closed && self.named == self.parts {
            return self.impossible > 0 && self.parts.saturating_sub(self.impossible) < least;
        }
        rules.fail_fast
            && self.unsynced == 0
            && self.impossible > 0
            && self.impossible == self.existing
            && counted < least
    }
}
