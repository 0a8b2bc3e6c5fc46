//! Why a wait ended without what it waited for.

use super::ConditionError;
use crate::informer::InformerError;
use crate::listwatch::{Error, WatchEvent};
use crate::object::ResourceVersion;

/// Why a watch could not begin, or a wait ended without what it waited for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WatchToolsError {
    /// A watch that is to come back must know from where: unset and "0" name no state.
    #[error("initial RV {:?} is not supported due to issues with underlying WATCH", .0.to_string())]
    InitialVersion(ResourceVersion),
    /// The watch ended before every condition had been met.
    #[error("watch closed before every condition was met")]
    Closed {
        /// The last event seen.
        last: Option<WatchEvent>,
    },
    /// The caller's patience ended before every condition had been met.
    #[error("timed out waiting for the condition")]
    Interrupted {
        /// The last event seen.
        last: Option<WatchEvent>,
    },
    /// The caller's patience, or the informer, ended before the state that the precondition asks about was there.
    #[error("UntilWithSync: unable to sync caches: {}", .0.as_ref().map_or_else(|| "timed out".to_owned(), ToString::to_string))]
    NotSynced(
        /// What the informer ended with, if it did.
        #[source]
        Option<Error>,
    ),
    /// The watch ended with an error.
    #[error("{error}")]
    Watch {
        /// What the source said.
        #[source]
        error: Box<Error>,
        /// The last event seen.
        last: Option<WatchEvent>,
    },
    /// A condition, or the precondition, failed.
    #[error("{error}")]
    Condition {
        /// What it said.
        #[source]
        error: ConditionError,
        /// The event it was asked about.
        last: Option<WatchEvent>,
    },
    /// The informer takes no more readers: it was run to its end before.
    #[error(transparent)]
    Informer(#[from] InformerError),
}

impl WatchToolsError {
    /// The last event that was seen, where one was.
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
