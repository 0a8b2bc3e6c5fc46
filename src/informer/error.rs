//! The error of informer and factory calls.

use crate::store::StoreError;

/// A rejected call on an informer or a factory. Failures while the informer runs are not reported here: the informer recovers
/// from them, or its `run` returns them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InformerError {
    /// The informer has stopped, so it accepts no handlers.
    #[error("handler was not added to shared informer because it has stopped already")]
    HandlerAfterStop,
    /// The informer has stopped, so it accepts no indexers.
    #[error("indexers were not added to shared informer because it has stopped already")]
    IndexersAfterStop,
    /// The informer has started, and the setting can only be changed before that.
    #[error("informer has already started")]
    AlreadyStarted,
    /// The factory has been shut down: it neither starts informers nor creates new ones.
    #[error("the informer factory has been shut down")]
    FactoryShutDown,
    /// The store rejected the indexers.
    #[error(transparent)]
    Store(#[from] StoreError),
}
