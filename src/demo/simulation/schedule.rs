//! The queue of the controllers' tasks, ordered by time.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::server::source::ObjectKey;

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Task {
    /// Advance a pod to its next stage.
    Pod(ObjectKey),
    ReplicaSet(ObjectKey),
    Deployment(ObjectKey),
    Job(ObjectKey),
    StatefulSet(ObjectKey),
    DaemonSet(ObjectKey),
    CronJob(ObjectKey),
    Autoscaler(ObjectKey),
    Claim(ObjectKey),
    /// Update the services and budgets of a namespace whose pods have changed.
    UpdateServices(Box<str>),
    /// A node becomes unreachable.
    LoseNode,
    /// Evict the pods of an unreachable node.
    Evict(Box<str>),
    /// An unreachable node recovers.
    RecoverNode(Box<str>),
    /// The time-to-live of a finished job ends.
    Expired(ObjectKey),
    /// Empty a namespace that is being deleted.
    Namespace(Box<str>),
    /// Delete the dependents of a deleted owner, given its namespace and UID.
    Orphans(Box<str>, Box<str>),
    Backup(ObjectKey),
    /// Renew the leases of the nodes.
    Leases,
    /// Cause a disruption.
    Disrupt,
    /// Ensure a visible change every second.
    EnsureActivity,
    /// Change one of the extra pods.
    Extra,
}

/// Tasks ordered by time. Each task occurs once, so the queue is bounded by the number of objects.
#[derive(Debug, Default)]
pub(super) struct TaskQueue {
    queue: BTreeMap<(Duration, u64), Task>,
    due: BTreeMap<Task, (Duration, u64)>,
    /// Tasks due at the same time run in insertion order.
    count: u64,
}

impl TaskQueue {
    /// Adds a task. A task that is already queued keeps the earlier time.
    pub(super) fn add(&mut self, at: Duration, task: Task) {
        if self.due.get(&task).is_none_or(|(own, _)| at < *own) {
            self.set(at, task);
        }
    }

    /// Moves a task to this time.
    pub(super) fn set(&mut self, at: Duration, task: Task) {
        self.cancel(&task);
        self.count += 1;
        self.due.insert(task.clone(), (at, self.count));
        self.queue.insert((at, self.count), task);
    }

    pub(super) fn cancel(&mut self, task: &Task) {
        if let Some(at) = self.due.remove(task) {
            self.queue.remove(&at);
        }
    }

    /// Returns the time of the first task.
    pub(super) fn next(&self) -> Option<Duration> {
        self.queue.keys().next().map(|(due, _)| *due)
    }

    /// Removes and returns the first task if it is due by this time.
    pub(super) fn take(&mut self, by: Duration) -> Option<(Duration, Task)> {
        let first = self.queue.first_entry().filter(|first| first.key().0 <= by)?;
        let ((due, _), task) = first.remove_entry();
        self.due.remove(&task);
        Some((due, task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_queued_once_at_its_earliest_time() {
        let mut tasks = TaskQueue::default();
        let [one, two, three] = [1, 2, 3].map(Duration::from_secs);
        tasks.add(two, Task::Leases);
        tasks.add(three, Task::Leases);
        tasks.add(one, Task::Disrupt);
        tasks.set(three, Task::Disrupt);
        tasks.add(one, Task::EnsureActivity);
        tasks.cancel(&Task::EnsureActivity);
        assert_eq!(tasks.next(), Some(two));
        assert_eq!(tasks.take(one), None);
        assert_eq!(tasks.take(three), Some((two, Task::Leases)));
        assert_eq!(tasks.take(three), Some((three, Task::Disrupt)));
        assert_eq!(tasks.take(three), None);
    }
}
