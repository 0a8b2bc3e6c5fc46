//! Tools over watches: a watch that comes back, an informer read as a watch, and waiting until something is so.
//!
//! Two ways to wait, by what they do when the version they go on from has expired:
//! - [`until()`] goes on from a version that the caller has, with a [`RetryWatcher`]. It holds nothing, and ends with the
//!   error when the source has forgotten what happened since.
//! - [`until_with_sync`] keeps an informer while it waits. It survives everything that an informer survives, and sees
//!   what is there already as added.

mod error;
mod informer_watcher;
mod retry;
mod until;

pub use error::WatchToolsError;
pub use informer_watcher::InformerWatcher;
pub use retry::RetryWatcher;
pub use until::{
    ConditionError, ConditionFunc, PreconditionFunc, condition, until, until_with_sync, until_without_retry,
};
