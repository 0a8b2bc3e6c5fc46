//! Errors of the output of `get`.

pub(super) use crate::commands::format::print_failure;

/// kubectl's formats have no field for a context, and mistaking an object of one cluster for another's is dangerous.
#[derive(Debug, thiserror::Error)]
#[error(
    "-o {0} can't show the context of an object, but several contexts are selected: select one, or use `watch -o json --until-synced`"
)]
pub(super) struct ContextNotShown(pub(super) &'static str);
