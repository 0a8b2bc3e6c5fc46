//! The arguments of `kdelta tree`.

use clap::{Args, ValueEnum};

use super::help_template::HELP;
use super::{MetricsArgs, OneShotArgs, PlanArgs, SelectArgs};

/// Print objects with their owners above and all objects that they own below
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta tree deploy/web                 its replica sets and their pods, with status and age
  kdelta tree pod/web-5d4b-x7z2p         its owners, up to the deployment
  kdelta tree deploy -l app=web -A
  kdelta tree deploy/web -w              the same, kept up to date
  kdelta tree deploy/web --related       with its services, nodes, config maps, events and others
  kdelta tree node/worker-1 --depth 1
  kdelta tree deploy/web -o mermaid      for a diagram; dot is for Graphviz
  kdelta tree deploy/web -o json | jq '.. | select(.status? == \"Failed\") | .name'
"
)]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,

    /// At most N levels below each selected object
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64), allow_negative_numbers = true, help_heading = "Output")]
    pub(crate) depth: Option<u64>,

    /// Types to include that trees leave out because they change often; comma-separated, may be repeated
    #[arg(long, value_name = "TYPE", value_enum, value_delimiter = ',', help_heading = "Output")]
    pub(crate) include: Vec<BusyType>,

    /// Add objects that are related in other ways than ownership: services, ingresses, nodes, volumes, config maps, secrets,
    /// autoscalers and events
    #[arg(long, help_heading = "Output")]
    pub(crate) related: bool,

    /// Output format: json, yaml, kyaml, name, dot or mermaid [default: a tree with status and age]
    #[arg(short, long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output: Option<String>,

    /// Print no header line
    #[arg(long, help_heading = "Output")]
    pub(crate) no_headers: bool,

    /// Continue watching: on a terminal the tree stays up to date, otherwise it is printed again after each change, with
    /// -o json as one line
    #[arg(short, long, help_heading = "Watch")]
    pub(crate) watch: bool,

    /// With -w, stop after a time: seconds, or a duration such as 1h30m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Watch")]
    pub(crate) duration: Option<String>,

    #[command(flatten)]
    pub(crate) plan: PlanArgs,

    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,

    #[command(flatten)]
    pub(crate) one_shot: OneShotArgs,
}

/// A type whose objects change several times a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BusyType {
    /// Events that have owners
    Events,
    /// Leases, such as those of nodes
    Leases,
}
