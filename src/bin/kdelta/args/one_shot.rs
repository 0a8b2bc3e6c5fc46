//! `--fail-if-empty` and `--stats`: the flags of commands that end with a result.

use clap::Args;

/// The flags of commands that end with a result.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OneShotArgs {
    /// Exit with code 3 if nothing matches
    #[arg(long)]
    pub(crate) fail_if_empty: bool,

    /// Print statistics on stderr: objects, bytes, time and memory
    #[arg(long)]
    pub(crate) stats: bool,
}
