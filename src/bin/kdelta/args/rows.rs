//! The flags of `watch` for its rows.

use clap::{Args, ValueEnum};

/// The flags for rows of a stream. `get -w` prints kubectl's rows and has none of them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Lines")]
pub(crate) struct RowArgs {
    /// Print rows in full on a terminal too, instead of clipping them to its width
    #[arg(long)]
    pub(crate) no_trunc: bool,

    /// Print the time of each row in front of it; a JSON line has `ts`
    #[arg(long, value_name = "FORM", value_enum)]
    pub(crate) ts: Option<TsArg>,
}

/// The form of the time of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TsArg {
    /// The whole time, in UTC
    Rfc3339,
    /// The time of day, of the local clock
    Time,
    /// The time since the start
    Relative,
    /// The time since the previous row
    Delta,
}
