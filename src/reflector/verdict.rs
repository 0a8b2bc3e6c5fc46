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
            Self::WatchList | Self::Open | Self::Watch => "watch",
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
    /// The whole state, now if the watch has delivered since the last time, else after a wait.
    Relist,
    /// The whole state, after a wait.
    RelistLater,
    /// The whole state without asking for a version, now; after a wait if none was asked for already.
    RelistUnset,
    /// List instead of watch-list, this once.
    FallBack,
    /// List instead of watch-list, from now on.
    FallBackForGood,
    /// No try can help.
    GiveUp,
}

impl Verdict {
    /// What remains of it where nothing may be listed: what is known to be lost ends the run, and so does an event that
    /// can't be read, for the same watch brings it again; else the watch is tried again.
    pub(super) fn without_list(self, error: &Error) -> Self {
        match self {
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
        FallBack, FallBackForGood, GiveUp, Relist, RelistLater, RelistUnset, Rewatch, RewatchLater,
    };
    let [list, watch_list, open, watch] = match error {
        Error::Expired(_) => [RelistUnset, RelistUnset, Relist, Relist],
        // Of a watch: versions went back (a restored backup), or this replica lags. A list tells which.
        Error::TooLargeResourceVersion(_) => [RelistUnset, RelistUnset, RelistLater, RelistLater],
        // Nothing is wrong with what was asked.
        Error::TooManyRequests { .. }
        | Error::Unavailable { .. }
        | Error::Refused(_)
        | Error::Tls(_)
        | Error::Transport(_)
        | Error::Unauthorized(_) => [RelistLater, RelistLater, RewatchLater, RewatchLater],
        // Of a watch that stood: the connection went silent, and the server has done no wrong.
        Error::Timeout(_) => [RelistLater, RelistLater, RewatchLater, Rewatch],
        // A list may be allowed where a watch is not.
        Error::Forbidden(_) => [RelistLater, FallBack, RewatchLater, RewatchLater],
        // The server lost track, the resource is gone, or an event is unreadable and would be so again.
        Error::Internal(_) | Error::NotFound(_) | Error::Decode(_) => {
            [RelistLater, FallBack, RelistLater, RelistLater]
        }
        // Of a list the version is the only part that may become right by itself.
        Error::Invalid(_) => [RelistUnset, FallBackForGood, RelistLater, RelistLater],
        Error::NotSupported(_) => [GiveUp, FallBackForGood, GiveUp, GiveUp],
    };
    match phase {
        Phase::List => list,
        Phase::WatchList => watch_list,
        Phase::Open => open,
        Phase::Watch => watch,
    }
}

#[cfg(test)]
mod tests {
    use super::Phase::{List, Open, Watch, WatchList};
    use super::Verdict::{
        FallBack, FallBackForGood, GiveUp, Relist, RelistLater, RelistUnset, Rewatch, RewatchLater,
    };
    use super::*;
    use crate::listwatch::Status;

    #[test]
    fn the_whole_table() {
        let status = Status::default;
        let text = String::new;
        let table = [
            (Error::Expired(status()), [RelistUnset, RelistUnset, Relist, Relist]),
            (Error::TooLargeResourceVersion(status()), [RelistUnset, RelistUnset, RelistLater, RelistLater]),
            (
                Error::TooManyRequests { status: status(), retry_after: None },
                [RelistLater, RelistLater, RewatchLater, RewatchLater],
            ),
            (
                Error::Unavailable { status: status(), retry_after: None },
                [RelistLater, RelistLater, RewatchLater, RewatchLater],
            ),
            (Error::Internal(status()), [RelistLater, FallBack, RelistLater, RelistLater]),
            (Error::Unauthorized(status()), [RelistLater, RelistLater, RewatchLater, RewatchLater]),
            (Error::Forbidden(status()), [RelistLater, FallBack, RewatchLater, RewatchLater]),
            (Error::NotFound(status()), [RelistLater, FallBack, RelistLater, RelistLater]),
            (Error::NotSupported(status()), [GiveUp, FallBackForGood, GiveUp, GiveUp]),
            (Error::Invalid(status()), [RelistUnset, FallBackForGood, RelistLater, RelistLater]),
            (Error::Refused(text()), [RelistLater, RelistLater, RewatchLater, RewatchLater]),
            (Error::Tls(text()), [RelistLater, RelistLater, RewatchLater, RewatchLater]),
            (Error::Transport(text()), [RelistLater, RelistLater, RewatchLater, RewatchLater]),
            (Error::Timeout(text()), [RelistLater, RelistLater, RewatchLater, Rewatch]),
            (Error::Decode(text()), [RelistLater, FallBack, RelistLater, RelistLater]),
        ];
        for (error, wanted) in table {
            let found = [List, WatchList, Open, Watch].map(|phase| verdict(phase, &error));
            assert_eq!(found, wanted, "{error:?}");
        }
    }
}
