//! The objects of a wait, by part, and their counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::member::Member;
use super::missing::MissingObject;
use super::rules::WaitRules;
use super::tally::Tally;
use crate::object::{Key, Object};

/// The members of all parts.
#[derive(Debug, Default)]
pub(super) struct ObjectSet {
    parts: BTreeMap<usize, Part>,
    members: BTreeMap<(usize, Key), Member>,
    tally: Tally,
    /// The moments at which members are evaluated again.
    rechecks: BTreeSet<(Duration, usize, Key)>,
}

/// A collection, or the object of one name.
#[derive(Debug)]
struct Part {
    is_named: bool,
    is_synced: bool,
    /// The number of members.
    live: usize,
    /// Whether the named object is gone and counts.
    has_counted: bool,
}

impl Part {
    fn is_absent(&self) -> bool {
        self.is_named && self.live == 0 && !self.has_counted
    }
}

impl ObjectSet {
    pub(super) fn tally(&self) -> Tally {
        self.tally
    }

    /// Adds a part, which has one object at most if it `is_named`.
    pub(super) fn add_part(&mut self, number: usize, is_named: bool) {
        let part = Part { is_named, is_synced: false, live: 0, has_counted: false };
        self.count(&part, true);
        if let Some(replaced) = self.parts.insert(number, part) {
            self.count(&replaced, false);
        }
    }

    /// Removes a part and its members.
    pub(super) fn remove_part(&mut self, number: usize, rules: &WaitRules) {
        let from = (number, Key::from(""));
        let members = self.members.range(from..).take_while(|((part, _), _)| *part == number);
        let keys: Vec<Key> = members.map(|((_, key), _)| Key::clone(key)).collect();
        for key in keys {
            self.remove(number, &key, rules);
        }
        if let Some(part) = self.parts.remove(&number) {
            self.count(&part, false);
        }
    }

    /// Records that the initial state of a part is complete.
    pub(super) fn mark_synced(&mut self, number: usize) {
        self.change_part(number, |part| part.is_synced = true);
    }

    /// Whether the initial state of a part is complete.
    pub(super) fn is_synced(&self, number: usize) -> bool {
        self.parts.get(&number).is_some_and(|part| part.is_synced)
    }

    /// Counts a removed member as gone.
    pub(super) fn count_gone(&mut self, number: usize) {
        self.tally.met_deleted += 1;
        self.change_part(number, |part| part.has_counted = true);
    }

    pub(super) fn insert(&mut self, number: usize, key: &Key, member: Member, rules: &WaitRules) {
        self.count_member(&member, rules, true);
        if let Some((at, _)) = &member.recheck {
            self.rechecks.insert((*at, number, Key::clone(key)));
        }
        self.members.insert((number, Key::clone(key)), member);
        self.change_part(number, |part| part.live += 1);
    }

    pub(super) fn remove(&mut self, number: usize, key: &Key, rules: &WaitRules) -> Option<Member> {
        let place = (number, Key::clone(key));
        let member = self.members.remove(&place)?;
        self.count_member(&member, rules, false);
        if let Some((at, _)) = &member.recheck {
            self.rechecks.remove(&(*at, place.0, place.1));
        }
        self.change_part(number, |part| part.live -= 1);
        Some(member)
    }

    pub(super) fn member(&self, number: usize, key: &Key) -> Option<&Member> {
        self.members.get(&(number, Key::clone(key)))
    }

    /// Returns the time since the start at which a member must be evaluated again.
    pub(super) fn next_recheck(&self) -> Option<Duration> {
        self.rechecks.first().map(|(at, ..)| *at)
    }

    /// Takes a member that is to be evaluated again at `now`: its part and its object.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<(usize, Arc<Object>)> {
        while self.next_recheck().is_some_and(|at| at <= now) {
            let (_, number, key) = self.rechecks.pop_first()?;
            let member = self.members.get(&(number, key));
            if let Some((_, object)) = member.and_then(|member| member.recheck.as_ref()) {
                return Some((number, Arc::clone(object)));
            }
        }
        None
    }

    /// Returns the first member that does not count and will not.
    pub(super) fn first_doomed(&self, rules: &WaitRules) -> Option<(usize, &Key, &Member)> {
        let mut members = self.members.iter();
        members.find(|(_, member)| member.is_doomed(rules)).map(|((part, key), member)| (*part, key, member))
    }

    /// Returns the names without an object and the members that do not count, or only the members that do.
    pub(super) fn missing<'s>(
        &'s self,
        rules: &'s WaitRules,
        counts: bool,
    ) -> impl Iterator<Item = MissingObject<'s>> {
        let absent = self.parts.iter().filter(move |(_, part)| !counts && part.is_absent());
        let absent = absent.map(|(part, _)| MissingObject { part: *part, key: None, reason: None });
        let members = self.members.iter().filter(move |(_, member)| member.counts(rules) == counts);
        let of_members = members.map(|((part, key), member)| MissingObject {
            part: *part,
            key: Some(key),
            reason: member.reason.as_deref(),
        });
        absent.chain(of_members)
    }

    /// Changes a part and the counts that follow from it.
    fn change_part(&mut self, number: usize, change: impl FnOnce(&mut Part)) {
        let Some(mut part) = self.parts.remove(&number) else { return };
        self.count(&part, false);
        change(&mut part);
        self.count(&part, true);
        self.parts.insert(number, part);
    }

    /// Adds a part to the counts, or removes it.
    fn count(&mut self, part: &Part, is_added: bool) {
        let tally = &mut self.tally;
        for (counter, is_counted) in [
            (&mut tally.parts, true),
            (&mut tally.named, part.is_named),
            (&mut tally.unsynced, !part.is_synced),
            (&mut tally.absent, part.is_absent()),
            (&mut tally.missing, part.is_absent() && part.is_synced),
        ] {
            add(counter, is_counted, is_added);
        }
    }

    /// Adds a member to the counts, or removes it.
    fn count_member(&mut self, member: &Member, rules: &WaitRules, is_added: bool) {
        add(&mut self.tally.existing, true, is_added);
        add(&mut self.tally.met, member.counts(rules), is_added);
        add(&mut self.tally.impossible, member.is_doomed(rules), is_added);
    }
}

fn add(counter: &mut usize, is_counted: bool, is_added: bool) {
    if is_added {
        *counter += usize::from(is_counted);
    } else {
        *counter -= usize::from(is_counted);
    }
}
