//! Recovery from errors: the next step after each error, the state that it depends on, and the waits.

pub(super) mod action;
pub(super) mod backoff;
pub(super) mod state;
