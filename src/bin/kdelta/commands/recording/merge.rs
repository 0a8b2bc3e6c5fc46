//! `kdelta recording merge`: several recordings as one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kdelta::recording::{Recording, Writer, merge};

use super::report::report;
use super::selected::Selected;
use super::target::Target;
use crate::exit::ExitCode;
use crate::output::Messages;

/// Merges the recordings of each context.
pub(super) fn run(
    dirs: &[PathBuf],
    contexts: &Selected<'_>,
    target: &Target<'_>,
    messages: &Messages,
) -> anyhow::Result<ExitCode> {
    let mut recordings: BTreeMap<String, Vec<Recording>> = BTreeMap::new();
    for dir in dirs {
        for (_, path) in contexts.paths(dir)? {
            let recording = contexts.open(&path)?;
            target.check(&recording)?;
            recordings.entry(recording.context().to_owned()).or_default().push(recording);
        }
    }
    for (context, recordings) in recordings {
        let dir = Writer::directory(target.dir, &context);
        merge(&recordings, &dir, target.encryption.as_ref())?;
        report(&dir, contexts, messages)?;
    }
    Ok(ExitCode::Ok)
}
