//! The arguments of `kdelta wait` that kubectl does not have.

use clap::Args;

use crate::args::{ByArgs, FilterArgs};

/// The flags of a wait for a set of objects.
#[derive(Debug, Args)]
#[command(next_help_heading = "Set of objects")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct SetWaitArgs {
    /// Wait until one object meets the conditions, not all
    #[arg(long, group = "quantifier")]
    pub(crate) any: bool,

    /// Wait until no object meets them
    #[arg(long, group = "quantifier")]
    pub(crate) none: bool,

    /// Wait until N objects or more meet them
    #[arg(long, value_name = "N", group = "quantifier")]
    pub(crate) at_least: Option<usize>,

    /// Wait until N objects or fewer meet them
    #[arg(long, value_name = "N", group = "quantifier")]
    pub(crate) at_most: Option<usize>,

    /// Count objects that have met them at any time since the start, not only those that do at the same moment
    #[arg(long)]
    pub(crate) was: bool,

    /// The time for which they must hold without interruption: seconds, or a duration such as 1m30s
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) stable: Option<String>,

    /// End with exit code 6 once an object meets this condition, in a form of --for; may be repeated
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    pub(crate) fail_on: Vec<String>,

    /// End with exit code 6 once an object is in a state that rarely passes: an image can't be pulled, a container crashes
    /// again and again, a deployment exceeds its progress deadline, or it has failed by kstatus' rules
    #[arg(long)]
    pub(crate) fail_fast: bool,

    /// Wait for objects that do not exist yet, as all other flags here do
    #[arg(long)]
    pub(crate) wait_for_create: bool,

    /// Only namespaces with these labels, among those of -n or all
    #[arg(long, value_name = "SELECTOR", help_heading = "Selection")]
    pub(crate) namespace_selector: Option<String>,

    #[command(flatten)]
    pub(crate) index: ByArgs,

    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}
