//! The wake-up signals of a queue.

use tokio::sync::Notify;

/// The two wake-up signals of a queue: an item is available, or room is. A queue notifies after each change. A
/// superfluous notification costs a waiting task one check.
///
/// No wake-up is lost: the future of a [`Notify`] receives every `notify_waiters` since its creation, and a waiting
/// task creates it before it checks the queue. A change after the check therefore wakes the task.
#[derive(Debug, Default)]
pub struct Signals {
    pub(super) item: Notify,
    pub(super) room: Notify,
}

impl Signals {
    /// Wakes the tasks that wait in [`pop`](super::pop), after an item was queued.
    pub fn notify_item(&self) {
        self.item.notify_waiters();
    }

    /// Wakes the tasks that wait in [`room`](super::room), after room was freed.
    pub fn notify_room(&self) {
        self.room.notify_waiters();
    }

    /// Wakes all waiting tasks, after the queue was closed.
    pub fn notify_closed(&self) {
        self.notify_item();
        self.notify_room();
    }
}
