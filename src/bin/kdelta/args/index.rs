//! The arguments of `kdelta index`.

use clap::{Args, ValueEnum};

use super::help_template::HELP;
use super::{MetricsArgs, OneShotArgs, PlanArgs, SelectArgs};

/// Print the values of an index, with the number of objects of each or with aggregates of their fields
///
/// Several indices make a table: the last one has the columns, the others have the rows, and each row and column has a
/// total, in which an object counts once. Aggregates read numbers and quantities, and skip objects without the field.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta index pods -A --by namespace    the namespaces, with the number of pods in each
  kdelta index pods --by label:app!=web
  kdelta index pods -A --by node --by field:status.phase
  kdelta index pods -A --by node --sum 'spec.containers[*].resources.requests.memory'
  kdelta index pods -A --by 'cel:object.metadata.name.split(\"-\")[0]'
  kdelta index pods -A --by node --top 5 the five nodes with the most pods
  kdelta index pods -A --by node -w      the same, kept up to date
  kdelta index pods -A --by image -o json | jq '.values[].value'
"
)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,

    /// The index: namespace, name, label:KEY, annotation:KEY, owner, node, image, field:PATH or cel:EXPRESSION; with
    /// =VALUE[,VALUE] or !=VALUE only such values. May be repeated, for a table
    #[arg(long, value_name = "INDEX[=VALUE]", required = true, help_heading = "Selection")]
    pub(crate) by: Vec<String>,

    #[command(flatten)]
    pub(crate) aggregates: AggregateArgs,

    /// Output format: json, yaml, kyaml, name (the values alone), csv or markdown [default: a table, on a terminal with bars]
    #[arg(short, long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output: Option<String>,

    /// Order of the values: value, or by count or an aggregate with the largest first [default: value, and count with --top]
    #[arg(long, value_name = "COLUMN", help_heading = "Output")]
    pub(crate) sort_by: Option<CountOrder>,

    /// Print only the N values with the most objects, or with the largest aggregate of --sort-by
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true, help_heading = "Output")]
    pub(crate) top: Option<u64>,

    /// Print no header line
    #[arg(long, help_heading = "Output")]
    pub(crate) no_headers: bool,

    /// Print the data of Secrets instead of ***
    #[arg(long, help_heading = "Output")]
    pub(crate) show_secrets: bool,

    /// Continue watching: on a terminal the table stays up to date, otherwise each changed value is a line, with -o json a
    /// JSON line
    #[arg(short, long, help_heading = "Watch")]
    pub(crate) watch: bool,

    /// With -w, stop after a time: seconds, or a duration such as 1h30m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Watch")]
    pub(crate) duration: Option<String>,

    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,

    #[command(flatten)]
    pub(crate) one_shot: OneShotArgs,

    #[command(flatten)]
    pub(crate) plan: PlanArgs,
}

/// The flags of aggregates.
#[derive(Debug, Args)]
#[command(next_help_heading = "Aggregates")]
pub(crate) struct AggregateArgs {
    /// Print the sum of the numbers or quantities at a path; may be repeated
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(crate) sum: Vec<String>,

    /// Print their average, rounded to a thousandth, or to a whole number with suffixes such as Mi
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(crate) avg: Vec<String>,

    /// Print the smallest
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(crate) min: Vec<String>,

    /// Print the largest
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(crate) max: Vec<String>,
}

/// The order of the values of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CountOrder {
    /// By context in the requested order, then by value
    Value,
    /// By the number of objects, largest first
    Count,
    /// By the first --sum, largest first
    Sum,
    /// By the first --avg, largest first
    Avg,
    /// By the first --min, largest first
    Min,
    /// By the first --max, largest first
    Max,
}
