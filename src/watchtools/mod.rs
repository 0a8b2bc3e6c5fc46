//! Tools on top of watches: a watch that restarts, an informer as a watch, and waiting for conditions.
//!
//! There are two ways to wait, which differ in what happens when the version to continue from has expired:
//! - [`until()`] continues from a version that the caller has, with a [`RetryWatcher`]. It stores nothing, and fails
//!   when the source no longer has the events since that version.
//! - [`until_with_sync`] runs an informer while it waits. It recovers from everything that an informer recovers from,
//!   and sees existing objects as added.

mod condition;
mod error;
mod informer_watcher;
mod retry;
mod until;

pub use condition::{ConditionError, ConditionFunc, PreconditionFunc, condition};
pub use error::WatchToolsError;
pub use informer_watcher::InformerWatcher;
pub use retry::RetryWatcher;
pub use until::{until, until_with_sync, until_without_retry};
