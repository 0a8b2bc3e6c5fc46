//! `kdelta recording cut`: a part as a recording.

use std::path::Path;

use kdelta::recording::{CutOptions, Writer, cut};

use super::part::{SelectedPart, selected_parts};
use super::report::report;
use crate::commands::record::redaction;
use crate::exit::ExitCode;
use crate::output::Messages;
use crate::settings::{Contexts, RecordingPart, Redacted};

/// Copies the selected part of each context.
pub(super) fn run(
    part: &RecordingPart,
    redacted: &Redacted,
    contexts: &Contexts,
    to: &Path,
    messages: &Messages,
) -> anyhow::Result<ExitCode> {
    let redaction = redaction(redacted, to)?;
    for SelectedPart { recording, since, until, filter } in selected_parts(part, contexts)? {
        let dir = Writer::directory(to, recording.context());
        let options =
            CutOptions::default().since(since).until(until).filter(filter).redaction(redaction.clone());
        cut(&recording, &dir, &options)?;
        report(&dir, messages)?;
    }
    Ok(ExitCode::Ok)
}
