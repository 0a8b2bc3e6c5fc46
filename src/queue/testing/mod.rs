//! Tests of all queues: the shared test cases, a reference model, and seeded task schedules, which the tests of other
//! modules use too.

pub(super) mod cases;
mod model;
pub(crate) mod schedule;
