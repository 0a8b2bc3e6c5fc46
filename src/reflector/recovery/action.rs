//! The table of recovery actions: the next step after each error.

use std::fmt;

use crate::listwatch::Error;

/// The step of a reflector that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Listing.
    List,
    /// Receiving the initial state through a watch, from its request to the bookmark that ends it.
    WatchList,
    /// Requesting the latest version of the source, before a watch is started after a disconnect.
    Check,
    /// Starting a watch.
    Open,
    /// Reading an established watch.
    Watch,
}

impl fmt::Display for Phase {
    /// Writes `list` or `watch`, the names that users know.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "list",
            Self::WatchList | Self::Check | Self::Open | Self::Watch => "watch",
        })
    }
}

/// The next step after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::reflector) enum RecoveryAction {
    /// Watch again from the last version, at once.
    Rewatch,
    /// Watch again from the last version, after a wait.
    RewatchLater,
    /// List again, because events are known to be lost.
    Relist,
    /// List again, because another watch would fail again.
    RelistLater,
    /// List again without a version, at once; as [`RecoveryAction::RelistLater`] if none was requested.
    RelistAtAnyVersion,
    /// List instead of receiving the initial state in a watch, this time.
    FallBack,
    /// List instead of receiving the initial state in a watch, from now on.
    FallBackPermanently,
    /// Watch without knowing the latest version: a source that refuses to return it may still serve the watch.
    WatchAnyway,
    /// End, because no further try can succeed.
    GiveUp,
}

impl RecoveryAction {
    /// Returns the action for a reflector that must not list. Lost events end the run, and so does an unreadable event,
    /// which the same watch would deliver again; after other errors the watch is tried again.
    pub(in crate::reflector) fn without_list(self, error: &Error) -> Self {
        match self {
            Self::WatchAnyway => Self::WatchAnyway,
            Self::Relist => Self::GiveUp,
            _ if matches!(error, Error::Decode(_)) => Self::GiveUp,
            Self::RelistLater | Self::RelistAtAnyVersion => Self::RewatchLater,
            other => other,
        }
    }
}

/// Returns the next step after `error` in `phase`.
///
/// A watch is resumed if the server may still have the events since the last version. If it can't have them, or if its events
/// can't be trusted, the state is fetched again. client-go lists again after every error of a watch except a refused
/// connection and 429, and lists after every other error of an initial state in a watch.
pub(in crate::reflector) fn recovery_action(phase: Phase, error: &Error) -> RecoveryAction {
    use RecoveryAction::{
        FallBack, FallBackPermanently, GiveUp, Relist, RelistAtAnyVersion, RelistLater, Rewatch,
        RewatchLater, WatchAnyway,
    };
    let [list, watch_list, check, open, watch] = match error {
        Error::Expired(_) => [RelistAtAnyVersion, RelistAtAnyVersion, WatchAnyway, Relist, Relist],
        // Of a watch: this replica lags, or its versions went back. A list shows which.
        Error::TooLargeResourceVersion(_) => {
            [RelistAtAnyVersion, RelistAtAnyVersion, WatchAnyway, RelistLater, RelistLater]
        }
        // Only lists are stored as a whole. The next one may lack the refused object.
        Error::NotStored(_) => [RelistLater, RelistLater, WatchAnyway, RelistLater, RelistLater],
        // The request was right.
        Error::TooManyRequests { .. }
        | Error::Unavailable { .. }
        | Error::Refused(_)
        | Error::Tls(_)
        | Error::TlsAlert(_)
        | Error::Transport(_)
        | Error::Unauthorized(_) => [RelistLater, RelistLater, RewatchLater, RewatchLater, RewatchLater],
        // Of an established watch: the connection is broken, but the server is fine.
        Error::Timeout(_) => [RelistLater, RelistLater, RewatchLater, RewatchLater, Rewatch],
        // A list may be allowed where a watch is not, and the other way round.
        Error::Forbidden(_) => [RelistLater, FallBack, WatchAnyway, RewatchLater, RewatchLater],
        // The server can't continue.
        Error::Internal(_) => [RelistLater, FallBack, RewatchLater, RelistLater, RelistLater],
        // The resource is gone, or an event is unreadable and would be unreadable again.
        Error::NotFound(_) | Error::Decode(_) => {
            [RelistLater, FallBack, WatchAnyway, RelistLater, RelistLater]
        }
        // In a list request, only another version can help.
        Error::Invalid(_) | Error::UnsupportedFieldSelector(_) => {
            [RelistAtAnyVersion, FallBackPermanently, WatchAnyway, RelistLater, RelistLater]
        }
        Error::NotSupported(_) => [GiveUp, FallBackPermanently, WatchAnyway, GiveUp, GiveUp],
    };
    match phase {
        Phase::List => list,
        Phase::WatchList => watch_list,
        Phase::Check => check,
        Phase::Open => open,
        Phase::Watch => watch,
    }
}

