//! The rows that `watch` prints.

mod changes;
mod lines;
mod rows;
