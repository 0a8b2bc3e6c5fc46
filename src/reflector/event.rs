//! The events of a reflector for its observer. The end of a watch at its timeout is none of them.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use super::recovery::action::Phase;
use crate::listwatch::Error;
use crate::object::{Key, Origin, ResourceVersion, TypeMeta};

/// An event of a reflector. [`ReflectorEvent::Lost`] is followed by [`ReflectorEvent::Recovered`], if the watch continued and
/// nothing was missed, or by [`ReflectorEvent::Listed`], if the state was fetched again.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ReflectorEvent {
    /// The store has received the whole state: for the first time, or again after a gap.
    Listed {
        /// [`Phase::List`], or [`Phase::WatchList`] for a state that arrived in a watch.
        phase: Phase,
        /// [`Origin::List`] the first time, [`Origin::Relist`] later.
        origin: Origin,
        /// The version of that state.
        version: ResourceVersion,
        /// The number of its objects.
        items: usize,
        /// The time since the loss was noticed; for the first state, since its request.
        lasted: Duration,
    },
    /// The list that precedes all other ways to the first state
    /// ([`ReflectorOptions::pages_first`](super::ReflectorOptions::pages_first)) failed. The state is requested in another way,
    /// at once.
    PagesFellBack {
        /// Why.
        error: Error,
    },
    /// The source did not send the initial state in a watch. It is listed instead.
    WatchListFellBack {
        /// Why.
        error: Error,
        /// Whether this reflector will never request it in a watch again.
        for_good: bool,
    },
    /// A list failed, or the store refused it ([`Error::NotStored`]); or a watch could not be started; or a watch broke.
    Lost {
        /// The step that failed.
        phase: Phase,
        /// The error.
        error: Error,
    },
    /// The next try waits. Follows a [`ReflectorEvent::Lost`], or comes without one if the source ended a watch cleanly within
    /// 30 s: then nothing is lost, and only the next watch starts later.
    Retrying {
        /// The wait.
        after: Duration,
    },
    /// The next page of a list waits, because the pages before it were empty.
    PageDelayed {
        /// The number of empty pages in a row.
        empty: u32,
        /// The wait.
        after: Duration,
    },
    /// The watch can't continue, and the whole state will be fetched. Reported once for each gap.
    Relisting {
        /// The version received last.
        from: ResourceVersion,
    },
    /// The source's latest version is older than the version received last: it was restored from a backup, or replaced. The
    /// whole state will be fetched, without a further [`ReflectorEvent::Relisting`], or has just been fetched.
    WentBack {
        /// The version received last.
        from: ResourceVersion,
        /// The latest version of the source.
        to: ResourceVersion,
    },
    /// The watch continues, and nothing was missed.
    Recovered {
        /// The version from which it continues.
        version: ResourceVersion,
        /// The time since the loss was noticed.
        lasted: Duration,
    },
    /// The source delivered an object of another type than it lists and watches. The object is dropped, and its version is
    /// ignored. Reported for the first such object only.
    UnexpectedType {
        /// The type of the collection.
        expected: Arc<TypeMeta>,
        /// The type of the object.
        found: Arc<TypeMeta>,
        /// The key of the object.
        key: Key,
    },
    /// The store refused an event or a resync, and the reflector continues. A refused list is a [`ReflectorEvent::Lost`].
    StoreRefused {
        /// The error of the store.
        error: Arc<dyn StdError + Send + Sync>,
    },
}
