//! What tests the whole way from a queue to the handlers, and what the tests of this room share.

pub(super) mod fixtures;
mod interleaving;
