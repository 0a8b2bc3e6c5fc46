//! The arguments of `kdelta rollout`.

use clap::{ArgAction, Args};

use crate::args::help_template::HELP;
use crate::args::spelling::go_number;
use crate::args::{FileArgs, GoDuration};

/// Print the status of rollouts until they are complete, as `kubectl rollout status` does
///
/// Rollouts are those of deployments, daemon sets and stateful sets. A line is printed for each change. Unlike in kubectl,
/// broken connections resume where they stopped.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta rollout status deploy/web       until its rollout is complete
  kdelta rollout status deploy -l app=web --timeout=5m
  kdelta rollout status sts/db --watch=false
  kdelta rollout status -f app.yaml
"
)]
pub(crate) struct RolloutArgs {
    /// status; the other actions of kubectl's command change objects or show revisions
    #[arg(value_name = "ACTION", help_heading = "Resources")]
    pub(crate) action: Option<String>,

    /// TYPE [NAME…] or TYPE/NAME…
    #[arg(value_name = "RESOURCE", help_heading = "Resources")]
    pub(crate) resources: Vec<String>,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    /// Label selector: key=value, key!=value, 'key in (a, b)', key, !key, joined by commas
    #[arg(short = 'l', long, value_name = "SELECTOR", help_heading = "Selection")]
    pub(crate) selector: Option<String>,

    /// Continue until the rollout is complete; =false: print the status and end
    #[arg(short, long, action = ArgAction::Set, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(
        default_value = "true",
        default_missing_value = "true",
        hide_default_value = true,
        hide_possible_values = true
    )]
    #[arg(help_heading = "End")]
    pub(crate) watch: bool,

    /// Fail unless deployments have this revision; 0 stands for the latest
    #[arg(long, value_name = "N", default_value = "0", value_parser = go_number::parse, allow_negative_numbers = true)]
    #[arg(hide_default_value = true, help_heading = "End")]
    pub(crate) revision: i64,

    /// The time for each object, such as 90s or 5m; 0 is no limit
    #[arg(
        long,
        value_name = "DURATION",
        allow_hyphen_values = true,
        default_value = "0s",
        hide_default_value = true
    )]
    #[arg(value_parser = GoDuration::parse, help_heading = "End")]
    pub(crate) timeout: GoDuration,
}
