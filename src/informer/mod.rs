//! The wiring: a reflector that fills a queue, one task that moves it into a store, and handlers that are told.
//!
//! ```text
//! ListerWatcher -> Reflector -> Queue -> Controller -> Indexer
//!                                            |
//!                                     SharedProcessor -> ProcessorListener -> ResourceEventHandler
//!                                                                          -> Subscription
//! ```
//!
//! What is promised:
//! - The store is written before anybody is told, and may be ahead of what a handler is told.
//! - A handler is told, one after the other, a sequence that replayed over nothing is the store: each object is added
//!   once, updated with the state told before as the old one, and deleted. An object that was deleted and made again
//!   unseen (its uid differs) is deleted, with a tombstone, and added. Of a delete of what was not there nobody is told,
//!   whichever the queue; a delete that was seen carries the state the source sent with it, whose version is that of
//!   the deletion.
//! - What did not change is not told; to those who asked for a resync it is, as an update with
//!   [`Origin::Resync`](crate::object::Origin::Resync) from the stored object to itself. That goes for a resync and
//!   for what a list repeats.
//! - Nothing is dropped. A handler whose buffer is full holds up the others and the queue, a full queue holds up the
//!   reflector, and that the source. A handler that asked for it is told less instead: see [`OnSlow`].

mod apply;
mod builder;
mod coalesce;
mod controller;
mod error;
mod factory;
mod guarded;
mod handler;
mod inlet;
mod listener;
mod mutation;
mod notification;
mod one_handler;
mod overflow;
mod plain_store;
mod process_loop;
mod processor;
mod progress;
mod pump;
mod registration;
mod resync;
mod run;
mod shared;
mod weighed_channel;

pub use builder::{BodyStorage, Builder, QueueKind};
pub use controller::{Config, Controller};
pub use error::InformerError;
pub use factory::{GenericInformer, SharedInformerFactory};
pub use guarded::{HandlerPanic, HandlerPanicHook};
pub use handler::{
    FilteringResourceEventHandler, HandlerOptions, NotificationFn, OnSlow, ResourceEventHandler,
};
pub use mutation::{Fingerprinted, MUTATION_DETECTOR_VARIABLE, Mutation, MutationDetector, MutationHook};
pub use notification::Notification;
pub use one_handler::{Informer, new_informer};
pub use process_loop::{ProcessError, ProcessFunc, process_loop};
pub use registration::{Registration, Subscription};
pub(crate) use run::answer;
pub use shared::{SharedIndexInformer, SharedInformer};
pub use weighed_channel::{TrySendError, WeighedPermit, WeighedReceiver, WeighedSender, weighed_channel};

// What the tools above are made with is had from here, so that they know nothing below but the seam and the nouns.
pub(crate) use crate::store::Indexer;

#[cfg(test)]
mod testing;
