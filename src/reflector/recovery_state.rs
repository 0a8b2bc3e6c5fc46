//! The state that a reflector keeps from one attempt to the next.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::object::ResourceVersion;

/// The outcome of earlier attempts, as far as the next one depends on it.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is independent of the others")]
pub(super) struct RecoveryState {
    /// Whether the store has received a whole state.
    pub(super) synced: bool,
    /// Whether a watch has been established.
    pub(super) watched: bool,
    /// Whether the list that precedes all other ways to the first state has failed.
    pub(super) no_pages_first: bool,
    /// Whether the source refused the last version, so that the next state is requested without one.
    pub(super) version_unavailable: bool,
    /// The failure that has not been recovered from.
    pub(super) loss: Option<Loss>,
    /// Whether the source still has the history of the stored state.
    pub(super) source_state: SourceState,
    /// The properties that the source has shown.
    pub(super) traits: SourceTraits,
    /// The time of the next resync.
    pub(super) next_resync: Option<Instant>,
    /// The number of initial states in a row that broke off in a watch.
    pub(super) broken_initials: u32,
    /// The number of watches in a row that ended at once.
    pub(super) short_watches: u32,
    /// The number of watches in a row whose version was too old. A delivered event resets it.
    pub(super) expired_watches: u32,
    /// The number of watches in a row whose version the source had not reached. A delivered event or a watch of some
    /// length resets it.
    pub(super) early_watches: u32,
}

/// What is known about the history of the source: a server that was restored from a backup assigns its versions again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SourceState {
    /// It has the history of the stored state.
    #[default]
    Confirmed,
    /// It was disconnected, and has since reached the last version or reports none. Its versions may belong to another
    /// history.
    Reconnected,
    /// It is disconnected, or was never connected. Its latest version is requested before the next watch.
    Disconnected,
}

/// A failed list or watch.
pub(super) struct Loss {
    /// When the failure was noticed.
    pub(super) since: Instant,
    /// Whether the observer has received [`ReflectorEvent::Relisting`](super::ReflectorEvent::Relisting).
    pub(super) relisting: bool,
    /// Whether the observer has received [`ReflectorEvent::WentBack`](super::ReflectorEvent::WentBack).
    pub(super) went_back: bool,
}

/// The properties that a source has shown.
#[derive(Default)]
pub(super) struct SourceTraits {
    /// It splits a list at any version into pages, so it does not answer from memory.
    pub(super) paginated: bool,
    /// It does not support the initial state in a watch.
    pub(super) no_watch_list: bool,
    /// It sends bookmarks regularly, so that silence means a failure.
    pub(super) sends_bookmarks: bool,
}

/// The version received last, shared with the handles. A std mutex: it is held for a copy, never across an `.await`.
#[derive(Clone, Default)]
pub(super) struct LastVersion(Arc<Mutex<ResourceVersion>>);

impl LastVersion {
    pub(super) fn get(&self) -> ResourceVersion {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, version: ResourceVersion) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = version;
    }
}
