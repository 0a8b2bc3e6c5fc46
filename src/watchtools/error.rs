//! Errors of watches that can't start and of waits that end early.

use super::condition::ConditionError;
use crate::informer::InformerError;
use crate::listwatch::{Error, WatchEvent};
use crate::object::ResourceVersion;

/// The error of a watch that can't start or of a wait that ended before its conditions were met.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchToolsError {
    /// A [`RetryWatcher`](super::RetryWatcher) needs a version to start from: unset and "0" name no state.
    #[error("initial RV {:?} is not supported due to issues with underlying WATCH", .0.to_string())]
    InitialVersion(ResourceVersion),
    /// The watch ended before every condition had been met.
    #[error("watch closed before every condition was met")]
    Closed {
        /// The last event seen.
        last: Option<WatchEvent>,
    },
    /// The interrupt came before every condition had been met.
    #[error("timed out waiting for the condition")]
    Interrupted {
        /// The last event seen.
        last: Option<WatchEvent>,
    },
    /// The interrupt came, or the informer ended, before the initial state for the precondition was complete.
    #[error("UntilWithSync: unable to sync caches: {}", .0.as_ref().map_or_else(|| "timed out".to_owned(), ToString::to_string))]
    NotSynced(
        /// The informer's error, if it ended with one.
        #[source]
        Option<Error>,
    ),
    /// The watch ended with an error.
    #[error("{error}")]
    Watch {
        /// The source's error.
        #[source]
        error: Box<Error>,
        /// The last event seen.
        last: Option<WatchEvent>,
    },
    /// A condition, or the precondition, failed.
    #[error("{error}")]
    Condition {
        /// Its error.
        #[source]
        error: ConditionError,
        /// The event that was tested.
        last: Option<WatchEvent>,
    },
    /// The informer has already stopped and accepts no more readers.
    #[error(transparent)]
    Informer(#[from] InformerError),
}

impl WatchToolsError {
    /// Returns the last event seen, if any.
    #[must_use]
    pub fn last_event(&self) -> Option<&WatchEvent> {
        match self {
            Self::Closed { last }
            | Self::Interrupted { last }
            | Self::Watch { last, .. }
            | Self::Condition { last, .. } => last.as_ref(),
            Self::InitialVersion(_) | Self::NotSynced(_) | Self::Informer(_) => None,
        }
    }
}