/// Returns true if the source may have been replaced unnoticed at this error, for example by a server that was restored from a
/// backup. A source that sent a response was there.
pub(in crate::reflector) fn is_disconnected(error: &Error) -> bool {
    match error {
        // A server that no longer accepts the credentials may be another one.
        Error::Unauthorized(_)
        | Error::Unavailable { .. }
        | Error::Refused(_)
        | Error::Tls(_)
        | Error::TlsAlert(_)
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
        | Error::UnsupportedFieldSelector(_)
        | Error::Decode(_)
        | Error::NotStored(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Phase::{Check, List, Open, Watch, WatchList};
    use super::RecoveryAction::{
        FallBack, FallBackPermanently, GiveUp, Relist, RelistAtAnyVersion, RelistLater, Rewatch,
        RewatchLater, WatchAnyway,
    };
    use super::*;
    use crate::listwatch::Status;

    #[test]
    fn table_has_an_action_for_every_phase_and_error() {
        let status = Status::default;
        let text = String::new;
        let table = [
            (Error::Expired(status()), [RelistAtAnyVersion, RelistAtAnyVersion, WatchAnyway, Relist, Relist]),
            (
                Error::TooLargeResourceVersion(status()),
                [RelistAtAnyVersion, RelistAtAnyVersion, WatchAnyway, RelistLater, RelistLater],
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
            (Error::Forbidden(status()), [RelistLater, FallBack, WatchAnyway, RewatchLater, RewatchLater]),
            (Error::NotFound(status()), [RelistLater, FallBack, WatchAnyway, RelistLater, RelistLater]),
            (Error::NotSupported(status()), [GiveUp, FallBackPermanently, WatchAnyway, GiveUp, GiveUp]),
            (
                Error::Invalid(status()),
                [RelistAtAnyVersion, FallBackPermanently, WatchAnyway, RelistLater, RelistLater],
            ),
            (
                Error::UnsupportedFieldSelector(status()),
                [RelistAtAnyVersion, FallBackPermanently, WatchAnyway, RelistLater, RelistLater],
            ),
            (Error::Refused(text()), [RelistLater, RelistLater, RewatchLater, RewatchLater, RewatchLater]),
            (Error::Tls(text()), [RelistLater, RelistLater, RewatchLater, RewatchLater, RewatchLater]),
            (Error::TlsAlert(text()), [RelistLater, RelistLater, RewatchLater, RewatchLater, RewatchLater]),
            (
                Error::Transport(text().into()),
                [RelistLater, RelistLater, RewatchLater, RewatchLater, RewatchLater],
            ),
            (Error::Timeout(text().into()), [RelistLater, RelistLater, RewatchLater, RewatchLater, Rewatch]),
            (Error::Decode(text()), [RelistLater, FallBack, WatchAnyway, RelistLater, RelistLater]),
            (Error::NotStored(text()), [RelistLater, RelistLater, WatchAnyway, RelistLater, RelistLater]),
        ];
        for (error, expected) in table {
            let found = [List, WatchList, Check, Open, Watch].map(|phase| recovery_action(phase, &error));
            assert_eq!(found, expected, "{error:?}");
        }
    }
}
