//! The flags of `kdelta run` that select changes, and those for calls of its command.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::UpdateArgs;

/// The flags that select changes and the contents of their lines.
#[derive(Debug, Args)]
#[command(next_help_heading = "Changes")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct RunChangeArgs {
    /// Only changes of these types; comma-separated, may be repeated [default: all]
    #[arg(long, value_name = "TYPE", value_enum, value_delimiter = ',')]
    pub(crate) on: Vec<OnArg>,

    /// Run the command for the current objects first, as ADDED; the default
    #[arg(long, overrides_with = "no_initial")]
    pub(crate) initial: bool,

    /// Start with the first change
    #[arg(long, overrides_with = "initial")]
    pub(crate) no_initial: bool,

    #[command(flatten)]
    pub(crate) updates: UpdateArgs,

    /// Wait until an object has not changed for this long, at most ten times as long
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) debounce: Option<String>,

    /// Merge waiting updates of an object: only the newest is run. Additions and deletions always are
    #[arg(long)]
    pub(crate) latest: bool,

    /// Mask the data of Secrets in the lines
    #[arg(long)]
    pub(crate) mask_secrets: bool,
}

/// A type of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnArg {
    /// New objects, and those of the initial state
    Added,
    /// Updates
    Modified,
    /// Deletions, and objects that no longer match
    Deleted,
}

/// The flags for calls of the command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Calls")]
pub(crate) struct CallArgs {
    /// Run at most N commands at once, for different objects; above 1, each line of output starts with the object's name
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: u16,

    /// Pass up to N lines of different objects to one call, without waiting for more
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=10000))]
    pub(crate) batch: u32,

    /// Kill a call, and the processes that it started, after this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) timeout: Option<String>,

    /// Run a failed line again at most N times
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) max_retries: u32,

    /// The delay of the first retry, which doubles with each, up to 5m
    #[arg(long, value_name = "TIME", default_value = "1s", allow_hyphen_values = true)]
    pub(crate) retry_delay: String,

    /// Append the lines whose retries all failed to FILE, as JSON lines
    #[arg(long, value_name = "FILE")]
    pub(crate) dead_letters: Option<PathBuf>,
}

/// The conditions that end a run: what was received until then is run, with its retries.
#[derive(Debug, Args)]
#[command(next_help_heading = "End")]
pub(crate) struct RunEndArgs {
    /// Stop after N selected changes in total
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), allow_hyphen_values = true)]
    pub(crate) count: Option<u64>,

    /// Stop after a time: seconds, or a duration such as 1h30m. If --count is not reached by then, the exit code is 5
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) duration: Option<String>,

    /// Stop after the initial state; with a checkpoint, after the difference to it
    #[arg(long)]
    pub(crate) until_synced: bool,
}
