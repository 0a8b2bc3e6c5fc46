//! What can't be had for now, and whom of it to try when: all of it all the time would be a burden for the server, and
//! a line in its audit log for each.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use kdelta::object::ApiResource;
use tokio::time::Instant;

use crate::session::Part;

/// How long it is until the first try, and until one of the later ones at most: the time between doubles.
const AGAIN: Duration = Duration::from_secs(5);
const AGAIN_AT_MOST: Duration = Duration::from_mins(1);

/// Parts that are tried at a time, for each second since the last time: so many requests a second at most, however many
/// parts there are.
const A_SECOND: u64 = 2;

/// So few are tried at a time without a look at what they have in common.
const FEW: usize = 10;

/// Parts that can't be had for now.
#[derive(Default)]
pub(super) struct LeftOut {
    all: HashSet<Part>,
    /// What the parts belong to, those first that were tried longest ago; and so the parts of each.
    homes: VecDeque<Home>,
    parts: HashMap<Home, VecDeque<Part>>,
    /// One of the same namespace or type has been let in since these were tried.
    hopeful: VecDeque<Part>,
}

/// What rights are given for: those of one home are likely to come together.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Home {
    Namespace(usize, Arc<str>),
    Type(usize, Arc<ApiResource>),
}

impl LeftOut {
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn contains(&self, part: &Part) -> bool {
        self.all.contains(part)
    }

    pub(super) fn add(&mut self, part: Part) {
        if !self.all.insert(part.clone()) {
            return;
        }
        let home = Home::of(&part);
        if !self.parts.contains_key(&home) {
            self.homes.push_back(home.clone());
        }
        self.parts.entry(home).or_default().push_back(part);
    }

    pub(super) fn remove(&mut self, part: &Part) {
        if !self.all.remove(part) {
            return;
        }
        let home = Home::of(part);
        let Some(parts) = self.parts.get_mut(&home) else { return };
        parts.retain(|other| other != part);
        if parts.is_empty() {
            self.parts.remove(&home);
            self.homes.retain(|other| *other != home);
        }
    }

    /// One has been let in: those of its namespace, and those of its type, are tried first.
    pub(super) fn let_in(&mut self, part: &Part) {
        self.remove(part);
        let is_kin = |other: &&Part| {
            other.cluster == part.cluster
                && (other.namespace == part.namespace || other.resource == part.resource)
        };
        self.hopeful.extend(self.all.iter().filter(is_kin).cloned());
    }

    /// Whom to try, of those that may be, at most so many; they stay until they are let in. One of each home, beside
    /// those that something speaks for, and so many that they are a few.
    pub(super) fn take(&mut self, limit: usize, may_be: impl Fn(&Part) -> bool) -> Vec<Part> {
        let mut taken = Vec::new();
        while taken.len() < limit
            && let Some(part) = self.hopeful.pop_front()
        {
            if self.contains(&part) && may_be(&part) && !taken.contains(&part) {
                taken.push(part);
            }
        }
        let mut goal = limit;
        loop {
            let before = taken.len();
            for _ in 0..self.homes.len() {
                if taken.len() >= goal {
                    break;
                }
                self.homes.rotate_left(1);
                let Some(parts) = self.homes.back().and_then(|home| self.parts.get_mut(home)) else {
                    continue;
                };
                let is_next = |part: &Part| may_be(part) && !taken.contains(part);
                if let Some(part) = parts.iter().position(is_next).and_then(|at| parts.remove(at)) {
                    parts.push_back(part.clone());
                    taken.push(part);
                }
            }
            goal = FEW.min(limit);
            if taken.len() == before || taken.len() >= goal {
                return taken;
            }
        }
    }
}

impl Home {
    fn of(part: &Part) -> Self {
        if part.namespace.is_empty() {
            Self::Type(part.cluster, Arc::clone(&part.resource))
        } else {
            Self::Namespace(part.cluster, Arc::clone(&part.namespace))
        }
    }
}

/// When the next try is.
pub(super) struct Turn {
    at: Instant,
    pause: Pause,
}

impl Turn {
    /// The first try is then: something has changed.
    pub(super) fn first(at: Instant) -> Self {
        Self { at, pause: Pause::anew() }
    }

    pub(super) fn at(&self) -> Instant {
        self.at
    }

    /// One more is left out. It is tried soon, for it may be about to come; but what there is to try is no more for it.
    /// Where it is the only one, the turn is that of others which are not left out any more, and counts for nothing.
    pub(super) fn add(&mut self, now: Instant, is_only: bool) {
        let soon = now + AGAIN;
        if is_only || soon < self.at {
            *self = Self::first(soon);
        }
    }

    /// There is a try: answers how many it may be of.
    pub(super) fn take(&mut self, now: Instant) -> usize {
        let (limit, until_next) = self.pause.next();
        self.at = now + until_next;
        limit
    }
}

/// How long it is from one try to the next.
struct Pause(Duration);

