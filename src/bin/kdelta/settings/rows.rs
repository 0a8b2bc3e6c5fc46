//! The settings of the rows of a stream.

use crate::args::RowArgs;

/// The form of rows. The default is that of `get -w`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Rows {
    /// Print rows in full on a terminal too.
    pub(crate) no_trunc: bool,
}

impl Rows {
    pub(super) fn read(args: &RowArgs) -> Self {
        Self { no_trunc: args.no_trunc }
    }
}
