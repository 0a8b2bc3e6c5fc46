//! The objects that words and selectors name.

use std::sync::Arc;

use anyhow::anyhow;
use kdelta::store::Indexers;

use super::requests::{ObjectRequests, VisitedObject};
use crate::commands::failure_action::is_missing;
use crate::commands::synced::synced_indexer;
use crate::commands::walk::{Walk, with_similar_names};
use crate::exit::ExitCode;
use crate::session::{Filter, Part, PlannedPart};
use crate::settings::Target;

/// A finished visit.
pub(in crate::commands) struct VisitedWords<'a> {
    walk: Walk<'a>,
    /// The number of objects.
    pub(super) count: usize,
}

impl VisitedWords<'_> {
    pub(super) fn is_complete(&self) -> bool {
        self.walk.is_complete()
    }

    pub(super) fn awaited(&self) -> Option<Vec<PlannedPart>> {
        let parts = self.walk.parts();
        match self.walk.only_missing() {
            Some(missing) => Some(parts.into_iter().filter(|planned| planned.part == *missing).collect()),
            None => self.walk.is_complete().then_some(parts),
        }
    }

    pub(super) fn end(self) -> anyhow::Result<ExitCode> {
        Ok(match self.walk.end()? {
            ExitCode::Partial => ExitCode::Error,
            code => code,
        })
    }
}

/// Visits the objects of a selection.
///
/// # Errors
/// A word names no type, or `needs_names` is set and a type has no names. Other failures, those of `visit` included, are
/// part of the result.
pub(super) async fn visit<'a>(
    requests: &ObjectRequests<'a>,
    needs_names: bool,
    mut visit: impl AsyncFnMut(VisitedObject) -> anyhow::Result<()>,
) -> anyhow::Result<VisitedWords<'a>> {
    let ObjectRequests { session, reporter, selection, allows_missing, .. } = *requests;
    let walk = Walk::start(session, selection, allows_missing, reporter).await?;
    if needs_names && selection.targets.iter().any(Target::is_whole) {
        return Err(anyhow!("resource(s) were provided, but no name was specified"));
    }
    let mut visited = VisitedWords { walk, count: 0 };
    while let Some(planned) = visited.walk.next() {
        let found = match &planned.part.name {
            Some(_) => named(requests, &planned).await,
            None => listed(requests, &planned.part).await,
        };
        match found {
            Ok(objects) => {
                for object in objects {
                    visited.count += 1;
                    let part = object.part.clone();
                    if let Err(error) = visit(object).await {
                        visited.walk.add_object_failure(part, error);
                    }
                }
            }
            Err(error) if allows_missing && error.downcast_ref().is_some_and(is_missing) => {}
            Err(error) => visited.walk.failed(planned, error).await?,
        }
    }
    Ok(visited)
}

/// Requests the object of a part.
async fn named(requests: &ObjectRequests<'_>, planned: &PlannedPart) -> anyhow::Result<Vec<VisitedObject>> {
    let PlannedPart { part, open_namespace, .. } = planned;
    match requests.get(part).await {
        Ok(object) => Ok(vec![VisitedObject { part: part.clone(), object, is_listed: false }]),
        // A namespace from a pattern exists.
        Err(error) if *open_namespace => Err(error.into()),
        Err(error) => {
            let error = requests.session.with_missing_namespace(part, error).await;
            Err(with_similar_names(requests.session, requests.reporter, part, error).await)
        }
    }
}

/// Lists the objects of a part, in the server's order.
async fn listed(requests: &ObjectRequests<'_>, part: &Part) -> anyhow::Result<Vec<VisitedObject>> {
    let ObjectRequests { session, reporter, selection, print, representation, .. } = *requests;
    let source = session.source(part, selection, print, representation, Filter::default());
    let source = reporter.source(part, selection, source);
    let indexer = synced_indexer(session, source, Indexers::default(), selection, part, reporter).await?;
    let mut objects = indexer.list();
    objects.sort_by(|one, other| one.key().cmp(other.key()));
    let visited = objects.into_iter().map(|object| VisitedObject {
        part: Part {
            namespace: object.namespace().into(),
            name: Some(Arc::from(object.name())),
            patterns: None,
            ..part.clone()
        },
        object,
        is_listed: true,
    });
    Ok(visited.collect())
}
