//! An informer for Kubernetes, as client-go's `tools/cache`, and the tools of a program that watches a cluster.
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
//! - [`listwatch`] has the trait of every source: it lists a collection and watches it from a version.
//! - [`reflector`] lists, then watches from the version of the list, and recovers from every failure: it continues from the
//!   last version while the server still has the events since then, and otherwise lists again.
//! - [`queue`] holds deltas until they are applied. `DeltaFifo` groups them by object; `OrderedFifo` keeps their order.
//! - [`store`] holds the current objects, with any number of named indices.
//! - [`informer`] connects them: while the queue is locked, a delta is applied to the store and its recipients are
//!   determined; notifications are sent after that. Most programs use `SharedIndexInformer`. `SharedInformerFactory` keeps one
//!   for each resource; `Controller`, `Informer` and a reflector into a plain `Cache` are its components.
//! - [`watchtools`] has a watch that resumes after failures, and waits for conditions.
//! - [`workqueue`] holds the keys that a controller has to reconcile: deduplicating, delaying and rate-limited.
//! - [`diff`] compares two states of an object.
//! - [`object`] has the object: its bytes, and its key, uid and version.
#![cfg_attr(
    feature = "api",
    doc = "- [`api`] sends requests to the server of a [`kubeconfig`], over the connections and with the credentials of [`client`]; [`wire`] decodes the responses."
)]
#![cfg_attr(
    feature = "demo",
    doc = "- [`demo`] is an API server with a simulated cluster, in memory or on loopback."
)]
#![cfg_attr(feature = "lines", doc = "- [`lines`] writes and reads the JSON lines of `kdelta watch`.")]
#![cfg_attr(feature = "query", doc = "- [`query`] has queries and templates over objects.")]
#![cfg_attr(
    feature = "recording",
    doc = "- [`recording`] writes deltas to files and reads the state at any moment from them."
)]
#![cfg_attr(
    feature = "testing",
    doc = "- [`testing`] has a source with faults and a clock that tests advance."
)]
//!
//! The names are those of client-go's `tools/cache`. Where the behaviour differs on purpose, the item says so. There is no
//! counterpart of the expiration and mutation caches, the heap, the batch mode of the queue, and everything generic over types
//! ([`object::Object::parse`] gives a typed view, and `ApiResource::of` the resource of a type).
//!
//! # A program
//!
//! It lists and watches, keeps an index, receives notifications and queries the index. The source is in memory;
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
//!     let mut notifications = informer.subscribe(16, None)?;
//!     let stop = CancellationToken::new();
//!     let running = tokio::spawn(informer.run(stop.clone()));
//!     assert!(informer.synced().await);
//!     let indexer = informer.get_indexer();
//!     assert_eq!(indexer.index_keys("namespace", "shop")?, ["shop/web-1".into(), "shop/web-2".into()]);
//!     source.delete("shop/web-1");
//!     let mut is_deleted = false;
//!     while !is_deleted && let Some(notification) = notifications.recv().await {
//!         println!("{notification}"); // `+bank/db-0@4! list`, …, `-shop/web-1@5 watch`
//!         is_deleted = matches!(notification, Notification::Deleted { .. });
//!     }
//!     // The store is written before a notification is sent.
//!     assert_eq!(indexer.index_counts("namespace")?, [("bank".to_owned(), 1), ("shop".to_owned(), 1)]);
//!     stop.cancel();
//!     Ok(running.await??)
//! }
//! ```
//!
//! # Promises
//!
//! - **The index converges to the source.** After any fault the store holds what the source's list at the same version
//!   holds. Handlers that replay their notifications over nothing reach the same state.
//! - **Order per object.** A handler receives the states of an object in their order: with a `DeltaFifo` possibly not all of
//!   them, with an `OrderedFifo` every change, in the order of arrival.
//! - **Nothing twice, nothing missing.** A handler that is added late first receives the whole state, once. A deletion that
//!   the watch missed is found by the next list and delivered as a tombstone with the last known state.
//! - **Lists are atomic.** A list after the initial one is applied in one step: a reader of the store never sees a part of it.
//! - **Everything is bounded.** A slow handler fills its channel, then the queue, and then the reflector stops reading
//!   from the socket. Both are bounded by the number of items and by the bytes of their objects. A list that is applied as a
//!   whole, a resync, and the unread initial state of a subscription may exceed these bounds, up to the size of the source or
//!   of the store.
//! - **Errors are values.** No index function, transformer, handler or byte from the network panics the machine, unless
//!   the program is built to abort at a panic.
//!
//! # Types of other crates
//!
//! Public signatures use these, each because its callers have it already or because a copy would only wrap it. A breaking
//! release of one of them is a breaking release of this crate.
//!
//! - `serde`: [`object::Object::parse`] decodes to any type that implements `Deserialize`. A few small types implement its
//!   traits.
//! - `serde_json`: [`object::ObjectError`] contains its error. `testing` takes objects as its `Value`, and `lines` returns
//!   them as its `RawValue`.
//! - `futures_core::Stream`: an [`informer::Subscription`] is a stream of notifications.
//! - `tokio_util::sync::CancellationToken`: stops what runs until it is stopped, such as an informer. All waiting needs
//!   `tokio`.
//! - `tokio::io::{AsyncRead, AsyncWrite}`: the streams of a connector of `client`. A `demo` opens a `DuplexStream`.
//! - `bytes::Bytes`: the chunks of a response of `api` and the documents of a `recording`, without a copy.
//! - `jiff::Timestamp`: the server's time in `api`, the time in a `demo` at its start, the times in `lines` and
//!   `recording`, and the present in `query`.
//! - `k8s_openapi::ListableResource`: [`object::ApiResource`] has `of::<K>()` for its types, behind a feature of that name.
//!   The application enables the version of the types.
//!
//! Types of the HTTP and TLS libraries appear in none.
//!
//! # Import rules
//!
//! `object` and `clock` import nothing; a room that waits imports `clock`. `diff`, `listwatch`, `store` and `queue`
//! import `object`. `reflector`, `testing`, `wire` and `kubeconfig` import `listwatch` and `object`; `client` also imports
//! `kubeconfig` and `wire`, and `api` imports these three. `demo` imports the private room `server`, a read-only API over
//! a source of objects; `client` and `server` do not know each other. `lines` imports `diff`, `listwatch` and `object`,
//! and `recording` imports `lines`, `server`, `wire` and the rooms below them. `informer` imports `queue`, `reflector`,
//! `store` and the rooms below them, and `watchtools` imports `informer`. The reflector does not depend on a queue (it
//! writes to its own trait [`reflector::ReflectorStore`]) nor a queue on a store (it reads through
//! [`object::KeyListerGetter`]), and everything up to `watchtools` runs without a network. `workqueue` imports `clock`,
//! and `query` imports `object` and `diff`. Files do not import each other in a circle. `tests/architecture` enforces
//! these rules.
#![deny(clippy::print_stdout, clippy::print_stderr)]

/// Defines a chainable setter for each named field of an option struct, which takes the field's type. Option structs are
/// `#[non_exhaustive]`, so that a new option breaks no caller: callers start with `default()` and chain setters.
macro_rules! setters {
    ($options:ident $(<$generic:ident>)? { $($field:ident: $kind:ty),+ $(,)? }) => {
        impl $(<$generic>)? $options $(<$generic>)? {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $kind) -> Self {
                    self.$field = $field;
                    self
                }
            )+
        }
    };
}

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
#[cfg(feature = "lines")]
pub mod lines;
pub mod listwatch;
pub mod object;
#[cfg(feature = "query")]
pub mod query;
pub mod queue;
#[cfg(feature = "recording")]
pub mod recording;
pub mod reflector;
#[cfg(feature = "demo")]
// Without recordings, a part of it is unused.
#[cfg_attr(not(feature = "serve"), allow(dead_code, unused_imports))]
mod server;
pub mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod watchtools;
#[cfg(any(feature = "api", feature = "demo"))]
// Without the client, the server uses only a part of it.
#[cfg_attr(not(feature = "api"), allow(dead_code, unused_imports))]
pub mod wire;
pub mod workqueue;
