//! The lines of `watch`: their fields, order and counts, from one collection to many clusters.

mod invisible_updates;
mod line_fields;
pub(super) mod many;
mod name_patterns;
mod refused_streams;
mod resume;
mod secret_changes;
mod stalled;
mod start_and_end;
mod steady;
mod streams;
mod unreachable_cluster;