impl Pause {
    /// The first try is ahead.
    fn anew() -> Self {
        Self(AGAIN)
    }

    /// There is a try: answers how many it may be of, and how long it is until the next one.
    fn next(&mut self) -> (usize, Duration) {
        let limit = usize::try_from(self.0.as_secs() * A_SECOND).unwrap_or(FEW);
        self.0 = (self.0 * 2).min(AGAIN_AT_MOST);
        (limit, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::part_fixtures::{resource, template};

    fn part(namespace: &str, plural: &str) -> Part {
        Part { resource: resource(plural), ..template(namespace) }
    }

    /// So many namespaces of so many types each.
    fn left_out(namespaces: usize, types: usize) -> LeftOut {
        let mut left_out = LeftOut::default();
        for namespace in 0..namespaces {
            for plural in 0..types {
                left_out.add(part(&format!("n{namespace:03}"), &format!("t{plural:02}")));
            }
        }
        left_out
    }

    /// Tries as they come, of which none is let in: what was tried each time, and how long it all took.
    fn tries(left_out: &mut LeftOut, times: usize) -> (Vec<Vec<Part>>, Duration) {
        let (mut pause, mut lasted) = (Pause::anew(), Duration::ZERO);
        let mut once = || {
            let (limit, until_next) = pause.next();
            lasted += until_next;
            left_out.take(limit, |_| true)
        };
        let tried = (0..times).map(|_| once()).collect();
        (tried, lasted)
    }

    #[test]
    fn however_many_are_left_out_there_are_two_requests_a_second_and_each_has_its_turn() {
        let mut all = left_out(300, 60);
        let (tried, lasted) = tries(&mut all, 155);
        let requests = tried.iter().map(Vec::len).sum::<usize>();
        assert!(requests as u64 <= lasted.as_secs() * A_SECOND, "{requests} in {lasted:?}");
        let each: HashSet<&Part> = tried.iter().flatten().collect();
        assert_eq!(each.len(), 300 * 60);
    }

    #[test]
    fn the_first_that_is_left_out_is_tried_after_a_while_however_late_it_is() {
        let start = Instant::now();
        let mut turn = Turn::first(start);
        let late = start + Duration::from_hours(1);
        turn.add(late, true);
        assert_eq!(turn.at(), late + AGAIN);
        turn.add(late + AGAIN / 2, false);
        assert_eq!(turn.at(), late + AGAIN, "another one does not put it off");
        assert_eq!(turn.take(turn.at()), FEW);
        assert_eq!(turn.at(), late + AGAIN * 3, "the time between doubles");
        turn.add(late + AGAIN, false);
        assert_eq!(turn.at(), late + AGAIN * 2, "soon for what has just come");
        turn.add(late + AGAIN, true);
        assert_eq!((turn.at(), turn.take(turn.at())), (late + AGAIN * 2, FEW));
    }

    #[test]
    fn one_of_each_namespace_is_tried_at_a_time_or_a_few() {
        let mut all = left_out(15, 60);
        for plural in ["t00", "t01", "t02"] {
            let tried = all.take(100, |_| true);
            let namespaces: HashSet<_> = tried.iter().map(|part| &part.namespace).collect();
            assert_eq!((tried.len(), namespaces.len()), (15, 15), "{tried:?}");
            assert!(tried.iter().all(|part| part.resource.resource == plural), "{tried:?}");
        }
        assert_eq!(left_out(2, 60).take(100, |_| true).len(), FEW);
        let mut few = left_out(2, 2);
        assert_eq!([few.take(100, |_| true).len(), few.take(100, |_| true).len()], [4, 4]);
        assert_eq!(left_out(15, 60).take(7, |_| true).len(), 7);
    }

    #[test]
    fn what_has_a_namespace_or_a_type_in_common_with_one_that_is_let_in_comes_next() {
        let mut all = left_out(15, 30);
        let let_in = part("n007", "t00");
        all.let_in(&let_in);
        assert!(!all.contains(&let_in));
        let is_kin = |part: &Part| part.namespace == let_in.namespace || part.resource == let_in.resource;
        let tried = all.take(29 + 14, |_| true);
        assert!(tried.len() == 29 + 14 && tried.iter().all(is_kin), "{tried:?}");
        assert_eq!(all.take(100, |_| true).len(), 15, "once");
    }

    #[test]
    fn who_is_being_tried_is_passed_over_and_who_left_is_forgotten() {
        let mut all = left_out(3, 1);
        let busy = part("n001", "t00");
        assert_eq!(all.take(10, |part| *part != busy).len(), 2);
        all.add(busy.clone());
        assert_eq!(all.take(10, |_| true).len(), 3, "each is there once");
        all.remove(&busy);
        assert_eq!(all.take(10, |_| true).len(), 2);
        all.remove(&part("n000", "t00"));
        all.remove(&part("n002", "t00"));
        assert!(all.is_empty() && all.homes.is_empty() && all.parts.is_empty());
    }
}
