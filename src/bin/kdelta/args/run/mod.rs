//! The arguments of `kdelta run`.

mod calls;

use calls::{CallArgs, RunChangeArgs};
pub(crate) use calls::{OnArg, RunEndArgs};

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::help_template::HELP;
use super::{ByArgs, FileArgs, MetricsArgs, PlanArgs, SelectArgs};

/// Run a command for each object, then for every change, until interrupted
///
/// The command receives the JSON line of `kdelta watch -o json` on its standard input, and its main fields in variables such
/// as `KDELTA_EVENT_NAME`. Changes of one object come in order, one at a time. A command that fails is run again after a
/// growing delay.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    override_usage = "kdelta run [OPTIONS] TYPE[/NAME]... -- CMD [ARG]...",
    before_help = "\
Examples:
  kdelta run pods -- ./on-pod.sh         for each pod, then for each change
  kdelta run deploy -A --no-initial --on added,deleted -- ./notify.sh
  kdelta run cm --jobs 4 -- sh -c 'jq .object > \"$KDELTA_EVENT_NAME\"'
  kdelta run pods --checkpoint pods.ckpt -- ./on-pod.sh
  kdelta run ns --batch 100 --debounce 2s --latest -- ./import.sh
"
)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) select: SelectArgs,

    #[command(flatten)]
    pub(crate) index: ByArgs,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    /// Do not fail if a name does not exist: wait for it
    #[arg(long, help_heading = "Selection")]
    pub(crate) ignore_not_found: bool,

    #[command(flatten)]
    pub(crate) changes: RunChangeArgs,

    #[command(flatten)]
    pub(crate) calls: CallArgs,

    /// Keep progress in FILE: a later run continues there, and runs the command at least once for each change
    #[arg(long, value_name = "FILE", help_heading = "Progress")]
    pub(crate) checkpoint: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) metrics: MetricsArgs,

    #[command(flatten)]
    pub(crate) end: RunEndArgs,

    #[command(flatten)]
    pub(crate) plan: PlanArgs,

    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD", help_heading = "Resources")]
    pub(crate) called: Vec<OsString>,
}
