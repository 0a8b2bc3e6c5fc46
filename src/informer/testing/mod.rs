//! Shared fixtures, and tests from the queue to the handlers.

pub(super) mod fixtures;
mod interleaving;
