//! Which lines a watch prints, what stands in them, and how they get there: flags of `watch` and `get -w`.

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

/// The fields of a JSON line, in their order.
const FIELDS: [&str; 22] = [
    "v",
    "seq",
    "ts",
    "type",
    "origin",
    "resume",
    "context",
    "group",
    "version",
    "kind",
    "resource",
    "namespace",
    "name",
    "uid",
    "from",
    "to",
    "seconds",
    "resourceVersion",
    "object",
    "finalStateUnknown",
    "old",
    "changes",
];

/// What stands in a line, and which updates are worth one.
#[derive(Debug, Args)]
#[command(next_help_heading = "Lines")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct LineArgs {
    /// Say what changed with each update: under its row as `path: old → new`, in JSON as `changes`
    #[arg(long)]
    pub(crate) changes: bool,

    /// Show the state before an update in JSON lines, as `old`
    #[arg(long)]
    pub(crate) old: bool,

    /// Only these fields in JSON lines, such as type,name,object; in their usual order
    #[arg(
        long,
        value_name = "FIELD",
        value_delimiter = ',',
        allow_hyphen_values = true,
        value_parser = PossibleValuesParser::new(FIELDS),
        hide_possible_values = true
    )]
    pub(crate) fields: Vec<String>,

    /// Pass over updates that change nothing but this field, such as status.conditions[*].lastHeartbeatTime; may be
    /// repeated
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(crate) ignore: Vec<String>,

    /// Pass over updates that do not change this field, such as spec; may be repeated
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(crate) only: Vec<String>,

    /// Print a row for each update, also where it shows nothing new
    #[arg(long)]
    pub(crate) show_all: bool,

    /// Show the data of Secrets in what --changes says under a row
    #[arg(long)]
    pub(crate) show_secrets: bool,
}

/// Where a watch begins, and how it goes on.
#[derive(Debug, Args)]
#[command(next_help_heading = "Watch")]
pub(crate) struct FlowArgs {
    /// Go on after this version, the `resume` of a JSON line, without an initial state; of one type in one namespace
    /// or in all
    #[arg(long, value_name = "VERSION", allow_hyphen_values = true)]
    pub(crate) resource_version: Option<String>,

    /// Print everything again, as SYNC, each time that so much time has passed, such as 10m
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) resync: Option<String>,

    /// What to do when lines are read more slowly than changes come
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = OnSlowArg::Block)]
    pub(crate) on_slow: OnSlowArg,
}

/// What becomes of changes for which a reader is too slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnSlowArg {
    /// Let the server wait: every change is printed
    Block,
    /// Merge the changes of each object; `resume` can't be said then
    Coalesce,
}
