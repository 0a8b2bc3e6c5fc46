//! What decides the exit code: flags of the commands that answer once.

use clap::Args;

/// When an answer counts as none.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutcomeArgs {
    /// End with exit code 3 when nothing matched
    #[arg(long)]
    pub(crate) fail_if_empty: bool,
}
