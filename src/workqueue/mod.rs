//! A queue of keys for controllers: deduplicating, delaying and rate-limited (client-go: `util/workqueue`).
//!
//! An event handler adds the key of a changed object, and workers take keys, reconcile their objects and mark them done:
//!
//! - A key that is added several times before a worker takes it is processed once.
//! - A key is never processed by two workers at the same time. If it is added while it is processed, it is queued again
//!   when the worker is done with it.
//! - A key can be added after a delay, and after a failure with a delay that a [`RateLimiter`] chooses.
//!
//! `examples/controller.rs` is a controller on such a queue.

mod delayed;
mod pending;
mod rate_limiter;
#[cfg(test)]
mod tests;
mod work_queue;

pub use pending::{Fifo, PendingItems};
pub use rate_limiter::{
    BucketRateLimiter, ItemExponentialFailureRateLimiter, ItemFastSlowRateLimiter, MaxOfRateLimiter,
    RateLimiter, WithMaxWaitRateLimiter, default_controller_rate_limiter, default_item_based_rate_limiter,
};
pub use work_queue::{WorkQueue, WorkQueueOptions};
