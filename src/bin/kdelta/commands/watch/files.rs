//! `kdelta watch -f` and `-k`: the objects that files name.

use std::collections::HashSet;

use anyhow::{anyhow, bail};

use crate::commands::files::{document_error, read};
use crate::commands::reporter::Reporter;
use crate::exit::Several;
use crate::session::{FileObject, Part, ResolvedDocument, Session, TargetSet};
use crate::settings::{Files, Watch, WatchForm};

/// Returns the targets of a watch of the objects in files, and the number of files.
///
/// # Errors
/// A file or document can't be used, or an object has no name. All of these errors are reported.
pub(in crate::commands) async fn targets(
    session: &Session,
    watch: &Watch,
    files: &Files,
    reporter: &Reporter,
) -> anyhow::Result<(TargetSet, usize)> {
    let selection = &watch.selection;
    let manifests = read(files, reporter).await?;
    let (mut parts, mut errors) = (Vec::new(), Vec::new());
    for resolved in session.resolve_files(&manifests.entries, &selection.namespaces).await {
        match resolved {
            ResolvedDocument::List(_) if matches!(watch.form, WatchForm::Get(_)) => {
                errors.push(ListInFile.into());
            }
            resolved => add(resolved, &mut parts, &mut errors),
        }
    }
    if !errors.is_empty() {
        return Err(anyhow::Error::new(Several(errors)));
    }
    if parts.is_empty() {
        bail!("the files name no objects");
    }
    let sources: HashSet<&str> = manifests.entries.iter().map(|entry| entry.source.as_str()).collect();
    Ok((TargetSet::of_objects(session, selection, &parts)?, sources.len()))
}

/// kubectl does not watch the items of a list in a file.
#[derive(Debug, thiserror::Error)]
#[error(
    "watch is only supported on individual resources and resource collections, but a list of resources is found"
)]
struct ListInFile;

/// Adds the parts of the objects, or their errors.
fn add(resolved: ResolvedDocument, parts: &mut Vec<Part>, errors: &mut Vec<anyhow::Error>) {
    match resolved {
        ResolvedDocument::Object(FileObject { part, unnamed, refused, wrong_namespace }) => {
            match refused.or(wrong_namespace) {
                Some(error) => errors.push(error),
                None if unnamed.is_some() => errors
                    .push(anyhow!("an object of type {} has no name, so it can't be watched", part.title())),
                None => parts.push(part),
            }
        }
        ResolvedDocument::Failed(error) => errors.push(document_error(error)),
        ResolvedDocument::List(items) => items.into_iter().for_each(|item| add(item, parts, errors)),
    }
}
