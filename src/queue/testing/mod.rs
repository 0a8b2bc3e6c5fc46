//! What tests the queues as a whole: the catalogue of cases, a model, and schedules, which test whoever uses a queue too.

pub(super) mod cases;
mod model;
pub(crate) mod schedule;
