//! Who has to look at what, and when.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::demo::stored::Place;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    /// The next step of a pod.
    Pod(Place),
    ReplicaSet(Place),
    Deployment(Place),
    Job(Place),
    StatefulSet(Place),
    DaemonSet(Place),
    CronJob(Place),
    Autoscaler(Place),
    Claim(Place),
    /// The services and budgets of a namespace whose pods have changed.
    Followers(Box<str>),
    /// A node falls silent.
    LoseNode,
    /// The pods of a silent node go.
    Evict(Box<str>),
    /// A silent node is heard of again.
    NodeReturns(Box<str>),
    /// A finished job has been there long enough.
    Expired(Place),
    /// A namespace may have to be emptied.
    Namespace(Box<str>),
    /// The owner of this uid, in this namespace, is gone.
    Orphans(Box<str>, Box<str>),
    Backup(Place),
    /// The nodes say that they live.
    Leases,
    /// Something happens.
    Disturb,
    /// Something has to be seen every second.
    Pulse,
    /// One of the extra pods changes.
    Extra,
}

/// Work in the order of its times; each thing stands there once, so that it is bounded by the objects there are.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    queue: BTreeMap<(Duration, u64), Work>,
    due: BTreeMap<Work, (Duration, u64)>,
    /// What is due at the same time is done in the order in which it came.
    count: u64,
}

impl Agenda {
    /// Adds something; it stays where it stood if that was earlier.
    pub(super) fn add(&mut self, at: Duration, work: Work) {
        if self.due.get(&work).is_none_or(|(own, _)| at < *own) {
            self.set(at, work);
        }
    }

    /// Puts something to that time, wherever it stood.
    pub(super) fn set(&mut self, at: Duration, work: Work) {
        self.cancel(&work);
        self.count += 1;
        self.due.insert(work.clone(), (at, self.count));
        self.queue.insert((at, self.count), work);
    }

    pub(super) fn cancel(&mut self, work: &Work) {
        if let Some(at) = self.due.remove(work) {
            self.queue.remove(&at);
        }
    }

    /// When the first is due.
    pub(super) fn next(&self) -> Option<Duration> {
        self.queue.keys().next().map(|(due, _)| *due)
    }

    /// Takes the first, if it is due by then.
    pub(super) fn take(&mut self, by: Duration) -> Option<(Duration, Work)> {
        let first = self.queue.first_entry().filter(|first| first.key().0 <= by)?;
        let ((due, _), work) = first.remove_entry();
        self.due.remove(&work);
        Some((due, work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_stands_there_once_at_its_earliest_time() {
        let mut agenda = Agenda::default();
        let [one, two, three] = [1, 2, 3].map(Duration::from_secs);
        agenda.add(two, Work::Leases);
        agenda.add(three, Work::Leases);
        agenda.add(one, Work::Disturb);
        agenda.set(three, Work::Disturb);
        agenda.add(one, Work::Pulse);
        agenda.cancel(&Work::Pulse);
        assert_eq!(agenda.next(), Some(two));
        assert_eq!(agenda.take(one), None);
        assert_eq!(agenda.take(three), Some((two, Work::Leases)));
        assert_eq!(agenda.take(three), Some((three, Work::Disturb)));
        assert_eq!(agenda.take(three), None);
    }
}
