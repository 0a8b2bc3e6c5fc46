//! The arguments of `kdelta changes`.

use clap::Args;

use super::RangeArgs;
use crate::args::help_template::HELP;

/// Summarize what changed in a range of a recording, grouped by owner, the most important first
///
/// A group is an owner with everything below it, such as a deployment with its pods. Groups with an object that is unready at the
/// end come first, then those whose owner was deleted, those with an object that was unready for some time, with restarts, with
/// changed specifications, with new objects, and with warnings only.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta changes --from rec --since -1h          the last hour
  kdelta changes --from rec --since 03:00 --until 03:30 -n shop
  kdelta changes deploy,nodes --from rec         some types
  kdelta changes --from rec --since -1h --brief  for a chat or a language model
  kdelta changes --from rec -o json | jq '.groups[].name'
"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ChangesArgs {
    /// TYPE[,TYPE…]: only these types [default: all that were recorded]
    #[arg(value_name = "TYPE", help_heading = "Resources")]
    pub(crate) resources: Vec<String>,

    /// All namespaces, which is the default: -n selects some
    #[arg(short = 'A', long, help_heading = "Selection")]
    pub(crate) all_namespaces: bool,

    #[command(flatten)]
    pub(crate) range: RangeArgs,

    /// Print at most 2 KB of text, whatever the size of the cluster
    #[arg(long, help_heading = "Output")]
    pub(crate) brief: bool,

    /// Output format: json [default: a table that fits the terminal]
    #[arg(short, long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output: Option<String>,

    /// Print no header line
    #[arg(long, help_heading = "Output")]
    pub(crate) no_headers: bool,

    /// Print all groups, in full, on a terminal too
    #[arg(long, help_heading = "Output")]
    pub(crate) no_trunc: bool,
}
