//! The conditions that a wait tests.

use std::error::Error;

use crate::listwatch::WatchEvent;
use crate::store::Indexer;

/// The error of a condition that can't be evaluated.
pub type ConditionError = Box<dyn Error + Send + Sync>;

/// Returns whether an event meets a condition (client-go: `ConditionFunc`). See [`condition`].
pub type ConditionFunc<'a> = Box<dyn FnMut(&WatchEvent) -> Result<bool, ConditionError> + Send + 'a>;

/// Returns whether the state already is such that no wait is needed (client-go: `PreconditionFunc`).
pub type PreconditionFunc<'a> = Box<dyn FnOnce(&dyn Indexer) -> Result<bool, ConditionError> + Send + 'a>;

/// Wraps a condition that can't fail.
pub fn condition<'a>(mut met: impl FnMut(&WatchEvent) -> bool + Send + 'a) -> ConditionFunc<'a> {
    Box::new(move |event| Ok(met(event)))
}
