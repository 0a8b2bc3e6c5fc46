//! `kdelta recording`: tools for the files of recordings, without a cluster.

mod cut;
mod excerpts;
mod export;
mod import;
mod info;
mod known_names;
mod merge;
mod report;
mod selected;
mod target;
mod types;
mod verify;

use std::io::Write;

use crate::exit::ExitCode;
use crate::output::Messages;
use crate::session::keyring;
use crate::settings::{RecordingTool, Settings};
use selected::Selected;
use target::Target;

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
    let contexts =
        &Selected { contexts: &settings.connection.contexts, keyring: keyring(&settings.recording_keys)? };
    let stdout = settings.terminal.stdout;
    match tool {
        RecordingTool::Info { dir, format } => info::run(dir, contexts, *format, stdout, messages, out),
        RecordingTool::Verify { dir, format } => verify::run(dir, contexts, *format, stdout, messages, out),
        RecordingTool::Cut { excerpt, redacted, to, encryption } => {
            let target = Target::new(to, encryption, &contexts.keyring)?;
            cut::run(excerpt, redacted, contexts, &target, messages)
        }
        RecordingTool::Merge { dirs, to, encryption } => {
            merge::run(dirs, contexts, &Target::new(to, encryption, &contexts.keyring)?, messages)
        }
        RecordingTool::Export { excerpt } => export::run(excerpt, contexts, messages, out),
        RecordingTool::Import { input, redacted, to, encryption } => {
            let target = Target::new(to, encryption, &contexts.keyring)?;
            import::run(input, redacted, &target, contexts, messages)
        }
    }
}
