//! Unavailable parts and their retry schedule. Retrying all of them at once would burden the server and fill its audit
//! log.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use kdelta::object::ApiResource;
use tokio::time::Instant;

use crate::session::Part;

/// The delay of the first retry, and the longest between two; it doubles in between.
const FIRST_RETRY: Duration = Duration::from_secs(5);
const MAX_RETRY: Duration = Duration::from_mins(1);

/// The retried parts per second, however many there are.
const RETRIES_PER_SECOND: u64 = 2;

/// The number of parts retried together even if they belong to the same group.
const MIN_BATCH: usize = 10;

/// The parts that are unavailable for now.
#[derive(Default)]
pub(super) struct UnavailableParts {
    all: HashSet<Part>,
    /// The groups, least recently retried first, and the parts of each in the same order.
    groups: VecDeque<RetryGroup>,
    parts: HashMap<RetryGroup, VecDeque<Part>>,
    /// Parts related to one that became available since their last retry.
    preferred: VecDeque<Part>,
}

/// The namespace or type that access is granted for: parts of a group probably become available together.
#[derive(Clone, PartialEq, Eq, Hash)]
enum RetryGroup {
    Namespace(usize, Arc<str>),
    Type(usize, Arc<ApiResource>),
}

impl UnavailableParts {
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
        let group = RetryGroup::of(&part);
        if !self.parts.contains_key(&group) {
            self.groups.push_back(group.clone());
        }
        self.parts.entry(group).or_default().push_back(part);
    }

    pub(super) fn remove(&mut self, part: &Part) {
        if !self.all.remove(part) {
            return;
        }
        let group = RetryGroup::of(part);
        let Some(parts) = self.parts.get_mut(&group) else { return };
        parts.retain(|other| other != part);
        if parts.is_empty() {
            self.parts.remove(&group);
            self.groups.retain(|other| *other != group);
        }
    }

    /// Removes a part that became available, and prefers parts of its namespace or type for the next retry.
    pub(super) fn mark_available(&mut self, part: &Part) {
        self.remove(part);
        let is_related = |other: &&Part| {
            other.cluster == part.cluster
                && (other.namespace == part.namespace || other.resource == part.resource)
        };
        self.preferred.extend(self.all.iter().filter(is_related).cloned());
    }

    /// Selects up to `limit` retryable parts: preferred ones first, then one per group, then more up to a minimum. They
    /// stay in the set until they are available.
    pub(super) fn take(&mut self, limit: usize, may_be: impl Fn(&Part) -> bool) -> Vec<Part> {
        let mut taken = Vec::new();
        while taken.len() < limit
            && let Some(part) = self.preferred.pop_front()
        {
            if self.contains(&part) && may_be(&part) && !taken.contains(&part) {
                taken.push(part);
            }
        }
        let mut goal = limit;
        loop {
            let before = taken.len();
            for _ in 0..self.groups.len() {
                if taken.len() >= goal {
                    break;
                }
                self.groups.rotate_left(1);
                let Some(parts) = self.groups.back().and_then(|group| self.parts.get_mut(group)) else {
                    continue;
                };
                let is_next = |part: &Part| may_be(part) && !taken.contains(part);
                if let Some(part) = parts.iter().position(is_next).and_then(|at| parts.remove(at)) {
                    parts.push_back(part.clone());
                    taken.push(part);
                }
            }
            goal = MIN_BATCH.min(limit);
            if taken.len() == before || taken.len() >= goal {
                return taken;
            }
        }
    }
}

impl RetryGroup {
    fn of(part: &Part) -> Self {
        if part.namespace.is_empty() {
            Self::Type(part.cluster, Arc::clone(&part.resource))
        } else {
            Self::Namespace(part.cluster, Arc::clone(&part.namespace))
        }
    }
}

/// The time of the next retry.
pub(super) struct RetrySchedule {
    at: Instant,
    interval: RetryInterval,
}

impl RetrySchedule {
    /// Starts the schedule again with a first retry at that time.
    pub(super) fn first(at: Instant) -> Self {
        Self { at, interval: RetryInterval::new() }
    }

    pub(super) fn at(&self) -> Instant {
        self.at
    }

    /// Schedules an early retry for a new unavailable part. If it is the only one, the schedule of earlier parts is
    /// discarded.
    pub(super) fn add(&mut self, now: Instant, is_only: bool) {
        let soon = now + FIRST_RETRY;
        if is_only || soon < self.at {
            *self = Self::first(soon);
        }
    }

    /// Starts a retry: returns how many parts it may include.
    pub(super) fn start_retry(&mut self, now: Instant) -> usize {
        let (limit, until_next) = self.interval.next();
        self.at = now + until_next;
        limit
    }
}

/// The interval between two retries.
struct RetryInterval(Duration);

