//! What an answer counts as and what it took: flags of the commands that answer once.

use clap::Args;

/// When an answer counts as none, and what is said of it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutcomeArgs {
    /// End with exit code 3 when nothing matched
    #[arg(long)]
    pub(crate) fail_if_empty: bool,

    /// Say on stderr what it took: objects, bytes, time and memory
    #[arg(long)]
    pub(crate) stats: bool,
}
