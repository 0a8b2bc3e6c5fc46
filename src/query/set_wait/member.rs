//! An object of the set, without its body.

use std::sync::Arc;
use std::time::Duration;

use super::condition::WaitCondition;
use super::evaluation::{Evaluation, Truth, earlier};
use super::impossible::{EndState, broken_reason};
use super::missing::WaitReason;
use super::rules::WaitRules;
use super::subject::{Moment, Subject};
use crate::object::{Object, ResourceVersion, Uid};

/// An object of the set: the results for its last state.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) uid: Uid,
    pub(super) version: ResourceVersion,
    first_seen: Duration,
    is_initial: bool,
    /// Whether the last state meets all conditions.
    meets: bool,
    /// Whether any state has met all conditions.
    has_met: bool,
    /// Why the object will not meet them, or is not expected to.
    pub(super) doom: Option<Box<str>>,
    pub(super) reason: Option<Box<WaitReason>>,
    /// The object, only if it must be evaluated again without a change, and the time since the start at which.
    pub(super) recheck: Option<(Duration, Arc<Object>)>,
}

impl Member {
    /// Returns a new member, which is still to be evaluated.
    pub(super) fn new(object: &Object, is_initial: bool, moment: Moment) -> Self {
        Self {
            uid: object.uid().clone(),
            version: object.resource_version().clone(),
            first_seen: moment.elapsed,
            is_initial,
            meets: false,
            has_met: false,
            doom: None,
            reason: None,
            recheck: None,
        }
    }

    /// Returns the subject for a state of the object.
    pub(super) fn subject<'o>(&self, object: &'o Object, moment: Moment) -> Subject<'o> {
        Subject::new(object, self.first_seen, self.is_initial, moment)
    }

    /// Whether the object counts.
    pub(super) fn counts(&self, rules: &WaitRules) -> bool {
        if rules.was { self.has_met } else { self.meets }
    }

    /// Whether the object does not count and will not.
    pub(super) fn is_doomed(&self, rules: &WaitRules) -> bool {
        self.doom.is_some() && !self.counts(rules)
    }

    /// Replaces the results by those for a state, on which all conditions are evaluated.
    pub(super) fn update(&mut self, rules: &WaitRules, object: &Arc<Object>, moment: Moment) {
        let subject = self.subject(object, moment);
        let Evaluation { truth, until } = evaluate(&rules.conditions, &subject);
        let of_failures = Evaluation::joined(rules.fail_on.iter().map(|each| each.evaluate(&subject)), true);
        self.version = object.resource_version().clone();
        self.meets = truth == Truth::True;
        self.has_met |= self.meets;
        let until = earlier(until, of_failures.until);
        self.recheck = until.map(|until| (until, Arc::clone(object)));
        (self.doom, self.reason) = (None, None);
        if !self.counts(rules) {
            let doom = if rules.quantifier.is_growing() { doom(truth, rules, &subject) } else { None };
            self.doom = doom.map(Into::into);
            self.reason = Some(Box::new(WaitReason::of(&subject, &rules.conditions)));
        }
    }

    /// Whether an object that has just gone counts.
    pub(super) fn counts_gone(&self, rules: &WaitRules, last: &Object, moment: Moment) -> bool {
        let meets = || {
            let subject = self.subject(last, moment).gone();
            rules.counts_gone() && evaluate(&rules.conditions, &subject).is_true()
        };
        (rules.was && self.has_met) || meets()
    }
}

/// Returns the result of conditions, all of which must hold.
fn evaluate(conditions: &[Arc<WaitCondition>], subject: &Subject<'_>) -> Evaluation {
    Evaluation::joined(conditions.iter().map(|condition| condition.evaluate(subject)), false)
}

/// Returns why the object will not meet the conditions.
fn doom(truth: Truth, rules: &WaitRules, subject: &Subject<'_>) -> Option<String> {
    let finally = match truth {
        Truth::Never => EndState::of(subject).and_then(|end| end.final_reason(subject)),
        _ => None,
    };
    finally.or_else(|| if rules.fail_fast { broken_reason(subject) } else { None })
}
