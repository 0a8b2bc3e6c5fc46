//! What happened, in order: deltas wait here between the reflector, which brings them, and the one task that applies
//! them to the store.
//!
//! Two queues stand behind one trait. [`DeltaFifo`] groups the deltas of one object and promises order per object;
//! [`OrderedFifo`] keeps every delta, and the marks between them, in the order received, and lets the initial list
//! through while it is still coming in. A third, [`Fifo`], is for those who care about the last state only.
//!
//! Whoever pops applies what it popped while the queue is held (see [`Queue::try_pop`]). Only so can a list that
//! comes in tell what is gone: an object is always in the queue or in the store, never between the two.

mod applied_version;
mod contract;
mod delta;
mod delta_fifo;
mod enqueue;
mod fifo;
mod initial_sync;
mod locks;
mod ordered_fifo;
mod pending_resync;
mod wakeups;

pub use contract::{
    DEFAULT_BYTES, DEFAULT_CAPACITY, FifoClosedError, KnownObjects, PopProcessFunc, Queue, RequeueFunc,
};
pub use delta::{Change, Delta, DeltaType, Deltas, Item, Mark, Popped, key_of};
pub use delta_fifo::{DeltaFifo, DeltaFifoOptions};
pub use enqueue::Transformer;
pub use fifo::Fifo;
pub use ordered_fifo::{OrderedFifo, OrderedFifoOptions};
pub use wakeups::{Signals, pop, pop_or_requeue, room};

#[cfg(test)]
pub(crate) mod testing;
