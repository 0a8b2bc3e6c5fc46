//! The division of a query between the server and this program, and its plan.

mod plan;
mod watch_source;

pub(super) use plan::{PartUse, explain, part_plan, print_plan, without_patterns};
pub(super) use watch_source::{load_watch_fields, watch_conditions, watch_source};
