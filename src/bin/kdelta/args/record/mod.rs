//! The arguments of `kdelta record`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::help_template::HELP;
use super::{ByArgs, MetricsArgs, SelectArgs};

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
"
)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,

    #[command(flatten)]
    pub(crate) index: ByArgs,

    /// Do not fail if a name does not exist: wait for it
    #[arg(long, help_heading = "Selection")]
    pub(crate) ignore_not_found: bool,

    #[command(flatten)]
    pub(crate) recording: RecordFileArgs,

    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,

    #[command(flatten)]
    pub(crate) end: RecordEndArgs,
}

/// The flags for the files of a recording, and for what they contain.
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

    /// Record no table cells: the past is then printed with NAME and AGE only
    #[arg(long)]
    pub(crate) no_rows: bool,

    /// Replace the value of this field by a keyed hash, in all types, such as spec.template.spec.containers[*].env; may be
    /// repeated
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(crate) redact: Vec<String>,

    /// The values of Secrets
    #[arg(long, value_name = "FORM", value_enum, default_value_t = SecretsArg::Hash)]
    pub(crate) secrets: SecretsArg,
}

/// The form in which the values of Secrets are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SecretsArg {
    /// As they are
    Keep,
    /// As keyed hashes: changes stay visible
    Hash,
    /// Not at all
    Drop,
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
