//! The flags that select a part of a recording by time.

use clap::Args;

/// The flags of a range of time.
#[derive(Debug, Args)]
#[command(next_help_heading = "Range")]
pub(crate) struct RangeArgs {
    /// From this time of the recording on: a time, or an age before its end such as -1h, as --at takes them
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,

    /// Up to this time of the recording, in the same forms [default: its end]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
}
