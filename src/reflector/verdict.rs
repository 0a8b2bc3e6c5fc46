//! What an error means: one table.

use std::fmt;

use crate::listwatch::Error;

/// What was being done when something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Listing.
    List,
    /// Receiving the initial state through a watch, from its request to the bookmark that ends it.
    WatchList,
    /// Asking how far the source has come, before a watch is started after contact was lost.
    Check,
    /// Starting a watch.
    Open,
    /// Following a watch that stands.
    Watch,
}

impl fmt::Display for Phase {
    /// `list` or `watch`: what a person would call it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "list",
            Self::WatchList | Self::Check | Self::Open | Self::Watch => "watch",
        })
    }
}

/// What to do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The watch again at the last version, now.
    Rewatch,
    /// The watch again at the last version, after a wait.
    RewatchLater,
    /// The whole state: what happened since is known to be lost.
    Relist,
    /// The whole state: a watch that goes on would fail again.
    RelistLater,
    /// The whole state without asking for a version, now; as [`Verdict::RelistLater`] if none was asked for already.
    RelistUnset,
    /// List instead of watch-list, this once.
    FallBack,
    /// List instead of watch-list, from now on.
    FallBackForGood,
    /// On without the answer: who refuses to say how far it has come may serve the watch all the same.
    Pass,
    /// No try can help.
    GiveUp,
}

impl Verdict {
    /// What remains of it where nothing may be listed: what is known to be lost ends the run, and so does an event that
    /// can't be read, for the same watch brings it again; else the watch is tried again. An answer that is done without
    /// may be whatever it is.
    pub(super) fn without_list(self, error: &Error) -> Self {
        match self {
            Self::Pass => Self::Pass,
            Self::Relist => Self::GiveUp,
            _ if matches!(error, Error::Decode(_)) => Self::GiveUp,
            Self::RelistLater | Self::RelistUnset => Self::RewatchLater,
            other => other,
        }
    }
}

/// The table: what to do when `phase` failed with `error`.
///
/// A watch is resumed wherever the server may still have what happened since; where it can't, or where what it sent
/// can't be trusted, the state is fetched again. client-go re-lists at any error of a watch but a refused connection
/// and 429, and lists after any other error of a watch-list.
pub(super) fn verdict(phase: Phase, error: &Error) -> Verdict {
    use Verdict::{
        FallBack, FallBackForGood, GiveUp, Pass, Relist, RelistLater, RelistUnset, Rewatch, RewatchLater,
    };
    let [list, watch_list, check, open, watch] = match error {
        Error::Expired(_) => [RelistUnset, RelistUnset, Pass, Relist, Relist],
        // Of a watch: this replica lags, or its versions went back. A list tells which.
        Error::TooLargeResourceVersion(_) => [RelistUnset, RelistUnset, Pass, RelistLater, RelistLater],
        // Only lists are stored as a whole. The next one may be without what was refused.
        Error::NotStored(_) => [RelistLater, RelistLater, Pass, RelistLater, RelistLater],
        // Nothing is wrong with what was asked.
        Error::TooManyRequests { .. }
        | Error::Unavailable { .. }
        | Error::Refused(_)
        | Error::Tls(_)
        | Error::Transport(_)
        | Error::Unauthorized(_) => [RelistLater, RelistLater, RewatchLater, RewatchLater, RewatchLater],
        // Of a watch that stood: the connection went silent, and the server has done no wrong.
        Error::Timeout(_) => [RelistLater, RelistLater, RewatchLater, RewatchLater, Rewatch],
        // A list may be allowed where a watch is not, and the other way round.
        Error::Forbidden(_) => [RelistLater, FallBack, Pass, RewatchLater, RewatchLater],
        // The server lost track.
        Error::Internal(_) => [RelistLater, FallBack, RewatchLater, RelistLater, RelistLater],
        // The resource is gone, or an event is unreadable and would be so again.
        Error::NotFound(_) | Error::Decode(_) => [RelistLater, FallBack, Pass, RelistLater, RelistLater],
        // Of a list the version is the only part that may become right by itself.
        Error::Invalid(_) => [RelistUnset, FallBackForGood, Pass, RelistLater, RelistLater],
        Error::NotSupported(_) => [GiveUp, FallBackForGood, Pass, GiveUp, GiveUp],
    };
    match phase {
        Phase::List => list,
        Phase::WatchList => watch_list,
        Phase::Check => check,
        Phase::Open => open,
        Phase::Watch => watch,
    }
}

