//! The queue itself.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::delayed::Delayed;
use super::{Fifo, PendingItems, RateLimiter, default_controller_rate_limiter};
use crate::clock::{Clock, TokioClock};

/// The parts of a [`WorkQueue`] that can be replaced.
#[non_exhaustive]
pub struct WorkQueueOptions<T> {
    /// Chooses the delays of [`WorkQueue::add_rate_limited`].
    pub rate_limiter: Box<dyn RateLimiter<T>>,
    /// The order in which items are processed.
    pub pending: Box<dyn PendingItems<T>>,
    /// The clock of the delays.
    pub clock: Arc<dyn Clock>,
}

impl<T: Clone + Eq + Hash + Send + 'static> Default for WorkQueueOptions<T> {
    /// First in, first out, with client-go's rate limiter for controllers.
    fn default() -> Self {
        let clock: Arc<dyn Clock> = Arc::new(TokioClock);
        let rate_limiter = Box::new(default_controller_rate_limiter(Arc::clone(&clock)));
        Self { rate_limiter, pending: Box::new(Fifo::default()), clock }
    }
}

setters!(WorkQueueOptions<T> {
    rate_limiter: Box<dyn RateLimiter<T>>,
    pending: Box<dyn PendingItems<T>>,
    clock: Arc<dyn Clock>,
});

/// A deduplicating, delaying and rate-limited queue of items, such as keys of objects (client-go:
/// `TypedRateLimitingInterface`).
///
/// Any number of tasks may add and take items. A worker calls [`get`](Self::get), processes the item, and calls
/// [`done`](Self::done); after a failure it calls [`add_rate_limited`](Self::add_rate_limited) before, after a success
/// [`forget`](Self::forget). It grows with the number of different items, and has no other bound.
///
/// ```
/// # use kdelta::workqueue::WorkQueue;
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let queue = WorkQueue::new();
/// queue.add("shop/web");
/// queue.add("shop/web");
/// assert_eq!(queue.len(), 1, "it is processed once");
/// let key = queue.get().await.expect("an item");
/// // The first try fails.
/// queue.add_rate_limited(key);
/// queue.done(&key);
/// assert_eq!(queue.num_requeues(&key), 1);
/// // 5 ms later.
/// assert_eq!(queue.get().await, Some(key));
/// queue.forget(&key);
/// queue.done(&key);
/// queue.shut_down();
/// assert_eq!(queue.get().await, None);
/// # }
/// ```
pub struct WorkQueue<T> {
    /// A std mutex: it is held for operations on collections, and nothing under it waits.
    state: Mutex<State<T>>,
    /// Wakes one worker for each item that becomes ready or delayed, and all of them at the shutdown.
    changed: Notify,
    /// Wakes the tasks that wait until everything is processed.
    idle: Notify,
    rate_limiter: Box<dyn RateLimiter<T>>,
    clock: Arc<dyn Clock>,
}

struct State<T> {
    /// The items that no worker has taken. Each is in `dirty` and not in `processing`.
    pending: Box<dyn PendingItems<T>>,
    /// The items that need processing.
    dirty: HashSet<T>,
    /// The items that workers have taken and are not done with.
    processing: HashSet<T>,
    delayed: Delayed<T>,
    is_shutting_down: bool,
    is_draining: bool,
}

impl<T: Clone + Eq + Hash> State<T> {
    /// Marks an item as needing processing. Returns true if a worker can take it now and could not before.
    fn add(&mut self, item: T) -> bool {
        if self.dirty.contains(&item) {
            if !self.processing.contains(&item) {
                self.pending.touch(&item);
            }
            return false;
        }
        self.dirty.insert(item.clone());
        if self.processing.contains(&item) {
            return false;
        }
        self.pending.push(item);
        true
    }

    /// Adds the delayed items that are due, and returns how many of them a worker can take now.
    fn add_due(&mut self, now: Instant) -> usize {
        let mut added = 0;
        while let Some(item) = self.delayed.pop_due(now) {
            added += usize::from(self.add(item));
        }
        added
    }

    fn is_processed(&self) -> bool {
        self.pending.is_empty() && self.processing.is_empty()
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> Default for WorkQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone + Eq + Hash + Send + 'static> WorkQueue<T> {
    /// Creates an empty queue with the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::with_options(WorkQueueOptions::default())
    }
}

