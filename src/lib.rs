//! kdelta: the informer of Kubernetes' client-go in Rust, and what a program that watches a cluster needs besides.
//!
//! # The pipeline
//!
//! Data flows one way, and each arrow is a trait, so that every room can be tested without its neighbours:
//!
//! ```text
//! server ─▶ api ─▶ ListerWatcher ─▶ Reflector ─▶ Queue ─▶ process ─▶ Indexer
//!                  (listwatch)      list, watch, DeltaFifo, under the   (store)
//!                                   recover      OrderedFifo queue's       │
//!                                                lock                      ▼
//!                                                  └─────────────▶ SharedIndexInformer ─▶ handlers, subscriptions
//! ```
//!
//! - [`listwatch`] is the seam: whoever can list a collection and watch it from a version can stand behind it.
//! - [`reflector`] lists, then watches from the version the list returned, and recovers from whatever happens: it goes
//!   on from the last version while the server still knows it, and lists anew when it does not.
//! - [`queue`] holds what happened until it is applied. `DeltaFifo` groups it by object; `OrderedFifo` keeps the order in
//!   which it was received.
//! - [`store`] holds what is so, with any number of named indices.
//! - [`informer`] wires them: a delta is applied to the store, and those who are to hear of it are fixed, while the
//!   queue is locked; sending happens after. `SharedIndexInformer` is what most programs want, `SharedInformerFactory`
//!   keeps one for each resource; `Controller`, `Informer` and a reflector into a plain `Cache` are the parts by hand.
//! - [`watchtools`] are tools over watches: one that comes back where it was, and waiting until something is so.
//! - [`workqueue`] holds the keys that a controller has to reconcile: deduplicating, delaying and rate-limited.
//! - [`diff`] says what is different between two states of an object.
//! - [`object`] is what the others speak of: an object is bytes, with its key, uid and version held apart.
#![cfg_attr(
    feature = "api",
    doc = "- [`api`] requests from a server what [`kubeconfig`] names, over the connections and with the credentials of [`client`]; [`wire`] decodes the responses."
)]
#![cfg_attr(
    feature = "demo",
    doc = "- [`demo`] is an API server of its own on loopback, with a cluster that lives."
)]
#![cfg_attr(
    feature = "testing",
    doc = "- [`testing`] is a source with faults and a clock that is moved by hand."
)]
//!
//! The names are those of client-go's `tools/cache`, so that whoever knows the original finds the way. Where the
//! behaviour differs on purpose, the item says so. What has no counterpart: the expiration and mutation caches, the heap,
//! the batch mode of the queue, and everything generic over types ([`object::Object::parse`] gives a typed
//! view).
//!
//! # A program
//!
//! It lists and watches, keeps an index, is told of changes and asks the index. The source is one in memory;
//! `ResourceClient` of the room `api` is a collection on a server, and [`listwatch::ListWatch`] makes a source of two
//! closures.
//!
//! ```
//! use kdelta::informer::{Notification, SharedIndexInformer};
//! use kdelta::store::index_funcs;
//! use kdelta::testing::{FakeSource, pod};
//! use tokio_util::sync::CancellationToken;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let source = FakeSource::new();
//!     for key in ["shop/web-1", "shop/web-2", "bank/db-0"] {
//!         source.add(pod(key));
//!     }
//!     let informer = SharedIndexInformer::builder(source.clone())
//!         .indexers([("namespace".to_owned(), index_funcs::namespace())].into())
//!         .build();
//!     let mut told = informer.subscribe(16, None)?;
//!     let stop = CancellationToken::new();
//!     let running = tokio::spawn(informer.run(stop.clone()));
//!     assert!(informer.synced().await);
//!     let indexer = informer.get_indexer();
//!     assert_eq!(indexer.index_keys("namespace", "shop")?, ["shop/web-1".into(), "shop/web-2".into()]);
//!     source.delete("shop/web-1");
//!     let mut is_gone = false;
//!     while !is_gone && let Some(notification) = told.recv().await {
//!         println!("{notification}"); // `+bank/db-0@4! list`, …, `-shop/web-1@5 watch`
//!         is_gone = matches!(notification, Notification::Deleted { .. });
//!     } // The store was written before we were told.
//!     assert_eq!(indexer.index_counts("namespace")?, [("bank".to_owned(), 1), ("shop".to_owned(), 1)]);
//!     stop.cancel();
//!     Ok(running.await??)
//! }
//! ```
//!
//! # What is promised
//!
//! - **Eventually the index equals the source.** After any fault the store holds what the source's list at the same
//!   version holds. Handlers that replay what they are told over nothing come to the same state.
//! - **Per object, order.** A handler sees the states of one object in their order, possibly not every one of them when
//!   they came through a `DeltaFifo`; with an `OrderedFifo` it sees every change in the order it was received.
//! - **Nothing twice, nothing for ever.** A handler that joins late is first told the whole state, once. A deletion
//!   that no watch told is found by the next list and told as a tombstone with the last known state.
//! - **Everything is bounded.** A slow handler fills its channel, then the queue, and then the reflector stops reading
//!   from the socket. Both have a bound on their items and on the bytes of the objects in them. A list that is taken as a whole, a resync, and
//!   the unread initial state of a subscription may exceed that by as much as the source or the store holds.
//! - **Errors are values.** No index function, transformer, handler or byte from the network panics the machine, unless
//!   the program is built to abort at a panic.
//!
//! # Import rules
//!
//! `object` and `clock` import nothing; a room that waits imports `clock`. `diff`, `listwatch`, `store` and `queue`
//! import `object`. `reflector`, `demo`, `testing`, `wire` and `kubeconfig` import `listwatch` and `object`; `client`
//! also imports `kubeconfig` and `wire`, and `api` imports these three. `informer` imports `queue`, `reflector`, `store`
//! and the rooms below them, and `watchtools` imports `informer`. The reflector does not depend on a queue (it writes to
//! its own trait [`reflector::ReflectorStore`]) nor a queue on a store (it reads through [`object::KeyListerGetter`]), and
//! everything up to `watchtools` runs without a network. `workqueue` imports `clock`. `tests/architecture.rs` enforces these rules.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "api")]
pub mod api;
#[cfg(feature = "api")]
pub mod client;
pub mod clock;
#[cfg(feature = "demo")]
pub mod demo;
pub mod diff;
pub mod informer;
#[cfg(feature = "api")]
pub mod kubeconfig;
pub mod listwatch;
pub mod object;
pub mod queue;
pub mod reflector;
pub mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod watchtools;
#[cfg(feature = "api")]
pub mod wire;
pub mod workqueue;
