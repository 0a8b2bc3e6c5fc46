//! The arguments of `kdelta history`.

use clap::Args;

use super::RangeArgs;
use crate::args::help_template::HELP;

/// Print every version of an object: when it changed, who changed it, and what
///
/// Reads a recording (--from DIR), or watches the object from now on (-w). Each version is a row with the changed fields
/// below it. Deletions, re-creations, restarts, changed conditions and times without observation are named.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta history deploy/web --from rec   every recorded version
  kdelta history pod web-0 --from rec --since -1h
  kdelta history pod/web-0 node/worker-1 --from rec --since 03:00 --until 03:30
  kdelta history deploy/web --from rec -o json | jq -c '[.ts, .manager]'
  kdelta history deploy/web -w           the versions from now on
"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct HistoryArgs {
    /// TYPE/NAME… or TYPE NAME…: the objects
    #[arg(value_name = "RESOURCE", help_heading = "Resources")]
    pub(crate) resources: Vec<String>,

    #[command(flatten)]
    pub(crate) range: RangeArgs,

    /// Output format: json for the JSON lines of `kdelta watch`, with the changes of each update [default: a table]
    #[arg(short, long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output: Option<String>,

    /// Print no header line
    #[arg(long, help_heading = "Output")]
    pub(crate) no_headers: bool,

    /// Print rows in full on a terminal too, instead of clipping them to its width
    #[arg(long, help_heading = "Output")]
    pub(crate) no_trunc: bool,

    /// Print heartbeats, renewals and versions among the changed fields too
    #[arg(long, help_heading = "Output")]
    pub(crate) show_all: bool,

    /// Print the data of Secrets among the changed fields
    #[arg(long, help_heading = "Output")]
    pub(crate) show_secrets: bool,

    /// Watch: print the current state of a live object, then every further version
    #[arg(short, long, help_heading = "Watch")]
    pub(crate) watch: bool,

    /// With -w, stop after a time: seconds, or a duration such as 1h30m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Watch")]
    pub(crate) duration: Option<String>,
}
