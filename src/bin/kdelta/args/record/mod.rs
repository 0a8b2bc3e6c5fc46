//! The arguments of `kdelta record`.

mod watched_objects;

use std::path::PathBuf;

use clap::Args;

use super::MetricsArgs;
use super::help_template::HELP;

pub(crate) use watched_objects::{SecretsArg, WatchedObjectsArgs};

/// Record the current objects, then every change, until interrupted
///
/// Each context has a recording of its own in DIR/CONTEXT. A later recorder continues there from the last recorded version;
/// if the server no longer has that history, the gap and the net difference are recorded, including deletions. The values of
/// Secrets are recorded as keyed hashes, so that their changes stay visible. The key stays in a file of the user. With
/// --all-kinds, events are recorded too.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta record pods,deploy -A --to DIR  two types in all namespaces
  kdelta record --all-kinds -A --to DIR --keep 24h --max-size 2GB
  kdelta record pods -n shop --to DIR --until-synced
  kdelta record cm -A --to DIR --redact data
  kdelta record cm -A --to DIR --encrypt-to @recipients.txt
"
)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) objects: WatchedObjectsArgs,

    #[command(flatten)]
    pub(crate) recording: RecordFileArgs,

    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,

    #[command(flatten)]
    pub(crate) end: RecordEndArgs,
}

/// The flags for the files of a recording.
#[derive(Debug, Args)]
#[command(next_help_heading = "Recording")]
pub(crate) struct RecordFileArgs {
    /// The directory of the recordings, one for each context
    #[arg(long, value_name = "DIR", required = true)]
    pub(crate) to: PathBuf,

    /// Keep at least this time, such as 24h or 7d, and drop what is older [default: keep all]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) keep: Option<String>,

    /// Drop the oldest part of a recording while its files are larger, such as 2GB or 500MiB [default: no limit]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) max_size: Option<String>,

    /// Encrypt the recording for this age recipient: age1…, or @FILE with one on each line; may be repeated
    #[arg(long, value_name = "RECIPIENT")]
    pub(crate) encrypt_to: Vec<String>,

    /// Record no table cells: tables of the past then have the columns that kdelta computes, NAME and AGE of most custom types
    #[arg(long)]
    pub(crate) no_rows: bool,
}

/// The conditions that end a recorder.
#[derive(Debug, Args)]
#[command(next_help_heading = "End")]
pub(crate) struct RecordEndArgs {
    /// Stop after a time: seconds, or a duration such as 1h30m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) duration: Option<String>,

    /// Stop once the initial state is recorded; in a recording that exists, a gap and the net difference
    #[arg(long)]
    pub(crate) until_synced: bool,
}
