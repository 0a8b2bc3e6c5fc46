//! The arguments of `kdelta events`.

use clap::Args;

use super::help_template::HELP;
use super::spelling::go_number;
use super::{MetricsArgs, TemplateArgs};

/// Print events as kubectl does, sorted by time
///
/// With -w, broken connections resume where they stopped. Deletions of events are not printed.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta events                          the events of this namespace
  kdelta events -A --types=Warning       the warnings of all namespaces
  kdelta events --for pod/web -w         the events of one object, then every further one
  kdelta events -o yaml
"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that kubectl has")]
pub(crate) struct EventsArgs {
    /// Only events about this object
    #[arg(long = "for", value_name = "TYPE/NAME", help_heading = "Selection")]
    pub(crate) object: Option<String>,

    /// Only events of these types: Normal, Warning
    #[arg(long, value_name = "TYPE", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) types: Vec<String>,

    /// All namespaces; overrides -n. Where that is not allowed, each namespace where it is
    #[arg(short = 'A', long, help_heading = "Selection")]
    pub(crate) all_namespaces: bool,

    /// Events per page of a list; 0 lists everything at once
    #[arg(long, value_name = "N", default_value = "500", value_parser = go_number::parse, allow_negative_numbers = true, help_heading = "Selection")]
    pub(crate) chunk_size: i64,

    /// Continue watching: print new and changed events as they arrive
    #[arg(short, long, help_heading = "Watch")]
    pub(crate) watch: bool,

    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,

    /// Output format: json, yaml, kyaml, name, jsonpath=TEMPLATE, jsonpath-as-json=TEMPLATE, jsonpath-file=FILE,
    /// go-template=TEMPLATE or go-template-file=FILE [default: a table]
    #[arg(short, long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) output: Option<String>,

    #[command(flatten)]
    pub(crate) template: TemplateArgs,

    /// Keep metadata.managedFields in JSON and YAML
    #[arg(long, help_heading = "Output")]
    pub(crate) show_managed_fields: bool,

    /// Print no header line
    #[arg(long, help_heading = "Output")]
    pub(crate) no_headers: bool,

    /// Ignored, as in kubectl.
    #[arg(hide = true)]
    pub(crate) ignored: Vec<String>,
}
