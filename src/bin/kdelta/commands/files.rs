//! Reading the files of `-f` and `-k`, for all commands that have these flags.

use kdelta::object::LabelSelector;

use super::reporter::Reporter;
use crate::exit::{OwnLines, Usage, Verbatim, VerbatimLines};
use crate::manifest::{ManifestError, Manifests, Sources};
use crate::session::UnmappedKind;
use crate::settings::{Files, Selection};

/// Reads the files.
///
/// # Errors
/// The flags or words exclude each other, or a value names no file. All of these are reported together, as in kubectl.
pub(super) async fn read(files: &Files, reporter: &Reporter) -> anyhow::Result<Manifests> {
    let mut problems = files.conflicts();
    let is_conflict = !problems.is_empty();
    let sources = if is_conflict { Sources::default() } else { Sources::find(files) };
    problems.extend_from_slice(&sources.errors);
    problems.extend(files.malformed_words.iter().map(ToString::to_string));
    let is_usage = is_conflict || sources.errors.is_empty();
    let error = match (problems.as_slice(), &files.surplus_words) {
        ([], None) => {
            return Ok(Manifests::read(&sources, |line| reporter.messages().notice(line)).await);
        }
        ([], Some(surplus)) => anyhow::Error::new(surplus.clone()),
        ([problem], _) => anyhow::Error::msg(problem.clone()),
        _ => anyhow::Error::new(VerbatimLines(problems)),
    };
    Err(if is_usage { error.context(Usage) } else { error })
}

/// Parses the label selector, which is applied to the objects that the server returns.
///
/// # Errors
/// kubectl's text for a selector that can't be parsed.
pub(super) fn label_selector(selection: &Selection) -> anyhow::Result<Option<LabelSelector>> {
    let Some(text) = &selection.label_selector else { return Ok(None) };
    let parsed = LabelSelector::parse(text.trim()).map_err(|error| {
        let text = kdelta::object::go_quote(text.trim());
        anyhow::anyhow!("the provided selector {text} is not valid: {error}").context(Usage)
    });
    parsed.map(Some)
}

/// Returns the error of a document, with kubectl's form of its message.
pub(super) fn document_error(error: anyhow::Error) -> anyhow::Error {
    if let Some(ManifestError::Unreachable(message)) = error.downcast_ref() {
        return anyhow::Error::new(Verbatim(message.clone()));
    }
    // The names in it are quoted.
    if error.is::<UnmappedKind>() { error.context(OwnLines) } else { error }
}
