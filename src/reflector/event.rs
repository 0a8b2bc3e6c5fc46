//! What a reflector tells of itself: everything a person would want to read, and not that a server ended a watch at
//! its timeout.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use super::verdict::Phase;
use crate::listwatch::Error;
use crate::object::{Key, Origin, ResourceVersion, TypeMeta};

/// What happened. After [`ReflectorEvent::Lost`] comes either [`ReflectorEvent::Recovered`], the watch went on where it
/// was and nothing was missed, or [`ReflectorEvent::Listed`], the state was fetched anew.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ReflectorEvent {
    /// The store has taken the whole state: for the first time, or again after a gap.
    Listed {
        /// [`Phase::List`], or [`Phase::WatchList`] for a state that came through a watch.
        phase: Phase,
        /// [`Origin::List`] the first time, [`Origin::Relist`] later.
        origin: Origin,
        /// The version of that state.
        version: ResourceVersion,
        /// How many objects it has.
        items: usize,
        /// Since the loss was noticed; since the request of the first list.
        lasted: Duration,
    },
    /// The first state did not come by the list that was to bring it before any other way is tried
    /// ([`ReflectorOptions::pages_first`](super::ReflectorOptions::pages_first)): it is asked for in another way, at once.
    PagesFellBack {
        /// Why.
        error: Error,
    },
    /// The source does not send the initial state through a watch, or not this time: it is listed.
    WatchListFellBack {
        /// Why.
        error: Error,
        /// Whether this reflector will not ask again.
        for_good: bool,
    },
    /// A list failed, also where the store refused it ([`Error::NotStored`]), or the start of a watch; or a watch broke.
    Lost {
        /// What was being done.
        phase: Phase,
        /// What went wrong.
        error: Error,
    },
    /// The next try waits. Follows its [`ReflectorEvent::Lost`], or comes without one where the source has ended a watch
    /// cleanly within 30 s: nothing is lost then, and the next watch only begins later.
    Retrying {
        /// How long.
        after: Duration,
    },
    /// The next page of a list waits, because the pages before it were empty.
    PageDelayed {
        /// The number of empty pages in a row.
        empty: u32,
        /// The wait.
        after: Duration,
    },
    /// The watch can't go on where it was: the whole state is to be fetched. Told once for a gap.
    Relisting {
        /// The version received last.
        from: ResourceVersion,
    },
    /// The source has not come as far as it was: it was restored from a backup, or another one stands in its place. The
    /// whole state is to be fetched, which [`ReflectorEvent::Relisting`] then does not tell, or it has just been.
    WentBack {
        /// The version received last.
        from: ResourceVersion,
        /// Where the source stands.
        to: ResourceVersion,
    },
    /// The watch goes on: nothing was missed.
    Recovered {
        /// The version it went on from.
        version: ResourceVersion,
        /// Since the loss was noticed.
        lasted: Duration,
    },
    /// The source delivered an object of another type than it lists and watches. The object is dropped, and its version is
    /// not taken over. Reported for the first such object only.
    UnexpectedType {
        /// The type of the collection.
        expected: Arc<TypeMeta>,
        /// The type of the object.
        found: Arc<TypeMeta>,
        /// The key of the object.
        key: Key,
    },
    /// The store did not take an event, or a resync. The reflector goes on behind it. A list that is refused is
    /// [`ReflectorEvent::Lost`].
    StoreRefused {
        /// What the store said.
        error: Arc<dyn StdError + Send + Sync>,
    },
}
