//! The cluster in the program: the flags that ask for it, and the command that serves it.

use clap::Args;

use super::HELP;

/// The flags of the demo. They are global: any command can work on it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Demo")]
pub(crate) struct DemoArgs {
    /// Work on a small cluster that runs inside the program: no server and no kubeconfig needed
    #[arg(long, global = true)]
    pub(crate) demo: bool,

    /// Pods that the demo has beyond its usual ones
    #[arg(long, global = true, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000), allow_negative_numbers = true)]
    pub(crate) objects: Option<u32>,

    /// How much faster than usual the demo's cluster lives, such as 10 or 0.5
    #[arg(long, global = true, hide_short_help = true, value_name = "X", allow_negative_numbers = true)]
    pub(crate) speed: Option<f64>,
}

/// Serve a small cluster on loopback, for kubectl, scripts and other tools
///
/// Prints the address of its API server on one line once it answers, and runs until it is interrupted or its output is
/// closed. There are no credentials. With the same number in `KDELTA_DEMO_SEED` the same things
/// happen.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta demo --port 8001                    a cluster at http://127.0.0.1:8001
  kubectl -s http://127.0.0.1:8001 get po -w and kubectl on it
  kdelta demo --objects 100000 --speed 10    a large cluster that is always busy
"
)]
pub(crate) struct DemoCommandArgs {
    /// The port on 127.0.0.1; 0 is any that is free
    #[arg(long, value_name = "PORT", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) port: u16,
}
