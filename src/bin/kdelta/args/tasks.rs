//! The arguments of `watch`, `get` and `explain`.

use clap::Args;

use super::help_template::HELP;
use super::{
    ByArgs, FileArgs, FlowArgs, LineArgs, MetricsArgs, OneShotArgs, PlanArgs, PrintArgs, RangeArgs, RowArgs,
    SelectArgs,
};

/// Print the current objects, then every change, until interrupted
///
/// Broken connections resume where they stopped. If the server no longer has that history, kdelta lists again and
/// prints the difference, including deletions. Losses and recoveries are reported on stderr. For scripts that expect
/// kubectl's rows and documents, use `kdelta get -w`, which survives in the same way.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta watch pods                      the pods of this namespace
  kdelta watch deploy/web -n shop        one deployment
  kdelta watch pods,svc -A -o json       two types in one stream of JSON lines
  kdelta watch --all-kinds -n 'team-*'   all types in these namespaces, new ones included
  kdelta watch nodes --context 'prod-*'  the nodes of several clusters
  kdelta watch pods --watch-only --count 1
  kdelta watch pods -o json | jq 'select(.type==\"DELETED\").name'
  kdelta watch deploy --changes --only spec
  kdelta watch pods --from rec --since -1h --speed 60x
"
)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) objects: ObjectArgs,

    #[command(flatten)]
    pub(crate) rows: RowArgs,

    #[command(flatten)]
    pub(crate) range: RangeArgs,
}

/// The arguments that `watch` and `get` share: the objects, how they are printed, and how they are watched.
#[derive(Debug, Args)]
pub(crate) struct ObjectArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) index: ByArgs,

    /// Do not fail if a name does not exist; `kdelta watch` waits for it
    #[arg(long, help_heading = "Selection")]
    pub(crate) ignore_not_found: bool,

    #[command(flatten)]
    pub(crate) print: PrintArgs,

    #[command(flatten)]
    pub(crate) flow: FlowArgs,

    #[command(flatten)]
    pub(crate) lines: LineArgs,

    #[command(flatten)]
    pub(crate) until: UntilArgs,

    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,

    #[command(flatten)]
    pub(crate) plan: PlanArgs,
}

/// The conditions that end a watch with exit code 0.
#[derive(Debug, Args)]
#[command(next_help_heading = "End")]
pub(crate) struct UntilArgs {
    /// Stop after N printed deltas in total
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), allow_hyphen_values = true)]
    pub(crate) count: Option<u64>,

    /// Stop after a time: seconds, or a duration such as 1h30m. If --count is not reached by then, the exit code is 5
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) duration: Option<String>,

    /// Stop once the initial state is complete: everything that matches at that moment
    #[arg(long)]
    pub(crate) until_synced: bool,
}

/// Print objects as kubectl does, or those that an index has under a value
///
/// With -w, the output is that of `kubectl get -w`, but broken connections resume as in `kdelta watch`. --changes, --old,
/// --fields, --show-secrets and --resync select the output of `kdelta watch` instead.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta get pods -A                     kubectl's table
  kdelta get pods -A --by node=worker-1  the pods of one node
  kdelta get pods --by field:status.phase=Pending,Failed
  kdelta get deploy web -o yaml
  kdelta get -f app.yaml                 the objects that a file names
"
)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    pub(crate) objects: ObjectArgs,

    /// Print the server's response to a GET request for PATH as it is
    #[arg(long, value_name = "PATH", allow_hyphen_values = true, help_heading = "Resources")]
    pub(crate) raw: Option<String>,

    /// Print this subresource of the named objects: status, scale, resize or another
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, help_heading = "Selection")]
    pub(crate) subresource: Option<String>,

    /// Sort by a field, given as a path such as .metadata.name or '{.status.startTime}': numbers, quantities and texts
    #[arg(long, value_name = "PATH", allow_hyphen_values = true, help_heading = "Output")]
    pub(crate) sort_by: Option<String>,

    /// Continue watching, and print what `kubectl get -w` prints; `kdelta watch` prints what changed, of many types at once
    #[arg(short, long, help_heading = "Watch", display_order = 0)]
    pub(crate) watch: bool,

    #[command(flatten)]
    pub(crate) one_shot: OneShotArgs,
}

/// Print the documentation of a resource type or of its fields
///
/// A field is selected by its path, such as pods.spec.containers. The documentation comes from the server and also
/// describes custom resources.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta explain pods                    the fields of a type
  kdelta explain pods.spec.containers    one field and its fields
  kdelta explain deploy.spec -R          the fields of fields too, one line each
  kdelta explain hpa --api-version=autoscaling/v1
"
)]
pub(crate) struct ExplainArgs {
    /// A resource type, or the path of a field: TYPE.FIELD[.FIELD...]
    // The command checks the number itself, with kubectl's messages.
    #[arg(value_name = "TYPE[.FIELD]")]
    pub(crate) fields: Vec<String>,

    /// Print the fields of fields too
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,

    /// The version to explain, as GROUP/VERSION [default: the preferred one]
    #[arg(long, value_name = "VERSION")]
    pub(crate) api_version: Option<String>,

    /// Output format: plaintext or plaintext-openapiv2
    #[arg(short, long, value_name = "FORMAT", default_value = "plaintext", hide_default_value = true)]
    pub(crate) output: String,
}
