//! The flags of the embedded demo cluster, and the command that serves it.

use clap::Args;

use super::help_template::HELP;
use super::recording::SpeedArg;

/// The flags of the demo. They are global: every command can use it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Demo")]
pub(crate) struct DemoArgs {
    /// Use a small cluster inside the program: needs no server and no kubeconfig
    #[arg(long, global = true)]
    pub(crate) demo: bool,

    /// Additional Pods in the demo
    #[arg(long, global = true, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000), allow_negative_numbers = true)]
    pub(crate) objects: Option<u32>,

    /// Speed of the demo's changes, such as 10 or 0.5; of a replay, such as 10x or max
    #[arg(long, global = true, hide_short_help = true, value_name = "X", allow_negative_numbers = true)]
    pub(crate) speed: Option<SpeedArg>,
}

/// Serve a small cluster on loopback, for kubectl, scripts and other tools
///
/// Prints the address of its API server on one line once it is ready, and runs until it is interrupted or its output is
/// closed. No credentials are needed. With a fixed `KDELTA_DEMO_SEED`, the same changes happen each time.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta demo --port 8001                    a cluster at http://127.0.0.1:8001
  kubectl -s http://127.0.0.1:8001 get po -w kubectl with that cluster
  kdelta demo --objects 100000 --speed 10    a large, busy cluster
"
)]
pub(crate) struct DemoCommandArgs {
    /// The port on 127.0.0.1; 0 selects a free one
    #[arg(long, value_name = "PORT", default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) port: u16,
}
