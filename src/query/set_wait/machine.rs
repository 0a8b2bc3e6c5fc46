//! The state machine of a wait: follows the changes of a set of objects, and decides when the wait is over.

use std::sync::Arc;
use std::time::Duration;

use super::condition::WaitCondition;
use super::evaluation::earlier;
use super::member::Member;
use super::missing::MissingObject;
use super::outcome::{DecidingObject, WaitFailure, WaitMet, WaitState};
use super::rules::WaitRules;
use super::set::ObjectSet;
use super::subject::{Moment, Subject};
use crate::object::{Key, Object};

/// Decides when a wait is over.
///
/// The caller reports the parts of the set, the changes of their objects and the end of their initial states, each with
/// its moment, and calls [`WaitMachine::advance`] at [`WaitMachine::next_check`]. Objects are dropped once they are
/// evaluated, except for the last one that counts and those that must be evaluated again as time passes. After the end, calls have no effect.
#[derive(Debug)]
pub struct WaitMachine {
    rules: WaitRules,
    set: ObjectSet,
    /// Whether no part is missing, and whether none will be added.
    is_settled: bool,
    is_closed: bool,
    /// The last object that was observed to count, with its part: it decided if no change did, as when the initial state
    /// already holds.
    last_met: Option<(usize, Arc<Object>)>,
    /// Set while the quantifier holds.
    held: Option<Hold>,
    state: WaitState,
}

/// The change since which the quantifier holds.
#[derive(Debug)]
struct Hold {
    since: Moment,
    by: Option<DecidingObject>,
    branches: Vec<Option<String>>,
}

impl WaitMachine {
    /// Creates the machine, without any part.
    #[must_use]
    pub fn new(rules: WaitRules) -> Self {
        Self {
            rules,
            set: ObjectSet::default(),
            is_settled: false,
            is_closed: false,
            last_met: None,
            held: None,
            state: WaitState::Pending,
        }
    }

    /// Returns the rules.
    #[must_use]
    pub fn rules(&self) -> &WaitRules {
        &self.rules
    }

    /// Returns the state of the wait.
    #[must_use]
    pub fn state(&self) -> &WaitState {
        &self.state
    }

    /// Returns the time since the start at which [`WaitMachine::advance`] must be called.
    #[must_use]
    pub fn next_check(&self) -> Option<Duration> {
        if self.state != WaitState::Pending {
            return None;
        }
        let stable = self.held.as_ref().map(|held| held.since.elapsed + self.rules.stable);
        earlier(self.set.next_recheck(), stable)
    }

    /// Returns the number of objects that count, and that of all, including names without an object.
    #[must_use]
    pub fn progress(&self) -> (usize, usize) {
        self.set.tally().met_of_total(&self.rules)
    }

    /// Returns the time since the start since which the quantifier holds.
    #[must_use]
    pub fn held_since(&self) -> Option<Duration> {
        self.held.as_ref().map(|held| held.since.elapsed)
    }

