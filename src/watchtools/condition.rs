//! The conditions of [`until()`](super::until()) and [`until_with_sync`](super::until_with_sync).

use std::error::Error;

use crate::listwatch::WatchEvent;
use crate::store::Indexer;

/// The error of a condition that can't be evaluated.
pub type ConditionError = Box<dyn Error + Send + Sync>;

/// A function that returns whether an event meets a condition (client-go: `ConditionFunc`). [`condition`] creates one from a
/// function that can't fail.
pub type ConditionFunc<'a> = Box<dyn FnMut(&WatchEvent) -> Result<bool, ConditionError> + Send + 'a>;

/// A function that returns whether the synced store already meets the condition, so that no wait is needed (client-go:
/// `PreconditionFunc`).
pub type PreconditionFunc<'a> = Box<dyn FnOnce(&dyn Indexer) -> Result<bool, ConditionError> + Send + 'a>;

/// Returns a [`ConditionFunc`] that calls a function which can't fail.
pub fn condition<'a>(mut met: impl FnMut(&WatchEvent) -> bool + Send + 'a) -> ConditionFunc<'a> {
    Box::new(move |event| Ok(met(event)))
}
