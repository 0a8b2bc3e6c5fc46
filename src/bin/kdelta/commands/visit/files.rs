//! The objects that files name.

use kdelta::listwatch::Error;
use kdelta::object::LabelSelector;

use super::requests::{ObjectRequests, VisitedObject};
use crate::commands::error_tree::ErrorTree;
use crate::commands::files::{document_error, label_selector};
use crate::exit::{Hint, Report, VerbatimLines};
use crate::manifest::Entry;
use crate::session::{FileObject, ResolvedDocument};

/// A finished visit.
#[derive(Default)]
pub(in crate::commands) struct VisitedFiles {
    /// The number of objects.
    pub(super) count: usize,
    /// The errors of visited objects, and of objects outside of the requested namespace.
    of_objects: Vec<ErrorTree>,
    /// The errors of documents, and of objects that can't be requested.
    of_documents: Vec<ErrorTree>,
}

impl VisitedFiles {
    /// Returns the failures.
    ///
    /// # Errors
    /// There are any.
    pub(super) fn end(self) -> anyhow::Result<()> {
        let Self { mut of_objects, of_documents, count: _ } = self;
        // As in kubectl.
        if !of_documents.is_empty() {
            of_objects.push(ErrorTree::Aggregate(of_documents));
        }
        let error = match of_objects.len() {
            0 => return Ok(()),
            1 => of_objects.remove(0),
            _ => ErrorTree::Aggregate(of_objects),
        };
        let mut hint = None;
        error.visit(&mut |error| hint = hint.take().or_else(|| Report::of(error, "").hint));
        let failed = anyhow::Error::new(VerbatimLines(error.messages()));
        Err(match hint {
            Some(hint) => failed.context(Hint(hint)),
            None => failed,
        })
    }

    pub(super) fn is_complete(&self) -> bool {
        self.of_objects.is_empty() && self.of_documents.is_empty()
    }
}

/// Visits the objects of documents.
///
/// # Errors
/// The label selector can't be parsed. Other failures, those of `visit` included, are part of the result.
pub(super) async fn visit(
    requests: &ObjectRequests<'_>,
    entries: &[Entry],
    mut visit: impl AsyncFnMut(VisitedObject) -> anyhow::Result<()>,
) -> anyhow::Result<VisitedFiles> {
    let labels = label_selector(requests.selection)?;
    let resolved = requests.session.resolve_files(entries, &requests.selection.namespaces).await;
    let mut visited = VisitedFiles::default();
    for resolved in resolved {
        let error = match resolved {
            ResolvedDocument::Failed(error) => Err(ErrorTree::Error(document_error(error))),
            ResolvedDocument::Object(object) => {
                let found = request(requests, labels.as_ref(), object).await;
                visited.next(found, &mut visit).await
            }
            ResolvedDocument::List(items) => {
                let mut errors = Vec::new();
                for item in items {
                    let found = match item {
                        ResolvedDocument::Object(object) => request(requests, labels.as_ref(), object).await,
                        ResolvedDocument::Failed(error) => Err(error),
                        // Lists in lists are flattened already.
                        ResolvedDocument::List(_) => Ok(None),
                    };
                    errors.extend(visited.next(found, &mut visit).await.err());
                }
                if errors.is_empty() { Ok(()) } else { Err(ErrorTree::Aggregate(errors)) }
            }
        };
        visited.of_documents.extend(error.err());
    }
    Ok(visited)
}

impl VisitedFiles {
    /// Visits an object that was requested.
    ///
    /// # Errors
    /// The request failed.
    async fn next(
        &mut self,
        found: anyhow::Result<Option<Found>>,
        visit: &mut impl AsyncFnMut(VisitedObject) -> anyhow::Result<()>,
    ) -> Result<(), ErrorTree> {
        let visited = match found {
            Ok(Some(Found::Object(object))) => {
                self.count += 1;
                visit(*object).await
            }
            Ok(Some(Found::InWrongNamespace(error))) => Err(error),
            Ok(None) => Ok(()),
            Err(error) => return Err(ErrorTree::Error(error)),
        };
        self.of_objects.extend(visited.err().map(ErrorTree::Error));
        Ok(())
    }
}

/// An object of a file.
enum Found {
    Object(Box<VisitedObject>),
    InWrongNamespace(anyhow::Error),
}

/// Requests an object of a file; `None` if the selector does not match it, or it may be missing and is.
async fn request(
    requests: &ObjectRequests<'_>,
    labels: Option<&LabelSelector>,
    object: FileObject,
) -> anyhow::Result<Option<Found>> {
    let FileObject { part, unnamed, refused, wrong_namespace } = object;
    let requested = match (refused, unnamed) {
        (Some(error), _) => match error.downcast() {
            Ok(error) => Err(error),
            Err(error) => return Err(error),
        },
        (None, Some(object)) => Ok(object),
        (None, None) => requests.get(&part).await,
    };
    let object = match requested {
        Ok(object) => object,
        Err(Error::NotFound(_)) if requests.allows_missing => return Ok(None),
        Err(error) => return Err(requests.session.with_missing_namespace(&part, error).await.into()),
    };
    if labels.is_some_and(|labels| !labels.matches(&object)) {
        return Ok(None);
    }
    Ok(Some(match wrong_namespace {
        Some(error) => Found::InWrongNamespace(error),
        None => Found::Object(Box::new(VisitedObject { part, object, is_listed: false })),
    }))
}
