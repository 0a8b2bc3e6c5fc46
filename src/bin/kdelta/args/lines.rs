//! The flags of `watch` and `get -w` for printed lines, their contents and their delivery.

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use kdelta::lines::FIELDS;

/// The flags for the contents of lines and for the updates that are printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Lines")]
pub(crate) struct LineArgs {
    /// Print the changes of each update under its row, and the field manager that made them; in JSON lines as `changes`
    /// and `manager`. Alone: inline
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "inline"
    )]
    pub(crate) changes: Option<ChangesArg>,

    /// Print the state before an update in JSON lines, as `old`
    #[arg(long)]
    pub(crate) old: bool,

    /// Print only these fields in JSON lines, such as type,name,object; the order is fixed
    #[arg(
        long,
        value_name = "FIELD",
        value_delimiter = ',',
        allow_hyphen_values = true,
        value_parser = PossibleValuesParser::new(FIELDS),
        hide_possible_values = true
    )]
    pub(crate) fields: Vec<String>,

    #[command(flatten)]
    pub(crate) updates: UpdateArgs,

    /// Print a row for each update, even if the row is unchanged
    #[arg(long)]
    pub(crate) show_all: bool,

    /// Print the data of Secrets in the --changes lines under a row
    #[arg(long)]
    pub(crate) show_secrets: bool,
}

/// The flags that select updates by what they change. They stand under the heading of the flags around them.
#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Suppress updates that change nothing but this field, such as status.conditions[*].lastHeartbeatTime; may be
    /// repeated
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(crate) ignore: Vec<String>,

    /// Suppress updates that do not change this field, such as spec; may be repeated
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(crate) only: Vec<String>,

    /// Suppress updates that do not change this field, or with jq=EXPRESSION the results of an expression; of repeated flags
    /// one must change
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(crate) changed_by: Vec<String>,
}

/// The form of changes under a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChangesArg {
    /// A line for each changed field: `path: old → new`
    Inline,
    /// A unified diff of the YAML before and after
    Unified,
    /// A JSON Patch (RFC 6902) on one line
    JsonPatch,
    /// A JSON Merge Patch (RFC 7386) on one line
    MergePatch,
    /// No changes, against a default of the configuration
    None,
}

/// The flag for the metrics of a command that watches.
#[derive(Debug, Args)]
#[command(next_help_heading = "Watch")]
pub(crate) struct MetricsArgs {
    /// Serve /metrics for Prometheus, /healthz and /readyz on a PORT of the loopback address, or on HOST:PORT; port 0
    /// selects a free one, which is printed
    #[arg(long, value_name = "ADDRESS", allow_hyphen_values = true)]
    pub(crate) metrics: Option<String>,
}

/// The flags for the start of a watch and the delivery of its events.
#[derive(Debug, Args)]
#[command(next_help_heading = "Watch")]
pub(crate) struct FlowArgs {
    /// Watch without printing the initial state
    #[arg(long)]
    pub(crate) watch_only: bool,

    /// Print each object with the type of its event; `kdelta watch` always does
    #[arg(long)]
    pub(crate) output_watch_events: bool,

    /// Resume after this version, the `resume` of a JSON line, without an initial state; for one type in one namespace
    /// or in all
    #[arg(long, value_name = "VERSION", allow_hyphen_values = true)]
    pub(crate) resource_version: Option<String>,

    /// Print everything again, as SYNC, at this interval, such as 10m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) resync: Option<String>,

    /// The policy for lines that are read more slowly than changes arrive
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = OnSlowArg::Block)]
    pub(crate) on_slow: OnSlowArg,
}

/// The policy for changes that a slow reader has not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnSlowArg {
    /// Let the server wait: every change is printed
    Block,
    /// Merge the changes of each object; lines then have no `resume`
    Coalesce,
}
