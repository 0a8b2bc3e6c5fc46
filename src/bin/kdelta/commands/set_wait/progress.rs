//! The progress of a wait: the state machine and the parts whose events it receives.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kdelta::object::Object;
use kdelta::query::{Moment, WaitMachine, WaitRules, WaitState};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::session::Part;

/// The state of a wait, shared by the watches that report to it and the loop that decides.
pub(super) type SharedProgress = Rc<RefCell<WaitProgress>>;

/// The state of a wait.
pub(super) struct WaitProgress {
    pub(super) machine: WaitMachine,
    /// The parts by number. Numbers are never reused. They follow the order of the targets, not of their answers: messages
    /// name the objects in this order.
    parts: BTreeMap<usize, Part>,
    /// The targets, each watched by a loop of its own.
    targets: Vec<WaitTarget>,
    /// Whether no part can be added.
    is_closed: bool,
    clock: WaitClock,
    /// Notified when the wait is over, or must be checked at another time.
    changed: Rc<Notify>,
}

/// The clock of a wait.
enum WaitClock {
    /// The system clock, and the time since the start of the wait.
    Live(Instant),
    /// The time in a recording, and the time since the beginning of the range.
    Recorded { beginning: Timestamp, now: Timestamp },
}

/// Some of the requested objects.
pub(super) struct WaitTarget {
    /// The words.
    pub(super) title: String,
    /// Whether the initial state of all of its parts is complete.
    pub(super) is_complete: bool,
    /// The number of parts that were added; none before its types are known.
    added_parts: usize,
}

impl WaitTarget {
    /// Whether its types are known.
    pub(super) fn has_parts(&self) -> bool {
        self.added_parts > 0
    }
}

impl WaitProgress {
    /// Creates the state of a wait for targets with these titles.
    pub(super) fn new(rules: WaitRules, titles: Vec<String>, is_closed: bool) -> Self {
        let target = |title| WaitTarget { title, is_complete: false, added_parts: 0 };
        Self {
            machine: WaitMachine::new(rules),
            parts: BTreeMap::new(),
            targets: titles.into_iter().map(target).collect(),
            is_closed,
            clock: WaitClock::Live(Instant::now()),
            changed: Rc::default(),
        }
    }

    pub(super) fn now(&self) -> Moment {
        let wall = match self.clock {
            WaitClock::Live(_) => Timestamp::now(),
            WaitClock::Recorded { now, .. } => now,
        };
        Moment { wall, elapsed: self.elapsed() }
    }

    /// Switches to the clock of a recording whose range begins at this time.
    pub(super) fn begin_at(&mut self, beginning: Timestamp) {
        self.clock = WaitClock::Recorded { beginning, now: beginning };
    }

    /// Sets the time in the recording.
    pub(super) fn set_time(&mut self, time: Timestamp) {
        if let WaitClock::Recorded { now, .. } = &mut self.clock {
            *now = time.max(*now);
        }
    }

    /// Returns the time in the recording at which [`WaitProgress::advance`] must be called.
    pub(super) fn next_recorded_check(&self) -> Option<Timestamp> {
        match self.clock {
            WaitClock::Live(_) => None,
            WaitClock::Recorded { beginning, .. } => {
                let elapsed = SignedDuration::try_from(self.machine.next_check()?).ok()?;
                beginning.checked_add(elapsed).ok()
            }
        }
    }

    /// Returns the notification of changes.
    pub(super) fn changed(&self) -> Rc<Notify> {
        Rc::clone(&self.changed)
    }

    /// Returns the time at which [`WaitProgress::advance`] must be called.
    pub(super) fn next_check(&self) -> Option<Instant> {
        match self.clock {
            WaitClock::Live(started) => self.machine.next_check().map(|elapsed| started + elapsed),
            WaitClock::Recorded { .. } => None,
        }
    }

