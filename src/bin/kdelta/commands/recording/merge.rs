//! `kdelta recording merge`: several recordings as one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kdelta::recording::{Recording, Writer, merge};

use super::report::report;
use crate::exit::ExitCode;
use crate::output::Messages;
use crate::session::selected_recordings;
use crate::settings::Contexts;

/// Merges the recordings of each context.
pub(super) fn run(
    dirs: &[PathBuf],
    contexts: &Contexts,
    to: &Path,
    messages: &Messages,
) -> anyhow::Result<ExitCode> {
    let mut recordings: BTreeMap<String, Vec<Recording>> = BTreeMap::new();
    for dir in dirs {
        for (_, path) in selected_recordings(dir, contexts)? {
            let recording = Recording::open(&path)?;
            recordings.entry(recording.context().to_owned()).or_default().push(recording);
        }
    }
    for (context, recordings) in recordings {
        let dir = Writer::directory(to, &context);
        merge(&recordings, &dir, None)?;
        report(&dir, messages)?;
    }
    Ok(ExitCode::Ok)
}
