//! The reflector: lists a source into a [`ReflectorStore`], watches it, and recovers from every failure.
//!
//! ```text
//! Begin ────────> WatchListing ── state complete ──> Watching
//! Begin, or refused there ────> Listing ── state complete ──> Opening ── watch established ──> Watching
//! Watching ── clean end ──> Opening
//! Opening ── source was disconnected ──> Checking ── versions did not go back ──> Opening
//! Opening ── source ended the watch cleanly, before its timeout ──> both at once
//! Checking ── versions went back ──> Begin
//! Opening, Watching ── events are lost or can't be trusted ──> Begin
//! any of them ── other failure ──> Waiting ──> Begin or Opening
//! ```
//!
//! With [`ReflectorOptions::resume_from`] it begins at Checking, and an error that would lead to Begin ends the run or is
//! retried.
//!
//! The states are in `state_machine`, and the table in `recovery::action` has the next step after each error. A reflector runs on
//! the task that polls it and spawns none. A stop ends every wait and closes the stream.

mod default_observer;
mod event;
mod expected_type;
mod jitter;
mod options;
mod recovery;
mod reflector_store;
mod run_context;
mod state_machine;
mod steps;

pub use default_observer::log_failures;
pub use event::ReflectorEvent;
pub use jitter::Jitter;
pub use options::{GiveUp, Observer, ReflectorOptions, ShouldResync};
pub use recovery::action::Phase;
pub use recovery::backoff::BackoffOptions;
pub use reflector_store::{MissedEvents, ReflectorStore};

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::listwatch::{Error, ListerWatcher};
use crate::object::{Origin, ResourceVersion};
use expected_type::ExpectedType;
use recovery::backoff::Backoff;
use recovery::state::LastVersion;
use run_context::RunContext;
use state_machine::StateMachine;
use steps::list::{MAX_READ_AHEAD, Pages, page_size};

/// Lists and watches a source, and writes its objects to a store (client-go: `Reflector`).
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
/// let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
/// let observer = Arc::new(move |event: &ReflectorEvent| drop(sender.send(event.clone())));
/// let options = ReflectorOptions::default().observer(Some(observer));
/// let store = Arc::new(Cache::new());
/// let reflector = Reflector::new(source.clone(), Arc::clone(&store), options);
/// let running = tokio::spawn(reflector.run(CancellationToken::new()));
/// assert!(matches!(events.recv().await, Some(ReflectorEvent::Listed { items: 1, .. })));
/// // The watch breaks, and a deletion is missed: the next list shows it.
/// source.delete_silently("shop/web");
/// source.reset_watches();
/// while !matches!(events.recv().await, Some(ReflectorEvent::Listed { items: 0, .. })) {}
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

/// A handle to a running reflector. Cheap to clone.
#[derive(Clone)]
pub struct ReflectorHandle {
    last: LastVersion,
}

impl ReflectorHandle {
    /// Returns the version received last, which the store may not have applied yet; unset before the first whole state.
    #[must_use]
    pub fn last_sync_resource_version(&self) -> ResourceVersion {
        self.last.get()
    }
}

impl<L: ListerWatcher, S: ReflectorStore> Reflector<L, S> {
    /// Creates a reflector, which does nothing until it is run.
    pub fn new(source: L, store: Arc<S>, options: ReflectorOptions) -> Self {
        Self { source, store, options, last: LastVersion::default() }
    }

    /// Returns a handle for the time while it runs.
    #[must_use]
    pub fn handle(&self) -> ReflectorHandle {
        ReflectorHandle { last: self.last.clone() }
    }

    /// Lists, watches and recovers until `stop`, and then returns `Ok`. Dropping the future ends it, too.
    ///
    /// # Errors
    /// - Before the first sync, an error for which [`ReflectorOptions::give_up`] returns true.
    /// - [`Error::NotSupported`] if the source can't be listed, or can't be watched, which is known only after its list is in
    ///   the store.
    /// - The errors of [`ReflectorOptions::resume_from`].
    pub async fn run(self, stop: CancellationToken) -> Result<(), Error> {
        let mut machine = self.into_machine();
        tokio::select! {
            biased;
            () = stop.cancelled() => Ok(()),
            error = machine.drive() => Err(error),
        }
    }

    /// Runs like [`Reflector::run`] until the store has received the initial state, and then returns `Ok`: with the same
    /// requests, waits and events, but without the watch that would follow. A watch that delivers the initial state is closed
    /// at the bookmark that ends it. With [`ReflectorOptions::resume_from`], which requests no state, it returns once the watch
    /// is established. `stop` ends it earlier; dropping the future does, too.
    ///
    /// # Errors
    /// As [`Reflector::run`].
    pub async fn run_until_synced(self, stop: CancellationToken) -> Result<(), Error> {
        let mut machine = self.into_machine();
        tokio::select! {
            biased;
            () = stop.cancelled() => Ok(()),
            ended = machine.drive_until_synced() => ended,
        }
    }

    fn into_machine(self) -> StateMachine<L, S> {
        StateMachine::new(RunContext::new(self.source, self.store, self.options, self.last))
    }

    /// Lists once into the store, without a retry after most errors, by the rules of the first list of a run: [`ReflectorStore::list_begin`], each item,
    /// [`ReflectorStore::replace`]. Returns the version of the list.
    ///
    /// # Errors
    /// The first error, with three exceptions: a page is requested up to 10 times while the source names a time to wait
    /// (Retry-After), an expired continue token is followed by one list without a limit, and an unavailable version by a list
    /// without a version. [`Error::NotStored`] if the store refused the list.
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
                may_be_unrelated: false,
                expected: &expected,
                retry_from_page: 0,
                read_ahead: if self.options.pages_first { MAX_READ_AHEAD } else { 0 },
            };
            match pages.fetch(&version, page_size(&self.options, false, &version)).await {
                Err(Error::Expired(_) | Error::TooLargeResourceVersion(_)) if !version.is_unset() => {
                    version = ResourceVersion::UNSET;
                }
                fetched => break fetched?,
            }
        };
        let version = fetched.store(&*self.store, Origin::List, None)?;
        self.last.set(version.clone());
        Ok(version)
    }
}
