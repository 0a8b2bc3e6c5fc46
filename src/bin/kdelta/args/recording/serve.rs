//! The arguments of `kdelta serve`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::args::WatchedObjectsArgs;
use crate::args::help_template::HELP;

/// Serve a recording, or a live mirror, as a read-only cluster, for kubectl, k9s and other tools
///
/// Prints the path of a kubeconfig on one line once it is ready, and runs until it is interrupted or its output is closed.
/// The kubeconfig has a context for each served one, a random token and the certificate of this run; it is removed at the
/// end. Tables, discovery and schemas are those of the server that was recorded or is mirrored, and writes are refused.
///
/// The moment of a recording stands still (--at), or goes on from --since as it was recorded, --speed times as fast.
/// --move-to moves it in a running server: watches end as expired, and clients list again.
///
/// --follow mirrors the selected objects of a cluster in memory, with one watch for each type, however many clients there
/// are. The values of Secrets are keyed hashes, with a key of this run.
#[derive(Debug, Args)]
#[command(
    help_template = HELP,
    before_help = "\
Examples:
  kdelta serve --from rec --at 03:12     the state at 03:12; prints FILE
  kubectl --kubeconfig FILE get pods -A  kubectl with it
  kdelta serve --from rec --since 03:00 --speed 60x
  kdelta serve --move-to 03:20 --kubeconfig FILE
  kdelta serve --follow pods,deploy -A   a live mirror of two types
"
)]
pub(crate) struct ServeArgs {
    /// Mirror the objects of a cluster that RESOURCE and the flags of Selection and Filter select, in place of a recording;
    /// the flags of Redaction apply to them
    #[arg(long, help_heading = "Mirror")]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) objects: WatchedObjectsArgs,

    /// Replay the recording from this moment on, which it takes as --at does
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Moment")]
    pub(crate) since: Option<String>,

    /// Move the running server that the kubeconfig selects to this moment, as --at takes it, or to its `end`, and exit
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Moment")]
    pub(crate) move_to: Option<String>,

    /// The port; 0 selects a free one
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        allow_negative_numbers = true,
        help_heading = "Server"
    )]
    pub(crate) port: u16,

    /// The address of this machine to listen on; with another one than 127.0.0.1, other machines can use the kubeconfig too
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", help_heading = "Server")]
    pub(crate) address: IpAddr,

    /// Write the kubeconfig to this new file [default: a file in the cache directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Server")]
    pub(crate) write_kubeconfig: Option<PathBuf>,
}
