//! The flags of queries about their results, their cost and their plan.

use clap::{Args, ValueEnum};

/// The flag for the plan of a query.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PlanArgs {
    /// Print the plan and send no list or watch: the requests, what the server and kdelta filter, and what is kept. Alone:
    /// text
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text"
    )]
    pub(crate) explain: Option<PlanForm>,
}

/// The form of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanForm {
    /// For a person
    Text,
    /// A JSON document
    Json,
}

/// The flags of commands that end with a result.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OneShotArgs {
    /// Exit with code 3 if nothing matches
    #[arg(long)]
    pub(crate) fail_if_empty: bool,

    /// Print statistics on stderr: objects, bytes, time and memory
    #[arg(long)]
    pub(crate) stats: bool,
}
