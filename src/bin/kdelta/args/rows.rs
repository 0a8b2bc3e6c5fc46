//! The flags of `watch` for its rows.

use clap::Args;

/// The flags for rows of a stream. `get -w` prints kubectl's rows and has none of them.
#[derive(Debug, Args)]
#[command(next_help_heading = "Lines")]
pub(crate) struct RowArgs {
    /// Print rows in full on a terminal too, instead of clipping them to its width
    #[arg(long)]
    pub(crate) no_trunc: bool,
}
