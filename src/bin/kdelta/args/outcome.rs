//! The flags of one-shot commands about empty results and statistics.

use clap::Args;

/// The flags about empty results and statistics.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutcomeArgs {
    /// Exit with code 3 if nothing matches
    #[arg(long)]
    pub(crate) fail_if_empty: bool,

    /// Print statistics on stderr: objects, bytes, time and memory
    #[arg(long)]
    pub(crate) stats: bool,
}
