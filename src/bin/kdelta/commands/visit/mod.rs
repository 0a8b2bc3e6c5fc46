//! The objects that the words, selectors or files of kubectl's commands name, visited one after the other.
//!
//! As in kubectl, a named object is requested when its turn comes, a collection is listed when its turn comes, and an error
//! does not end the visit.

mod files;
mod object_watch;
mod requests;
mod words;

pub(super) use requests::{ObjectRequests, VisitedObject};

use self::files::VisitedFiles;
use self::words::VisitedWords;
use super::reporter::Reporter;
use crate::exit::ExitCode;
use crate::manifest::Entry;
use crate::session::PlannedPart;
use crate::settings::RequestedObjects;

/// A finished visit.
pub(super) enum Visited<'a> {
    Words(Box<VisitedWords<'a>>),
    Files(VisitedFiles),
}

/// Reads the documents of the files, if there are any.
///
/// # Errors
/// As [`super::files::read`].
pub(super) async fn entries(objects: &RequestedObjects, reporter: &Reporter) -> anyhow::Result<Vec<Entry>> {
    match &objects.files {
        Some(files) => Ok(super::files::read(files, reporter).await?.entries),
        None => Ok(Vec::new()),
    }
}

/// Visits the requested objects. `entries` are the documents of their files.
///
/// # Errors
/// A word names no type, a type has no names and needs them, or the label selector for files can't be parsed. Other
/// failures, those of `visit` included, are part of the result.
pub(super) async fn visit<'a>(
    requests: &ObjectRequests<'a>,
    objects: &RequestedObjects,
    entries: &[Entry],
    visit: impl AsyncFnMut(VisitedObject) -> anyhow::Result<()>,
) -> anyhow::Result<Visited<'a>> {
    Ok(match &objects.files {
        Some(_) => Visited::Files(files::visit(requests, entries, visit).await?),
        None => Visited::Words(Box::new(words::visit(requests, objects.needs_names, visit).await?)),
    })
}

impl Visited<'_> {
    /// Returns the number of objects.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Words(visited) => visited.count,
            Self::Files(visited) => visited.count,
        }
    }

    /// Whether nothing has failed.
    pub(super) fn is_complete(&self) -> bool {
        match self {
            Self::Words(visited) => visited.is_complete(),
            Self::Files(visited) => visited.is_complete(),
        }
    }

    /// Returns the parts in which an object is still to appear, so that the visit would find one: the missing name if that
    /// is the only failure, all parts without a failure, and none for files.
    pub(super) fn awaited(&self) -> Option<Vec<PlannedPart>> {
        match self {
            Self::Words(visited) => visited.awaited(),
            Self::Files(visited) => visited.is_complete().then(Vec::new),
        }
    }

    /// Reports the failures. As in kubectl, some of them are as bad as all.
    ///
    /// # Errors
    /// The failures that are not reported yet.
    pub(super) fn end(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Words(visited) => visited.end(),
            Self::Files(visited) => visited.end().map(|()| ExitCode::Ok),
        }
    }
}
