//! The rows that `watch` prints, and the metrics of what it does.

mod changes;
mod lines;
mod metrics;
mod rows;
