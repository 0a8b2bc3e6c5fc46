//! Tests of all queues: the shared test cases, comparisons with simple models, and seeded task schedules, which the tests
//! of other modules use too.

pub(super) mod cases;
mod model;
mod naive_delta_fifo;
pub(crate) mod schedule;
