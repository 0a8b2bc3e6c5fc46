//! The arguments of `kdelta index`.

use clap::{Args, ValueEnum};

use super::help_template::HELP;
use super::{OneShotArgs, SelectArgs};

/// Print the values of an index and the number of objects of each
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta index pods -A --by namespace    the namespaces, with the number of pods in each
  kdelta index pods --by label:app
  kdelta index pods -A --by 'field:spec.containers[*].image'
  kdelta index pods -A --by node --top 5 the five nodes with the most pods
  kdelta index pods -A --by image -o json | jq '.values[].value'
"
)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,

    /// The index: namespace, name, label:KEY, annotation:KEY, owner, node, image or field:PATH; with =VALUE only that
    /// value
    #[arg(long, value_name = "INDEX[=VALUE]", required = true, help_heading = "Selection")]
    pub(crate) by: Vec<String>,

    /// Output format: json, yaml, kyaml, name (the values alone), csv or markdown [default: a table, on a terminal with bars]
    #[arg(short, long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output: Option<String>,

    /// Order of the values: value, or count with the largest first [default: value, and count with --top]
    #[arg(long, value_name = "COLUMN", help_heading = "Output")]
    pub(crate) sort_by: Option<CountOrder>,

    /// Print only the N values with the most objects
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true, help_heading = "Output")]
    pub(crate) top: Option<u64>,

    /// Print no header line
    #[arg(long, help_heading = "Output")]
    pub(crate) no_headers: bool,

    /// Print the data of Secrets instead of ***
    #[arg(long, help_heading = "Output")]
    pub(crate) show_secrets: bool,

    #[command(flatten)]
    pub(crate) one_shot: OneShotArgs,
}

/// The order of the values of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CountOrder {
    /// By context in the requested order, then by value
    Value,
    /// By the number of objects, largest first
    Count,
}
