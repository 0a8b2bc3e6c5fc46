//! What a reflector remembers from one attempt to the next.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::object::ResourceVersion;

/// What one attempt leaves to the next.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is about something else")]
pub(super) struct Memory {
    /// The store has had a whole state.
    pub(super) synced: bool,
    /// A watch has stood.
    pub(super) watched: bool,
    /// The first state did not come by a list.
    pub(super) no_pages_first: bool,
    /// The last version can't be asked for: the next state is fetched without.
    pub(super) version_unavailable: bool,
    /// The loss that has not been made good yet.
    pub(super) loss: Option<Loss>,
    /// What is known of who answers.
    pub(super) source: Sight,
    /// What the source has shown of itself.
    pub(super) learned: Learned,
    /// When the store repeats itself next.
    pub(super) next_resync: Option<Instant>,
    /// Initial states in a row that broke off on their way through a watch.
    pub(super) broken_initials: u32,
    /// Watches in a row that ended at once.
    pub(super) short_watches: u32,
    /// Watches in a row whose version was too old, with none between them that delivered.
    pub(super) expired_watches: u32,
    /// Watches in a row whose version the source did not know yet, with none between them that delivered or stood.
    pub(super) early_watches: u32,
}

/// Whether it is still the source that told the state which the store has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sight {
    /// It is.
    #[default]
    Kept,
    /// It was out of sight since, and stands as far as it did, or does not say. Its versions may still be those of
    /// another history.
    Regained,
    /// It is out of sight, or was never seen: where it stands is asked before the next watch.
    Lost,
}

/// A list or a watch that failed.
pub(super) struct Loss {
    /// When that was noticed.
    pub(super) since: Instant,
    /// The observer knows that a new list is needed.
    pub(super) relisting: bool,
    /// And that it is because the versions of the source went back.
    pub(super) went_back: bool,
}

/// What a source has shown of itself.
#[derive(Default)]
pub(super) struct Learned {
    /// It splits into pages also where it was asked for any state: it has no memory to answer from.
    pub(super) paginated: bool,
    /// It does not do watch-list.
    pub(super) no_watch_list: bool,
    /// It sends bookmarks all the time, so that silence says something.
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
