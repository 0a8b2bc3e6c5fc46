//! Shared informers: a reflector that fills a queue, one task that applies the queue to a store, and handlers that are
//! notified.
//!
//! ```text
//! ListerWatcher -> Reflector -> Queue -> Controller -> Indexer
//!                                            |
//!                                     SharedProcessor -> ProcessorListener -> ResourceEventHandler
//!                                                                          -> Subscription
//! ```
//!
//! Promises:
//! - The store is written before handlers are notified, and may be ahead of them.
//! - A handler receives notifications one at a time. Replaying them, starting from an empty state, yields the state of the
//!   store: each object is added once, updated with the previously delivered state as the old one, and deleted. If an object
//!   was deleted and created again unseen (its uid differs), the handler receives a delete with a tombstone, then an add. A
//!   delete of an object that the store does not hold notifies no handler, with either queue. A delete that was observed
//!   carries the state that the source sent with it, whose version is that of the deletion.
//! - Unchanged objects cause no notification, except for handlers that requested a resync: these receive an update with
//!   [`Origin::Resync`](crate::object::Origin::Resync) from the stored object to itself. This applies to resyncs and to
//!   objects that a list repeats.
//! - Nothing is dropped. A handler with a full buffer blocks the other handlers and the queue, a full queue blocks the
//!   reflector, and the reflector stops reading from the source. A handler can choose to receive less instead: see [`OnSlow`].
//! - A list after the initial one is applied in one step: a reader of the store sees the state before it or the state after
//!   it, never a part of it (client-go: `AtomicFIFO`). The initial list becomes visible object by object; it is complete once
//!   [`SharedIndexInformer::synced`] returns.

mod apply;
mod builder;
mod controller;
mod delivery;
mod error;
mod factory;
mod handler;
mod mutation;
mod notification;
mod plain_store;
mod pump;
mod registration;
mod shared;
mod single_handler;

pub use builder::{BodyStorage, Builder, QueueKind};
pub use controller::process_loop::{ProcessError, ProcessFunc, process_loop};
pub(crate) use controller::run::task_output;
pub use controller::{Config, Controller};
pub use delivery::handler_call::{HandlerPanic, HandlerPanicHook};
pub use error::InformerError;
pub use factory::{GenericInformer, SharedInformerFactory};
pub use handler::{
    FilteringResourceEventHandler, HandlerOptions, NotificationFn, OnSlow, ResourceEventHandler,
};
pub use mutation::{Fingerprint, MUTATION_DETECTOR_VARIABLE, Mutation, MutationDetector, MutationHook};
pub use notification::Notification;
pub use registration::{Registration, Subscription};
pub use shared::{SharedIndexInformer, SharedInformer};
pub use single_handler::{Informer, new_informer};

#[cfg(test)]
mod testing;