/// Whether the source was out of sight with that error, so that it may have become another one behind our back: a
/// server that was restored from a backup, or that stands in the place of one. One that spoke was there.
pub(super) fn out_of_sight(error: &Error) -> bool {
    match error {
        // Who does not know us any more may be another server.
        Error::Unauthorized(_)
        | Error::Unavailable { .. }
        | Error::Refused(_)
        | Error::Tls(_)
        | Error::Transport(_)
        | Error::Timeout(_) => true,
        Error::Expired(_)
        | Error::TooLargeResourceVersion(_)
        | Error::TooManyRequests { .. }
        | Error::Internal(_)
        | Error::Forbidden(_)
        | Error::NotFound(_)
        | Error::NotSupported(_)
        | Error::Invalid(_)
        | Error::Decode(_)
        | Error::NotStored(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Phase::{Check, List, Open, Watch, WatchList};
    use super::Verdict::{
        FallBack, FallBackForGood, GiveUp, Pass, Relist, RelistLater, RelistUnset, Rewatch, RewatchLater,
    };
    use super::*;
    use crate::listwatch::Status;

    #[test]
    fn the_whole_table() {
        let status = Status::default;
        let text = String::new;
        let table = [
            (Error::Expired(status()), [RelistUnset, RelistUnset, Pass, Relist, Relist]),
            (
                Error::TooLargeResourceVersion(status()),
                [RelistUnset, RelistUnset, Pass, RelistLater, RelistLater],
            ),
            (
                Error::TooManyRequests { status: status(), retry_after: None },
                [RelistLater, RelistLater, RewatchLater, RewatchLater, RewatchLater],
            ),
            (
                Error::Unavailable { status: status(), retry_after: None },
                [RelistLater, RelistLater, RewatchLater, RewatchLater, RewatchLater],
            ),
            (Error::Internal(status()), [RelistLater, FallBack, RewatchLater, RelistLater, RelistLater]),
            (
                Error::Unauthorized(status()),
                [RelistLater, RelistLater, RewatchLater, RewatchLater, RewatchLater],
            ),
            (Error::Forbidden(status()), [RelistLater, FallBack, Pass, RewatchLater, RewatchLater]),
            (Error::NotFound(status()), [RelistLater, FallBack, Pass, RelistLater, RelistLater]),
            (Error::NotSupported(status()), [GiveUp, FallBackForGood, Pass, GiveUp, GiveUp]),
            (Error::Invalid(status()), [RelistUnset, FallBackForGood, Pass, RelistLater, RelistLater]),
            (Error::Refused(text()), [RelistLater, RelistLater, RewatchLater, RewatchLater, RewatchLater]),
            (Error::Tls(text()), [RelistLater, RelistLater, RewatchLater, RewatchLater, RewatchLater]),
            (Error::Transport(text()), [RelistLater, RelistLater, RewatchLater, RewatchLater, RewatchLater]),
            (Error::Timeout(text()), [RelistLater, RelistLater, RewatchLater, RewatchLater, Rewatch]),
            (Error::Decode(text()), [RelistLater, FallBack, Pass, RelistLater, RelistLater]),
            (Error::NotStored(text()), [RelistLater, RelistLater, Pass, RelistLater, RelistLater]),
        ];
        for (error, wanted) in table {
            let found = [List, WatchList, Check, Open, Watch].map(|phase| verdict(phase, &error));
            assert_eq!(found, wanted, "{error:?}");
        }
    }
}