impl<T: Clone + Eq + Hash> WorkQueue<T> {
    /// Creates an empty queue.
    #[must_use]
    pub fn with_options(options: WorkQueueOptions<T>) -> Self {
        let WorkQueueOptions { rate_limiter, pending, clock } = options;
        let state = State {
            pending,
            dirty: HashSet::new(),
            processing: HashSet::new(),
            delayed: Delayed::default(),
            is_shutting_down: false,
            is_draining: false,
        };
        Self { state: Mutex::new(state), changed: Notify::new(), idle: Notify::new(), rate_limiter, clock }
    }

    /// Locks the state after adding the delayed items that are due.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        let now = self.clock.now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..state.add_due(now) {
            self.changed.notify_one();
        }
        state
    }

    /// Marks an item as needing processing. An item that already waits is not added a second time; one that is being
    /// processed is queued again when it is done. After the shutdown nothing is added.
    pub fn add(&self, item: T) {
        let mut state = self.lock();
        if !state.is_shutting_down && state.add(item) {
            self.changed.notify_one();
        }
    }

    /// Adds an item when the delay has passed. Of several delays for an item the earliest end holds. After the shutdown
    /// nothing is added, and items whose delay has not passed then are dropped.
    pub fn add_after(&self, item: T, delay: Duration) {
        // An item with a delay beyond the clock's range would never be due.
        let due = self.clock.now().checked_add(delay);
        if delay.is_zero() {
            self.add(item);
        } else if let Some(due) = due {
            let mut state = self.lock();
            if !state.is_shutting_down {
                state.delayed.insert(item, due);
                self.changed.notify_one();
            }
        }
    }

    /// Adds an item after the delay that the rate limiter chooses, and counts the try.
    pub fn add_rate_limited(&self, item: T) {
        let delay = self.rate_limiter.when(&item);
        self.add_after(item, delay);
    }

    /// Forgets the tries of an item, because it succeeded or will not be tried again. A worker still calls
    /// [`done`](Self::done).
    pub fn forget(&self, item: &T) {
        self.rate_limiter.forget(item);
    }

    /// Returns the number of tries that the rate limiter has counted for an item.
    #[must_use]
    pub fn num_requeues(&self, item: &T) -> usize {
        self.rate_limiter.num_requeues(item)
    }

    /// Returns the number of items that a worker could take now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().pending.len()
    }

    /// Returns true if there is no item that a worker could take now.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits for the next item and takes it; returns `None` once the queue is shut down and empty. The caller calls
    /// [`done`](Self::done) with the item. Dropping the future loses no item.
    pub async fn get(&self) -> Option<T> {
        loop {
            // Enabled before the look, so that a change after it wakes this task.
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let next_due = {
                let mut state = self.lock();
                if let Some(item) = state.pending.pop() {
                    state.processing.insert(item.clone());
                    state.dirty.remove(&item);
                    return Some(item);
                }
                if state.is_shutting_down {
                    return None;
                }
                state.delayed.next_due()
            };
            match next_due {
                Some(due) => {
                    let delay = due.saturating_duration_since(self.clock.now());
                    tokio::select! {
                        () = changed => {}
                        () = self.clock.sleep(delay) => {}
                    }
                }
                None => changed.await,
            }
        }
    }

    /// Marks an item as processed. If it was added again meanwhile, it is queued now.
    pub fn done(&self, item: &T) {
        let mut state = self.lock();
        if state.processing.remove(item) && state.dirty.contains(item) {
            state.pending.push(item.clone());
            self.changed.notify_one();
        }
        if state.is_processed() {
            self.idle.notify_waiters();
        }
    }

    /// Ends the queue: nothing more is added, workers get the items that wait, and then `None`. Ends the wait of
    /// [`shut_down_with_drain`](Self::shut_down_with_drain), too.
    pub fn shut_down(&self) {
        self.end(false);
    }

    /// Ends the queue as [`shut_down`](Self::shut_down), and waits until every item has been processed, unless
    /// `shut_down` is called meanwhile. It waits for ever if a worker does not call [`done`](Self::done), or if there is no
    /// worker. client-go waits only for the items that workers have taken.
    pub async fn shut_down_with_drain(&self) {
        self.end(true);
        loop {
            let mut idle = std::pin::pin!(self.idle.notified());
            idle.as_mut().enable();
            {
                let state = self.lock();
                if state.is_processed() || !state.is_draining {
                    return;
                }
            }
            idle.await;
        }
    }

    fn end(&self, is_draining: bool) {
        let mut state = self.lock();
        state.is_shutting_down = true;
        state.is_draining = is_draining;
        state.delayed.clear();
        drop(state);
        self.changed.notify_waiters();
        self.idle.notify_waiters();
    }

    /// Returns true after a shutdown.
    #[must_use]
    pub fn is_shutting_down(&self) -> bool {
        self.lock().is_shutting_down
    }
}