    /// Returns the time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        match self.clock {
            WaitClock::Live(started) => started.elapsed(),
            WaitClock::Recorded { beginning, now } => {
                now.duration_since(beginning).try_into().unwrap_or_default()
            }
        }
    }

    /// Returns a part that has been added.
    pub(super) fn part(&self, number: usize) -> Option<&Part> {
        self.parts.get(&number)
    }

    /// Whether objects of several types may be waited for, and whether objects of several namespaces.
    pub(super) fn varies(&self) -> (bool, bool) {
        let first = self.parts.values().next();
        let differs = |part: &Part| first.is_some_and(|first| part.resource != first.resource);
        let is_elsewhere = |part: &Part| {
            let is_all = part.namespace.is_empty() && part.resource.namespaced;
            is_all || first.is_some_and(|first| part.namespace != first.namespace)
        };
        (self.parts.values().any(differs), self.parts.values().any(is_elsewhere))
    }

    pub(super) fn targets(&self) -> &[WaitTarget] {
        &self.targets
    }

    /// Whether the initial state of all targets is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.targets.iter().all(|target| target.is_complete)
    }

    /// Evaluates again what depends on the time.
    pub(super) fn advance(&mut self) {
        let now = self.now();
        self.change(|machine| machine.advance(now));
    }

    /// Adds a part of a target and returns its number.
    pub(super) fn add_part(&mut self, target: usize, part: &Part, is_named: bool) -> usize {
        let count = self.targets.len();
        let before = self.targets.get_mut(target).map_or(0, |target| {
            target.added_parts += 1;
            target.added_parts - 1
        });
        let number = before * count + target;
        self.parts.insert(number, part.clone());
        self.machine.add_part(number, is_named);
        number
    }

    pub(super) fn remove_part(&mut self, number: usize) {
        let now = self.now();
        self.change(|machine| machine.remove_part(number, now));
    }

    pub(super) fn observe(&mut self, number: usize, object: &Arc<Object>, is_initial: bool) {
        let now = self.now();
        self.change(|machine| machine.observe(number, object, is_initial, now));
    }

    pub(super) fn delete(&mut self, number: usize, last: &Object) {
        let now = self.now();
        self.change(|machine| machine.delete(number, last, now));
    }

    pub(super) fn synced(&mut self, number: usize) {
        let now = self.now();
        self.change(|machine| machine.synced(number, now));
    }

    pub(super) fn gap(&mut self) {
        let now = self.now();
        self.change(|machine| machine.gap(now));
    }

    /// Records that the initial state of a target is complete.
    pub(super) fn complete(&mut self, target: usize) {
        if let Some(target) = self.targets.get_mut(target) {
            target.is_complete = true;
        }
        let (now, is_complete, is_closed) = (self.now(), self.is_complete(), self.is_closed);
        self.change(|machine| machine.set_parts_complete(is_complete, is_closed, now));
        // A wait that checks only once ends here.
        self.changed.notify_one();
    }

    fn change(&mut self, change: impl FnOnce(&mut WaitMachine)) {
        let before = self.machine.next_check();
        change(&mut self.machine);
        if *self.machine.state() != WaitState::Pending || self.machine.next_check() != before {
            self.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use kdelta::object::ApiResource;

    use super::*;

    fn part(plural: &str) -> Part {
        let [group, version, resource, kind] = ["", "v1", plural, plural].map(str::to_owned);
        Part {
            cluster: 0,
            context: "".into(),
            prefix: "".into(),
            resource: Arc::new(ApiResource { group, version, resource, kind, namespaced: true }),
            namespace: "".into(),
            name: Some("x".into()),
            repetition: 0,
            patterns: None,
        }
    }

    #[test]
    fn missing_objects_are_named_in_the_order_of_the_targets() {
        let titles = ["pods", "services"].map(str::to_owned).to_vec();
        let mut progress = WaitProgress::new(WaitRules::default(), titles, true);
        // The types of the second target are known first.
        for (target, plural) in [(1, "services"), (0, "pods"), (1, "others")] {
            progress.add_part(target, &part(plural), true);
        }
        let part_of = |number| progress.part(number).map(|part| part.resource.resource.as_str());
        let missing: Vec<_> =
            progress.machine.missing().filter_map(|missing| part_of(missing.part)).collect();
        assert_eq!(missing, ["pods", "services", "others"]);
    }
}
