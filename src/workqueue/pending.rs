//! The items that wait in a work queue, and the order in which workers take them.

use std::collections::VecDeque;

/// The items that wait for a worker, in the order in which workers take them (client-go: `Queue`).
///
/// A [`WorkQueue`](super::WorkQueue) calls the methods under its lock, and never adds an item that is waiting already. An
/// implementation can give some items priority.
///
/// ```
/// use kdelta::workqueue::{PendingItems, WorkQueue, WorkQueueOptions};
///
/// /// Takes the item that was added last.
/// struct Stack(Vec<&'static str>);
///
/// impl PendingItems<&'static str> for Stack {
///     fn push(&mut self, item: &'static str) {
///         self.0.push(item);
///     }
///     fn pop(&mut self) -> Option<&'static str> {
///         self.0.pop()
///     }
///     fn len(&self) -> usize {
///         self.0.len()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let options = WorkQueueOptions::default().pending(Box::new(Stack(Vec::new())));
/// let queue = WorkQueue::with_options(options);
/// queue.add("first");
/// queue.add("second");
/// assert_eq!(queue.get().await, Some("second"));
/// # }
/// ```
pub trait PendingItems<T>: Send {
    /// Adds an item.
    fn push(&mut self, item: T);

    /// Removes and returns the next item.
    fn pop(&mut self) -> Option<T>;

    /// Returns the number of items.
    fn len(&self) -> usize;

    /// Returns true if there is no item.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Records that an item was added again before a worker took it, which can change its priority.
    fn touch(&mut self, _item: &T) {}
}

/// The default order: first in, first out.
#[derive(Debug, Clone)]
pub struct Fifo<T>(VecDeque<T>);

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T: Send> PendingItems<T> for Fifo<T> {
    fn push(&mut self, item: T) {
        self.0.push_back(item);
    }

    fn pop(&mut self) -> Option<T> {
        self.0.pop_front()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}