impl RetryInterval {
    fn new() -> Self {
        Self(FIRST_RETRY)
    }

    /// Returns how many parts the current retry may include, and the time until the next.
    fn next(&mut self) -> (usize, Duration) {
        let limit = usize::try_from(self.0.as_secs() * RETRIES_PER_SECOND).unwrap_or(MIN_BATCH);
        self.0 = (self.0 * 2).min(MAX_RETRY);
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

    /// Returns a set with that many namespaces and types in each.
    fn left_out(namespaces: usize, types: usize) -> UnavailableParts {
        let mut left_out = UnavailableParts::default();
        for namespace in 0..namespaces {
            for plural in 0..types {
                left_out.add(part(&format!("n{namespace:03}"), &format!("t{plural:02}")));
            }
        }
        left_out
    }

    /// Runs retries that all fail. Returns the parts of each and the total time.
    fn tries(left_out: &mut UnavailableParts, times: usize) -> (Vec<Vec<Part>>, Duration) {
        let (mut interval, mut lasted) = (RetryInterval::new(), Duration::ZERO);
        let mut once = || {
            let (limit, until_next) = interval.next();
            lasted += until_next;
            left_out.take(limit, |_| true)
        };
        let tried = (0..times).map(|_| once()).collect();
        (tried, lasted)
    }

    #[test]
    fn retries_are_limited_and_reach_every_part() {
        let mut all = left_out(300, 60);
        let (tried, lasted) = tries(&mut all, 155);
        let requests = tried.iter().map(Vec::len).sum::<usize>();
        assert!(requests as u64 <= lasted.as_secs() * RETRIES_PER_SECOND, "{requests} in {lasted:?}");
        let each: HashSet<&Part> = tried.iter().flatten().collect();
        assert_eq!(each.len(), 300 * 60);
    }

    #[test]
    fn first_unavailable_part_resets_schedule() {
        let start = Instant::now();
        let mut schedule = RetrySchedule::first(start);
        let late = start + Duration::from_hours(1);
        schedule.add(late, true);
        assert_eq!(schedule.at(), late + FIRST_RETRY);
        schedule.add(late + FIRST_RETRY / 2, false);
        assert_eq!(schedule.at(), late + FIRST_RETRY, "another part does not postpone it");
        assert_eq!(schedule.start_retry(schedule.at()), MIN_BATCH);
        assert_eq!(schedule.at(), late + FIRST_RETRY * 3, "the interval doubles");
        schedule.add(late + FIRST_RETRY, false);
        assert_eq!(schedule.at(), late + FIRST_RETRY * 2, "a new part is retried soon");
        schedule.add(late + FIRST_RETRY, true);
        assert_eq!((schedule.at(), schedule.start_retry(schedule.at())), (late + FIRST_RETRY * 2, MIN_BATCH));
    }

    #[test]
    fn retry_takes_one_part_per_namespace() {
        let mut all = left_out(15, 60);
        for plural in ["t00", "t01", "t02"] {
            let tried = all.take(100, |_| true);
            let namespaces: HashSet<_> = tried.iter().map(|part| &part.namespace).collect();
            assert_eq!((tried.len(), namespaces.len()), (15, 15), "{tried:?}");
            assert!(tried.iter().all(|part| part.resource.resource == plural), "{tried:?}");
        }
        assert_eq!(left_out(2, 60).take(100, |_| true).len(), MIN_BATCH);
        let mut few = left_out(2, 2);
        assert_eq!([few.take(100, |_| true).len(), few.take(100, |_| true).len()], [4, 4]);
        assert_eq!(left_out(15, 60).take(7, |_| true).len(), 7);
    }

    #[test]
    fn related_parts_are_retried_first() {
        let mut all = left_out(15, 30);
        let mark_available = part("n007", "t00");
        all.mark_available(&mark_available);
        assert!(!all.contains(&mark_available));
        let is_related = |part: &Part| {
            part.namespace == mark_available.namespace || part.resource == mark_available.resource
        };
        let tried = all.take(29 + 14, |_| true);
        assert!(tried.len() == 29 + 14 && tried.iter().all(is_related), "{tried:?}");
        assert_eq!(all.take(100, |_| true).len(), 15, "once");
    }

    #[test]
    fn busy_parts_are_skipped_and_removed_parts_forgotten() {
        let mut all = left_out(3, 1);
        let retrying = part("n001", "t00");
        assert_eq!(all.take(10, |part| *part != retrying).len(), 2);
        all.add(retrying.clone());
        assert_eq!(all.take(10, |_| true).len(), 3, "no duplicates");
        all.remove(&retrying);
        assert_eq!(all.take(10, |_| true).len(), 2);
        all.remove(&part("n000", "t00"));
        all.remove(&part("n002", "t00"));
        assert!(all.is_empty() && all.groups.is_empty() && all.parts.is_empty());
    }
}
