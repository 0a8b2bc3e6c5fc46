//! Errors of the output of `get`.

use crate::exit::OwnLines;
use crate::output::PrintError;

/// The description of a failed template has lines of its own.
pub(super) fn print_failure(error: PrintError) -> anyhow::Error {
    let has_own_lines = error.has_own_lines();
    let error = anyhow::Error::new(error);
    if has_own_lines { error.context(OwnLines) } else { error }
}

/// kubectl's formats have no field for a context, and mistaking an object of one cluster for another's is dangerous.
#[derive(Debug, thiserror::Error)]
#[error(
    "-o {0} can't show the context of an object, but several contexts are selected: select one, or use `watch -o json --until-synced`"
)]
pub(super) struct ContextNotShown(pub(super) &'static str);
