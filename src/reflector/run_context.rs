//! The parts of a running reflector that its steps share.

use std::cmp::Ordering;
use std::sync::Arc;

use super::event::ReflectorEvent;
use super::expected_type::ExpectedType;
use super::options::ReflectorOptions;
use super::recovery::action::Phase;
use super::recovery::backoff::Backoffs;
use super::recovery::state::{LastVersion, RecoveryState, SourceState};
use super::reflector_store::ReflectorStore;
use crate::listwatch::ListerWatcher;
use crate::object::{Key, Object, Origin, ResourceVersion};

/// The source, the store and the options of a running reflector, and its state between two steps.
pub(super) struct RunContext<L, S> {
    pub(super) source: L,
    pub(super) store: Arc<S>,
    pub(super) options: ReflectorOptions,
    pub(super) backoffs: Backoffs,
    pub(super) recovery: RecoveryState,
    pub(super) expected: ExpectedType,
    /// The version received last.
    pub(super) last: LastVersion,
}

impl<L: ListerWatcher, S: ReflectorStore> RunContext<L, S> {
    pub(super) fn new(source: L, store: Arc<S>, options: ReflectorOptions, last: LastVersion) -> Self {
        let backoffs = Backoffs::new(options.backoff, &options.jitter);
        let expected = ExpectedType::new(source.expected_type());
        Self { source, store, options, backoffs, recovery: RecoveryState::default(), expected, last }
    }

    /// Returns true if the initial state is to be requested as a list whose pages are read ahead
    /// ([`ReflectorOptions::pages_first`]). False after the first sync, and once such a list has failed.
    pub(super) fn lists_pages_first(&self) -> bool {
        self.options.pages_first && !self.recovery.synced && !self.recovery.no_pages_first
    }

    /// Returns the version for a request of the whole state: the one received last, or the configured first version.
    pub(super) fn version_to_request(&self, phase: Phase) -> ResourceVersion {
        let first = &self.options.first_version;
        match self.last.get() {
            _ if self.recovery.version_unavailable => ResourceVersion::UNSET,
            last if !last.is_unset() => last,
            // A watch sends the most recent state at no higher cost for the server.
            _ if phase == Phase::WatchList && first.is_any() => ResourceVersion::UNSET,
            _ => first.clone(),
        }
    }

    /// Returns the version to continue the watch from: the one received last. After a deletion it is the one before, because other
    /// objects may have been deleted in the same version; [`RunContext::is_repeated`] recognizes those that were received.
    pub(super) fn version_to_watch(&self) -> ResourceVersion {
        let last = self.last.get();
        let before = if self.recovery.last_deleted.is_empty() { None } else { last.before() };
        before.unwrap_or(last)
    }

    /// Returns whether the deletion of an object was received before.
    pub(super) fn is_repeated(&self, deleted: &Object) -> bool {
        self.recovery.last_deleted.contains(deleted.key()) && *deleted.resource_version() == self.last.get()
    }

    /// Returns the origin of the objects of the next whole state.
    pub(super) fn state_origin(&self) -> Origin {
        if self.recovery.synced { Origin::Relist } else { Origin::List }
    }

    /// Returns true if the next whole state may belong to another history than the stored one.
    pub(super) fn may_be_unrelated(&self) -> bool {
        self.recovery.synced && self.recovery.source_state != SourceState::Confirmed
    }

    /// Returns true if the source has sent a later version than this one.
    pub(super) fn is_behind(&self, version: &ResourceVersion) -> bool {
        version.compare(&self.last.get()) == Ok(Ordering::Less)
    }

    /// Records a received version, and the object that was deleted in it. Objects without a version, as in some representations,
    /// leave the last version as it is, because a watch needs a version to continue from.
    pub(super) fn received(&mut self, version: &ResourceVersion, deleted: Option<Key>) {
        if version.is_unset() {
            return;
        }
        if deleted.is_none() || *version != self.last.get() {
            self.recovery.last_deleted.clear();
        }
        self.recovery.last_deleted.extend(deleted);
        self.last.set(version.clone());
    }

    /// Reports the error of a store operation that failed.
    pub(super) fn report_store_error(&self, result: Result<(), S::Error>) {
        if let Err(error) = result {
            self.options.report(&ReflectorEvent::StoreRefused { error: Arc::new(error) });
        }
    }
}
