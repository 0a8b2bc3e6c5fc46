//! `kdelta recording`: tools for the files of recordings, without a cluster.

mod cut;
mod export;
mod import;
mod info;
mod known_names;
mod merge;
mod part;
mod report;
mod types;
mod verify;

use std::io::Write;

use crate::exit::ExitCode;
use crate::output::Messages;
use crate::settings::{RecordingTool, Settings};

/// Runs a tool.
///
/// # Errors
/// A recording can't be read or written, or is damaged, or there is no such context, type or moment.
pub(crate) fn run(
    tool: &RecordingTool,
    settings: &Settings,
    messages: &Messages,
    out: impl Write,
) -> anyhow::Result<ExitCode> {
    let (contexts, stdout) = (&settings.connection.contexts, settings.terminal.stdout);
    match tool {
        RecordingTool::Info { dir, format } => info::run(dir, contexts, *format, stdout, messages, out),
        RecordingTool::Verify { dir, format } => verify::run(dir, contexts, *format, stdout, messages, out),
        RecordingTool::Cut { part, redacted, to } => cut::run(part, redacted, contexts, to, messages),
        RecordingTool::Merge { dirs, to } => merge::run(dirs, contexts, to, messages),
        RecordingTool::Export { part } => export::run(part, contexts, messages, out),
        RecordingTool::Import { input, to } => import::run(input, to, messages),
    }
}
