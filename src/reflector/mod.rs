//! List, watch, recover: carries what a source holds into a [`ReflectorStore`], for ever.
//!
//! ```text
//! Begin ────────> WatchListing ── the state is here ──> Watching
//! Begin, or refused there ────> Listing ── the state is here ──> Opening ── the watch stands ──> Watching
//! Watching ── ended cleanly ──> Opening
//! Opening ── the source was out of sight ──> Checking ── it stands where it stood, or further on ──> Opening
//! Opening ── it ended the watch in order, but before its timeout ──> both at once
//! Checking ── its versions went back ──> Begin
//! Opening, Watching ── what happened since can't be had, or not be trusted ──> Begin
//! any of them ── trouble ──> Waiting ──> Begin or Opening
//! ```
//!
//! With [`ReflectorOptions::resume_from`] it begins at Checking, and what would lead to Begin ends it or is tried again.
//!
//! The states stand in `machine`, what each error leads to in the one table of `verdict`. A reflector runs on the task
//! that polls it and spawns none; whatever it waits for, a stop ends the wait and closes the stream.

mod ahead;
mod backoff;
mod check;
mod default_observer;
mod event;
mod expected_type;
mod flush;
mod initial;
mod list;
mod live;
mod machine;
mod memory;
mod options;
mod sink;
mod source_deadline;
mod verdict;

pub use backoff::BackoffOptions;
pub use default_observer::log_failures;
pub use event::ReflectorEvent;
pub use options::{GiveUp, Jitter, Observer, ReflectorOptions, ShouldResync};
pub use sink::ReflectorStore;
pub use verdict::Phase;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::listwatch::{Error, ListerWatcher};
use crate::object::{Origin, ResourceVersion};
use backoff::Backoff;
use expected_type::ExpectedType;
use list::{PAGES_AHEAD, Pages, page_size};
use machine::{Machine, store_list};
use memory::LastVersion;

/// Carries what a source holds into a store (client-go: `Reflector`).
///
/// ```
/// use std::sync::Arc;
///
/// use kdelta::reflector::{Reflector, ReflectorEvent, ReflectorOptions};
/// use kdelta::store::{Cache, Store};
/// use kdelta::testing::{FakeSource, pod};
/// use tokio_util::sync::CancellationToken;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let source = FakeSource::new();
/// source.add(pod("shop/web"));
/// let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
/// let observer = Arc::new(move |event: &ReflectorEvent| drop(tell.send(event.clone())));
/// let options = ReflectorOptions { observer: Some(observer), ..ReflectorOptions::default() };
/// let store = Arc::new(Cache::new());
/// let reflector = Reflector::new(source.clone(), Arc::clone(&store), options);
/// let running = tokio::spawn(reflector.run(CancellationToken::new()));
/// assert!(matches!(told.recv().await, Some(ReflectorEvent::Listed { items: 1, .. })));
/// // The watch is lost, and with it a deletion: the next list finds out.
/// source.delete_silently("shop/web");
/// source.reset_watches();
/// while !matches!(told.recv().await, Some(ReflectorEvent::Listed { items: 0, .. })) {}
/// assert!(store.list().is_empty());
/// running.abort();
/// # }
/// ```
pub struct Reflector<L, S> {
    source: L,
    store: Arc<S>,
    options: ReflectorOptions,
    last: LastVersion,
}

/// What can be asked of a reflector while it runs. Cheap to clone.
#[derive(Clone)]
pub struct ReflectorHandle {
    last: LastVersion,
}

impl ReflectorHandle {
    /// The version received last, whatever the store has made of it; unset before the first whole state.
    #[must_use]
    pub fn last_sync_resource_version(&self) -> ResourceVersion {
        self.last.get()
    }
}

impl<L: ListerWatcher, S: ReflectorStore> Reflector<L, S> {
    /// A reflector from that source into that store. It does nothing until it is run.
    pub fn new(source: L, store: Arc<S>, options: ReflectorOptions) -> Self {
        Self { source, store, options, last: LastVersion::default() }
    }

    /// What can be asked of it while it runs.
    #[must_use]
    pub fn handle(&self) -> ReflectorHandle {
        ReflectorHandle { last: self.last.clone() }
    }

    /// Lists, watches and recovers until `stop`, and then answers `Ok`. Dropping the future ends it as well.
    ///
    /// # Errors
    /// Before the first sync what [`ReflectorOptions::give_up`] says ends it. At any time
    /// [`Error::NotSupported`]: a source that can't be listed, or can't be watched, which is known only after its
    /// list is in the store. With [`ReflectorOptions::resume_from`] what is said there.
    pub async fn run(self, stop: CancellationToken) -> Result<(), Error> {
        let mut machine = Machine::new(self.source, self.store, self.options, self.last);
        tokio::select! {
            biased;
            () = stop.cancelled() => Ok(()),
            error = machine.drive() => Err(error),
        }
    }

    /// Lists once into the store, by the rules of the first list of a run: [`ReflectorStore::list_begin`], each item,
    /// [`ReflectorStore::replace`]. Answers the version of the list.
    ///
    /// # Errors
    /// The first error, except that a page is asked for up to 10 times while the source says how long to wait
    /// (Retry-After), that a continue token which expired is followed by one list without a limit, and that a version
    /// which can't be had is followed by a list without one. [`Error::NotStored`] where the store refused the list.
    pub async fn list_once(&self) -> Result<ResourceVersion, Error> {
        let mut version = self.options.first_version.clone();
        let expected = ExpectedType::new(self.source.expected_type());
        let fetched = loop {
            let pages = Pages {
                source: &self.source,
                store: &*self.store,
                options: &self.options,
                backoff: &mut Backoff::new(self.options.backoff, self.options.jitter.clone()),
                origin: Origin::List,
                is_doubtful: false,
                expected: &expected,
                patient_from: 0,
                depth: if self.options.pages_first { PAGES_AHEAD } else { 0 },
            };
            match pages.fetch(&version, page_size(&self.options, false, &version)).await {
                Err(Error::Expired(_) | Error::TooLargeResourceVersion(_)) if !version.is_unset() => {
                    version = ResourceVersion::UNSET;
                }
                fetched => break fetched?,
            }
        };
        store_list(&*self.store, fetched.items, &fetched.version, Origin::List)?;
        self.last.set(fetched.version.clone());
        Ok(fetched.version)
    }
}