    /// Returns the objects that keep the wait from its end: those that do not count, or, if few or none may count, those
    /// that do.
    pub fn missing(&self) -> impl Iterator<Item = MissingObject<'_>> {
        self.set.missing(&self.rules, !self.rules.quantifier.is_growing())
    }

    /// Reports whether no part is missing for now, and whether none will be added later.
    pub fn set_parts_complete(&mut self, is_settled: bool, is_closed: bool, moment: Moment) {
        (self.is_settled, self.is_closed) = (is_settled, is_closed);
        self.settle(moment, None);
    }

    /// Adds a part, which has one object at most if it `is_named`.
    pub fn add_part(&mut self, number: usize, is_named: bool) {
        self.set.add_part(number, is_named);
    }

    /// Removes a part and its objects, which do not count as gone.
    pub fn remove_part(&mut self, number: usize, moment: Moment) {
        self.set.remove_part(number, &self.rules);
        self.settle(moment, None);
    }

    /// Reports that the initial state of a part is complete.
    pub fn synced(&mut self, number: usize, moment: Moment) {
        self.set.mark_synced(number);
        self.settle(moment, None);
    }

    /// Reports that states may have been missed: the conditions must hold for the whole interval from now on.
    pub fn gap(&mut self, moment: Moment) {
        if let Some(held) = &mut self.held {
            held.since = moment;
        }
    }

    /// Reports a new object or a new state of one.
    pub fn observe(&mut self, number: usize, object: &Arc<Object>, is_initial: bool, moment: Moment) {
        if self.state != WaitState::Pending {
            return;
        }
        let mut member = match self.set.remove(number, object.key(), &self.rules) {
            Some(member) if member.uid == *object.uid() => member,
            _ if self.is_outside(number, is_initial) => return,
            _ => Member::new(object, is_initial, moment),
        };
        member.update(&self.rules, object, moment);
        let subject = member.subject(object, moment);
        let change = Change { part: number, subject };
        if self.rules.quantifier.is_growing() && member.counts(&self.rules) {
            self.last_met = Some((number, Arc::clone(object)));
        }
        self.set.insert(number, object.key(), member, &self.rules);
        self.fail_on(&change);
        self.settle(moment, Some(&change));
    }

    /// Reports that an object is gone, with its last known state.
    pub fn delete(&mut self, number: usize, last: &Object, moment: Moment) {
        if self.state != WaitState::Pending {
            return;
        }
        let Some(member) = self.set.remove(number, last.key(), &self.rules) else { return };
        if member.counts_gone(&self.rules, last, moment) {
            self.set.count_gone(number);
        }
        let change = Change { part: number, subject: member.subject(last, moment).gone() };
        self.fail_on(&change);
        self.settle(moment, Some(&change));
    }

    /// Reports the time: evaluates again what depends on it.
    pub fn advance(&mut self, moment: Moment) {
        while self.state == WaitState::Pending
            && let Some((number, object)) = self.set.take_due(moment.elapsed)
        {
            self.observe(number, &object, false, moment);
        }
        self.settle(moment, None);
    }

    /// Whether a new object does not belong to the set: a wait for the end of objects is for those of the initial state.
    fn is_outside(&self, number: usize, is_initial: bool) -> bool {
        let is_later = !is_initial && self.set.is_synced(number);
        self.rules.is_for_end() && !self.rules.wait_for_create && is_later
    }

    /// Ends the wait if the object of a change meets a condition of `fail_on`.
    fn fail_on(&mut self, change: &Change<'_>) {
        let met = self.rules.fail_on.iter().find(|condition| condition.evaluate(&change.subject).is_true());
        if let Some(condition) = met {
            let reason = format!("{} is true", condition.text());
            let (at, by) = (change.subject.moment, Some(change.deciding_object()));
            self.state = WaitState::Failed(WaitFailure { at, by, reason });
        }
    }

    /// Decides whether the wait is over after a change.
    fn settle(&mut self, moment: Moment, change: Option<&Change<'_>>) {
        if self.state != WaitState::Pending {
            return;
        }
        if self.set.tally().holds(&self.rules, self.is_settled) {
            let held = self.held.take().unwrap_or_else(|| self.hold(moment, change));
            if moment.elapsed.saturating_sub(held.since.elapsed) >= self.rules.stable {
                let (met, total) = self.set.tally().met_of_total(&self.rules);
                let Hold { since, by, branches } = held;
                self.state = WaitState::Met(WaitMet { since, at: moment, by, branches, met, total });
            } else {
                self.held = Some(held);
            }
            return;
        }
        self.held = None;
        if self.set.tally().is_impossible(&self.rules, self.is_closed) {
            self.state = WaitState::Failed(self.failure(moment, change));
        }
    }

    /// Returns the beginning of the time in which the quantifier holds.
    fn hold(&self, since: Moment, change: Option<&Change<'_>>) -> Hold {
        match change {
            Some(change) => Hold::new(since, change, &self.rules.conditions),
            None => match self.last_met(since) {
                Some(last) => Hold::new(since, &last, &self.rules.conditions),
                None => Hold { since, by: None, branches: vec![None; self.rules.conditions.len()] },
            },
        }
    }

    /// Returns the last object that was observed to count, if that is still its state.
    fn last_met(&self, moment: Moment) -> Option<Change<'_>> {
        let (part, object) = self.last_met.as_ref()?;
        let member = self.set.member(*part, object.key())?;
        let is_its_state = member.uid == *object.uid() && member.version == *object.resource_version();
        (is_its_state && member.counts(&self.rules))
            .then(|| Change { part: *part, subject: member.subject(object, moment) })
    }

    /// Returns the end of a wait that has become impossible.
    fn failure(&self, at: Moment, change: Option<&Change<'_>>) -> WaitFailure {
        match self.set.first_doomed(&self.rules) {
            Some((part, key, member)) => {
                let (uid, version) = (member.uid.clone(), member.version.clone());
                let by = DecidingObject { part, key: Key::clone(key), uid, version, is_gone: false };
                WaitFailure {
                    at,
                    by: Some(by),
                    reason: member.doom.as_deref().unwrap_or_default().to_owned(),
                }
            }
            None => WaitFailure {
                at,
                by: change.map(Change::deciding_object),
                reason: "more objects than allowed have met the condition".to_owned(),
            },
        }
    }
}

/// A change of an object.
struct Change<'o> {
    part: usize,
    subject: Subject<'o>,
}

impl Change<'_> {
    fn deciding_object(&self) -> DecidingObject {
        let object = self.subject.object();
        DecidingObject {
            part: self.part,
            key: Key::clone(object.key()),
            uid: object.uid().clone(),
            version: object.resource_version().clone(),
            is_gone: self.subject.is_gone,
        }
    }
}

impl Hold {
    fn new(since: Moment, change: &Change<'_>, conditions: &[Arc<WaitCondition>]) -> Self {
        let branches =
            conditions.iter().map(|condition| condition.branch(&change.subject).map(str::to_owned));
        Self { since, by: Some(change.deciding_object()), branches: branches.collect() }
    }
}
