//! Queues of deltas between the reflector, which produces them, and the pump task, which applies them to the store.
//!
//! The trait [`Queue`] has three implementations. [`DeltaFifo`] groups the deltas of each object and keeps the order
//! per object only. [`OrderedFifo`] keeps every delta, and the marks between them, in the order received, and streams
//! the initial list. [`Fifo`] keeps only the latest state of each object.
//!
//! A consumer applies a popped delta while the queue is locked (see [`Queue::try_pop`]). An object is therefore always
//! in the queue or in the store, which lets a new list detect deleted objects.

mod applied_version;
mod contract;
mod delta;
mod delta_fifo;
mod enqueue;
mod fifo;
mod initial_sync;
mod known_objects;
mod locks;
mod options;
mod ordered_fifo;
mod pending_resync;
mod signals;
mod size;
mod transformer;
mod wakeups;

pub use contract::{
    DEFAULT_BYTES, DEFAULT_CAPACITY, FifoClosedError, PopProcessFunc, Queue, QueueControl, RequeueFunc,
};
pub use delta::{Change, Delta, DeltaType, Deltas, Item, Mark, PoppedItem, key_of};
pub use delta_fifo::{DeltaFifo, DeltaFifoOptions};
pub use fifo::Fifo;
pub use known_objects::KnownObjects;
pub use options::QueueOptions;
pub use ordered_fifo::OrderedFifo;
pub use signals::Signals;
pub use size::QueueSize;
pub use transformer::Transformer;
pub use wakeups::{pop, pop_or_requeue, room};

#[cfg(test)]
pub(crate) mod testing;
