//! The arguments of each command.

use clap::{Args, ValueEnum};

use super::{ByArgs, FlowArgs, HELP, LineArgs, OutcomeArgs, PrintArgs, SelectArgs};

/// Print the initial state, then every delta, for ever
///
/// Connections that break are taken up again where they ended; where that is not possible, what changed meanwhile is
/// found by comparing, deletions included. Losses and recoveries are said on stderr.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta watch pods                      the pods of this namespace
  kdelta watch deploy/web -n shop        one deployment
  kdelta watch pods,svc -A -o json       two kinds in one stream of JSON lines
  kdelta watch --all-kinds -n 'team-*'   everything in these namespaces, also in those to come
  kdelta watch nodes --context 'prod-*'  the nodes of several clusters
  kdelta watch pods --watch-only --count 1
  kdelta watch pods -o json | jq 'select(.type==\"DELETED\").name'
  kdelta watch deploy --changes --only spec
"
)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,

    #[command(flatten)]
    pub(crate) index: ByArgs,

    /// A name that is not there is no error: it is waited for
    #[arg(long, help_heading = "Selection")]
    pub(crate) ignore_not_found: bool,

    #[command(flatten)]
    pub(crate) print: PrintArgs,

    /// Do not print the initial state
    #[arg(long, help_heading = "Output")]
    pub(crate) watch_only: bool,

    /// Accepted for kubectl's sake: `watch` always says what kind of change a line is
    #[arg(long, help_heading = "Output")]
    pub(crate) output_watch_events: bool,

    #[command(flatten)]
    pub(crate) lines: LineArgs,

    #[command(flatten)]
    pub(crate) flow: FlowArgs,

    #[command(flatten)]
    pub(crate) until: UntilArgs,
}

/// What ends a watch that would go on for ever. Each of them ends it with exit code 0.
#[derive(Debug, Args)]
#[command(next_help_heading = "End")]
pub(crate) struct UntilArgs {
    /// Stop after N printed deltas, whichever they are of
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), allow_hyphen_values = true)]
    pub(crate) count: Option<u64>,

    /// Stop after a time, such as 30s or 1h30m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) duration: Option<String>,

    /// Stop once the initial state is complete: all that matches at that moment
    #[arg(long)]
    pub(crate) until_synced: bool,
}

/// Print objects as kubectl does, or those that an index holds under a value
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta get pods -A                     kubectl's table
  kdelta get pods -A --by node=worker-1  the pods of one node
  kdelta get pods --by field:status.phase=Pending,Failed
  kdelta get deploy web -o yaml
"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that kubectl has")]
pub(crate) struct GetArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,

    #[command(flatten)]
    pub(crate) index: ByArgs,

    /// A name that is not there is no error
    #[arg(long, help_heading = "Selection")]
    pub(crate) ignore_not_found: bool,

    #[command(flatten)]
    pub(crate) print: PrintArgs,

    /// Go on watching: the same as `kdelta watch`
    #[arg(short, long, help_heading = "Watch")]
    pub(crate) watch: bool,

    /// Watch without printing the initial state
    #[arg(long, help_heading = "Watch")]
    pub(crate) watch_only: bool,

    /// Say what kind of change a line is; needs --watch or --watch-only
    #[arg(long, help_heading = "Watch")]
    pub(crate) output_watch_events: bool,

    #[command(flatten)]
    pub(crate) lines: LineArgs,

    #[command(flatten)]
    pub(crate) flow: FlowArgs,

    #[command(flatten)]
    pub(crate) until: UntilArgs,

    #[command(flatten)]
    pub(crate) outcome: OutcomeArgs,
}

/// Print the values of an index, and how many objects each holds
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta index pods -A --by namespace    the namespaces, and how many pods each has
  kdelta index pods --by label:app
  kdelta index pods -A --by 'field:spec.containers[*].image'
"
)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,

    /// The index: namespace, name, label:KEY, annotation:KEY, owner, node, image or field:PATH; with =VALUE only that value
    #[arg(long, value_name = "INDEX[=VALUE]", required = true, help_heading = "Selection")]
    pub(crate) by: Vec<String>,

    /// Print no header line
    #[arg(long, help_heading = "Output")]
    pub(crate) no_headers: bool,

    /// Show the data of Secrets, which is *** otherwise
    #[arg(long, help_heading = "Output")]
    pub(crate) show_secrets: bool,

    #[command(flatten)]
    pub(crate) outcome: OutcomeArgs,
}

/// Print the resources that the server offers
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta api-resources                   everything the server offers
  kdelta api-resources --api-group=apps  one group
  kdelta api-resources --verbs=list -o name
"
)]
pub(crate) struct ApiResourcesArgs {
    /// Only this API group; the empty name is the core group
    #[arg(long, value_name = "GROUP")]
    pub(crate) api_group: Option<String>,

    /// Only resources that live in namespaces; =false: only those that do not
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) namespaced: Option<bool>,

    /// Only resources that can do all of these, such as list,watch
    #[arg(long, value_name = "VERB", value_delimiter = ',')]
    pub(crate) verbs: Vec<String>,

    /// Only resources that are in all of these categories
    #[arg(long, value_name = "CATEGORY", value_delimiter = ',')]
    pub(crate) categories: Vec<String>,

    /// Order by this column [default: group, then name]
    #[arg(long, value_name = "COLUMN", value_enum)]
    pub(crate) sort_by: Option<ResourceColumn>,

    /// Output format: wide or name
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) output: Option<String>,

    /// Print no header line
    #[arg(long)]
    pub(crate) no_headers: bool,
}

/// A column to order resources by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResourceColumn {
    /// The plural name
    Name,
    /// The kind
    Kind,
}
