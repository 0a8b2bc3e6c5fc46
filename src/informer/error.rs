//! Why an informer refused.

use crate::store::StoreError;

/// Why an informer refused. What goes wrong while it runs is no error of these calls: it recovers, or its `run` ends.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InformerError {
    /// A handler came after the end.
    #[error("handler was not added to shared informer because it has stopped already")]
    HandlerAfterStop,
    /// Indexers came after the end.
    #[error("indexers were not added to shared informer because it has stopped already")]
    IndexersAfterStop,
    /// What can be chosen only before the run came after its begin.
    #[error("informer has already started")]
    AlreadyStarted,
    /// The factory has been shut down: it neither starts informers nor makes new ones.
    #[error("the informer factory has been shut down")]
    FactoryShutDown,
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}
