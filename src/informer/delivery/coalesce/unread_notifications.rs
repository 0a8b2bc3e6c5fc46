//! Unread notifications in their order, merged per object.

use std::collections::{BTreeMap, HashMap};

use crate::informer::Notification;
use crate::object::{Key, Origin};
use crate::queue::Mark;

/// The unread notifications of one handler: an object has one position, whatever its notifications are merged to.
#[derive(Default)]
pub(super) struct UnreadNotifications {
    next_position: u64,
    order: BTreeMap<u64, Slot>,
    objects: HashMap<Key, PendingObject>,
    /// The position of the gap mark.
    gap_position: Option<u64>,
}

enum Slot {
    Object(Key),
    Mark(Mark),
}

/// The notifications of one object: first `delete`, then `latest`.
struct PendingObject {
    position: u64,
    delete: Option<Notification>,
    latest: Option<Notification>,
}

/// The effect of merging one notification.
#[derive(Default)]
pub(super) struct MergeResult {
    /// The number of notifications that will not be delivered.
    pub(super) coalesced: u64,
    /// Set if one of them was initial.
    pub(super) removed_initial: bool,
}

impl UnreadNotifications {
    /// Returns the number of unread notifications; a delete and the notification after it count as one.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty() && self.objects.is_empty()
    }

    /// Merges a notification with the unread one of the same object, if there is one.
    pub(super) fn put(&mut self, notification: Notification) -> MergeResult {
        let key = match &notification {
            Notification::Mark(_) => return self.put_mark(notification),
            Notification::Added { object, .. } | Notification::Updated { new: object, .. } => {
                object.key().clone()
            }
            Notification::Deleted { object, .. } => object.key().clone(),
        };
        if let Some(waiting) = self.objects.get_mut(&key) {
            let merged = waiting.merge(notification);
            if waiting.delete.is_none() && waiting.latest.is_none() {
                self.order.remove(&waiting.position);
                self.objects.remove(&key);
            }
            return merged;
        }
        let position = self.append(Slot::Object(key.clone()));
        let (delete, latest) = match notification {
            Notification::Deleted { .. } => (Some(notification), None),
            _ => (None, Some(notification)),
        };
        self.objects.insert(key, PendingObject { position, delete, latest });
        MergeResult::default()
    }

    fn put_mark(&mut self, notification: Notification) -> MergeResult {
        let Notification::Mark(mark) = notification else { return MergeResult::default() };
        let waiting = self.gap_position.and_then(|position| self.order.get_mut(&position));
        match (waiting, mark) {
            // Two gaps become one, with the sum of their durations.
            (Some(Slot::Mark(Mark::Gap { to, lasted, .. })), Mark::Gap { to: later, lasted: longer, .. }) => {
                *to = later;
                *lasted = lasted.saturating_add(longer);
                MergeResult { coalesced: 1, removed_initial: false }
            }
            (_, mark) => {
                let is_gap = matches!(mark, Mark::Gap { .. });
                let position = self.append(Slot::Mark(mark));
                self.gap_position = if is_gap { Some(position) } else { self.gap_position };
                MergeResult::default()
            }
        }
    }

    fn append(&mut self, slot: Slot) -> u64 {
        self.next_position += 1;
        self.order.insert(self.next_position, slot);
        self.next_position
    }

    /// Takes the first notification.
    pub(super) fn take(&mut self) -> Option<Notification> {
        let (position, first) = self.order.pop_first()?;
        let key = match first {
            Slot::Mark(mark) => return Some(Notification::Mark(mark)),
            Slot::Object(key) => key,
        };
        let PendingObject { delete, latest, .. } = self.objects.remove(&key)?;
        if delete.is_some() && latest.is_some() {
            // `latest` stays in the buffer at the same position.
            self.order.insert(position, Slot::Object(key.clone()));
            self.objects.insert(key, PendingObject { position, delete: None, latest });
            return delete;
        }
        delete.or(latest)
    }
}

impl PendingObject {
    fn merge(&mut self, notification: Notification) -> MergeResult {
        let coalesced = |coalesced| MergeResult { coalesced, removed_initial: false };
        match (self.latest.take(), notification) {
            (None, deleted @ Notification::Deleted { .. }) => {
                self.delete = Some(deleted);
                coalesced(0)
            }
            (None, next) => {
                self.latest = Some(next);
                coalesced(0)
            }
            // The add was not delivered, so neither notification is.
            (Some(Notification::Added { is_in_initial_list, .. }), Notification::Deleted { .. }) => {
                MergeResult { coalesced: 2, removed_initial: is_in_initial_list }
            }
            (Some(_), deleted @ Notification::Deleted { .. }) => {
                self.delete = Some(deleted);
                coalesced(1)
            }
            (Some(before), Notification::Updated { origin: Origin::Resync, .. }) => {
                self.latest = Some(before);
                coalesced(1)
            }
            (
                Some(Notification::Added { is_in_initial_list, origin, .. }),
                Notification::Updated { new: object, .. },
            ) => {
                self.latest = Some(Notification::Added { object, is_in_initial_list, origin });
                coalesced(1)
            }
            (Some(Notification::Updated { old, .. }), Notification::Updated { new, origin, .. }) => {
                self.latest = Some(Notification::Updated { old, new, origin });
                coalesced(1)
            }
            (Some(_), next) => {
                self.latest = Some(next);
                coalesced(1)
            }
        }
    }
}
