//! The flags that select a recording in place of a cluster, and the arguments of the commands for recordings.

mod changes;
mod history;
mod range;
mod serve;
mod speed;
mod tools;

pub(crate) use changes::ChangesArgs;
pub(crate) use history::HistoryArgs;
pub(crate) use range::RangeArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use speed::SpeedArg;
pub(crate) use tools::RecordingToolArgs;

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// The flags of recordings. They are global: every command that reads can use one.
#[derive(Debug, Args)]
#[command(next_help_heading = "Recording")]
pub(crate) struct RecordingArgs {
    /// Read a recording in place of a cluster: a directory of recordings, whose contexts --context selects, or one of these
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) from: Option<PathBuf>,

    /// The moment to read: a time such as 2026-11-24T03:12:00Z or 03:12 (local, the last one), -10m (before the recording's
    /// end), or rv:VERSION [default: the end]
    #[arg(long, global = true, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) at: Option<String>,

    /// Read encrypted recordings with this file of age identities, as age-keygen writes it; may be repeated [default: your
    /// own recordings only]
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) identity: Vec<PathBuf>,
}
