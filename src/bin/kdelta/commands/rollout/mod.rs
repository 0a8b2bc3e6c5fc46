//! `kdelta rollout status`: prints the status of rollouts, one after the other, until each is complete.

use std::io::{self, Write};
use std::sync::Arc;

use kdelta::listwatch::WatchEvent;
use kdelta::object::{JsonValue, Object};
use kdelta::query::{RolloutError, RolloutKind, RolloutStatus};
use kdelta::watchtools::WatchToolsError;
use kdelta::wire::Representation;
use tokio::time::Instant;

use super::reporter::Reporter;
use super::visit::{self, ObjectRequests, VisitedObject};
use crate::exit::ExitCode;
use crate::session::{Part, Session};
use crate::settings::{self, Namespaces, Print};
use crate::view::escape_line;

/// Prints the statuses.
///
/// # Errors
/// An object does not exist, can't be read or has no rollout, or a rollout fails or is not complete in time.
pub(crate) async fn status<W: Write + Send>(
    session: &Session,
    request: &settings::Rollout,
    reporter: &Reporter,
    out: W,
) -> anyhow::Result<ExitCode> {
    let settings::Rollout { objects, .. } = request;
    let entries = visit::entries(objects, reporter).await?;
    let print = Print::default();
    let requests = ObjectRequests {
        session,
        reporter,
        selection: &objects.selection,
        print: &print,
        representation: Representation::Objects,
        allows_missing: false,
    };
    let mut rollouts =
        Rollouts { requests, request, printer: Printer { revision: request.revision, out, failure: None } };
    let visited = visit::visit(&requests, objects, &entries, async |object| rollouts.object(object).await);
    let visited = visited.await?;
    if let Some(failure) = rollouts.printer.failure.take() {
        return Err(failure.into());
    }
    let is_empty = visited.count() == 0;
    let end = visited.end()?;
    if is_empty && end == ExitCode::Ok {
        let namespace = match &objects.selection.namespaces {
            Namespaces::Named(names) => names.join(","),
            _ => session.cluster().namespace().to_owned(),
        };
        reporter.messages().notice(&format!("No resources found in {namespace} namespace."));
    }
    Ok(end)
}

/// Follows one rollout after the other.
struct Rollouts<'a, W> {
    requests: ObjectRequests<'a>,
    request: &'a settings::Rollout,
    printer: Printer<W>,
}

/// A rollout that has no status, or that is not complete when it ends. The messages are kubectl's.
#[derive(Debug, thiserror::Error)]
enum EndedRollout {
    #[error("no status viewer has been implemented for {0}")]
    NoRollout(String),
    #[error("object has been deleted")]
    Deleted,
    #[error("timed out waiting for the condition")]
    TimedOut,
}

impl<W: Write + Send> Rollouts<'_, W> {
    /// Prints the status of an object until its rollout is complete.
    ///
    /// # Errors
    /// It has no rollout, or that fails or is not complete in time.
    async fn object(&mut self, visited: VisitedObject) -> anyhow::Result<()> {
        let VisitedObject { part, object, is_listed } = visited;
        if self.printer.failure.is_some() {
            return Ok(());
        }
        let resource = &part.resource;
        let kind = RolloutKind::of(&resource.group, &resource.kind).ok_or_else(|| {
            let group =
                if resource.group.is_empty() { String::new() } else { format!(".{}", resource.group) };
            EndedRollout::NoRollout(format!("{}{group}", resource.kind))
        })?;
        if part.name.is_none() {
            return Err(EndedRollout::NoRollout(resource.kind.clone()).into());
        }
        let deadline = self.request.timeout.map(|timeout| Instant::now() + timeout);
        // A listed state may be outdated when its turn comes.
        let object = if is_listed { self.requests.get(&part).await? } else { object };
        let is_done = self.printer.status(kind, &object)?;
        if is_done || !self.request.watch { Ok(()) } else { self.watch(&part, kind, &object, deadline).await }
    }

    /// Prints every status after that of the known state.
    async fn watch(
        &mut self,
        part: &Part,
        kind: RolloutKind,
        known: &Object,
        deadline: Option<Instant>,
    ) -> anyhow::Result<()> {
        let printer = &mut self.printer;
        let mut ended: Option<anyhow::Result<()>> = None;
        let is_over = |event: &WatchEvent| {
            let status = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                    let is_known = object.resource_version() == known.resource_version();
                    if is_known { Ok(false) } else { printer.status(kind, object).map_err(Into::into) }
                }
                WatchEvent::Deleted(_) => Err(EndedRollout::Deleted.into()),
                WatchEvent::Bookmark { .. } => Ok(false),
            };
            match status {
                Ok(false) => return false,
                Ok(true) => ended = Some(Ok(())),
                Err(error) => ended = Some(Err(error)),
            }
            true
        };
        let until = self.requests.watch_until(part, None, is_over, deadline).await;
        match (ended, until) {
            (Some(ended), _) => ended,
            (None, Ok(_)) => Ok(()),
            (None, Err(WatchToolsError::Interrupted { .. } | WatchToolsError::NotSynced(None))) => {
                Err(EndedRollout::TimedOut.into())
            }
            (None, Err(WatchToolsError::NotSynced(Some(error)))) => Err(error.into()),
            (None, Err(WatchToolsError::Watch { error, .. })) => Err((*error).into()),
            (None, Err(error)) => Err(error.into()),
        }
    }
}

/// Prints statuses.
struct Printer<W> {
    revision: i64,
    out: W,
    /// Why the output can't be written; nothing is printed any more then.
    failure: Option<io::Error>,
}

impl<W: Write> Printer<W> {
    /// Prints the status of an object. Returns whether nothing more is to be printed.
    ///
    /// # Errors
    /// The rollout has failed, or the object has no status of it.
    fn status(&mut self, kind: RolloutKind, object: &Arc<Object>) -> Result<bool, RolloutError> {
        let json = object.json();
        let RolloutStatus { message, is_done } =
            RolloutStatus::of(kind, &JsonValue::parse(&json), self.revision)?;
        let written = writeln!(self.out, "{}", escape_line(&message)).and_then(|()| self.out.flush());
        self.failure = written.err();
        Ok(is_done || self.failure.is_some())
    }
}
