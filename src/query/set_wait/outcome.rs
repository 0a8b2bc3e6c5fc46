//! The state of a wait, and how it ended.

use super::subject::Moment;
use crate::object::{Key, ResourceVersion, Uid};

/// The state of a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitState {
    /// The wait is not over.
    Pending,
    /// The conditions hold.
    Met(WaitMet),
    /// The conditions can't hold any more, or must not be waited for.
    Failed(WaitFailure),
}

/// The end of a wait whose conditions hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitMet {
    /// The moment of the change that was missing. With `stable`, the conditions have held since then.
    pub since: Moment,
    /// The moment of the end.
    pub at: Moment,
    /// The object whose change was the last that was missing. If no change was, as when the conditions hold in the initial
    /// state, the last object of it that counts; `None` if few or none may count.
    pub by: Option<DecidingObject>,
    /// For each condition, the term of `||` that the deciding object meets.
    pub branches: Vec<Option<String>>,
    /// The number of objects that count, including those that are gone.
    pub met: usize,
    /// The number of objects.
    pub total: usize,
}

/// The end of a wait whose conditions will not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitFailure {
    /// The moment of the end.
    pub at: Moment,
    /// The object that ended it, if it is one.
    pub by: Option<DecidingObject>,
    /// The reason. It may contain texts of the object.
    pub reason: String,
}

/// An object that decided a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidingObject {
    /// The part that has the object.
    pub part: usize,
    /// Its key.
    pub key: Key,
    /// Its UID.
    pub uid: Uid,
    /// The version of the deciding state; the last known one of an object that is gone.
    pub version: ResourceVersion,
    /// Whether it is gone.
    pub is_gone: bool,
}
