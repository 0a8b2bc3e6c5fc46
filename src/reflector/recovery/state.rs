//! The state that a reflector keeps from one attempt to the next.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::object::{Key, ResourceVersion};

/// The outcome of earlier attempts, as far as the next one depends on it.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is independent of the others")]
pub(in crate::reflector) struct RecoveryState {
    /// Whether the store has received a whole state.
    pub(in crate::reflector) synced: bool,
    /// Whether a watch has been established.
    pub(in crate::reflector) watched: bool,
    /// Whether the first list of [`ReflectorOptions::pages_first`](crate::reflector::ReflectorOptions::pages_first) has failed.
    pub(in crate::reflector) no_pages_first: bool,
    /// Whether the source refused the last version, so that the next state is requested without one.
    pub(in crate::reflector) version_unavailable: bool,
    /// The objects that were deleted in the version received last, if it was that of a deletion: others may have been deleted in
    /// the same version. Servers delete at most as many as an etcd lease has, 1,000 by default.
    pub(in crate::reflector) last_deleted: HashSet<Key>,
    /// The failure that has not been recovered from.
    pub(in crate::reflector) loss: Option<Loss>,
    /// Whether the source still has the history of the stored state.
    pub(in crate::reflector) source_state: SourceState,
    /// The properties that the source has shown.
    pub(in crate::reflector) traits: SourceTraits,
    /// The time of the next resync.
    pub(in crate::reflector) next_resync: Option<Instant>,
    /// The number of initial states in a row that broke off in a watch.
    pub(in crate::reflector) broken_initials: u32,
    /// The number of watches in a row that ended at once.
    pub(in crate::reflector) short_watches: u32,
    /// The number of watches in a row whose version was too old. A delivered event resets it.
    pub(in crate::reflector) expired_watches: u32,
    /// The number of watches in a row whose version the source had not reached. A delivered event or a watch of some
    /// length resets it.
    pub(in crate::reflector) early_watches: u32,
}

/// The known relation of the source to the stored state: a server that was restored from a backup assigns its versions again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::reflector) enum SourceState {
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
pub(in crate::reflector) struct Loss {
    /// When the failure was noticed.
    pub(in crate::reflector) since: Instant,
    /// Whether the observer has received [`ReflectorEvent::Relisting`](crate::reflector::ReflectorEvent::Relisting).
    pub(in crate::reflector) relisting: bool,
    /// Whether the observer has received [`ReflectorEvent::WentBack`](crate::reflector::ReflectorEvent::WentBack).
    pub(in crate::reflector) went_back: bool,
}

/// The properties that a source has shown.
#[derive(Default)]
pub(in crate::reflector) struct SourceTraits {
    /// It splits a list at any version into pages, so it does not serve lists from memory.
    pub(in crate::reflector) paginated: bool,
    /// It does not support the initial state in a watch.
    pub(in crate::reflector) no_watch_list: bool,
    /// It sends bookmarks regularly, so that silence means a failure.
    pub(in crate::reflector) sends_bookmarks: bool,
}

/// The version received last, shared with the handles. A std mutex: it is held for a copy, never across an `.await`.
#[derive(Clone, Default)]
pub(in crate::reflector) struct LastVersion(Arc<Mutex<ResourceVersion>>);

impl LastVersion {
    pub(in crate::reflector) fn get(&self) -> ResourceVersion {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(in crate::reflector) fn set(&self, version: ResourceVersion) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = version;
    }
}
