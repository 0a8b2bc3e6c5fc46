//! `kdelta watch`: the initial state, then every delta, for ever.

mod collections;
mod course;
mod left_out;
mod printer;
mod resumed;
mod roster;
mod setbacks;
mod stream;

use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use kdelta::diff::Scope;
use kdelta::object::{FieldPath, PathError};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::format::Extent;
use super::watched::Watched;
use crate::exit::{ExitCode, Usage};
use crate::output::ReaderWatch;
use crate::session::{ExitOnSignal, Interrupts, Session, TargetFailure, TargetSet};
use crate::settings::{self, Lines, Watch};
use course::Course;
use printer::{Printer, Selected};
use roster::Roster;

/// Prints until it is told to end, or until every part has ended with an error.
pub(crate) async fn run<W: Write>(
    session: &Session,
    watch: &Watch,
    watched: &Watched,
    stdout: settings::Stream,
    out: W,
) -> anyhow::Result<ExitCode> {
    let scope = scope(&watch.lines).context(Usage)?;
    let last = watched.clone();
    // Until there is something to sum up.
    let early = ExitOnSignal::after(move |end| last.messages().without_counts(end))?;
    let end = watch.until.duration.map(|duration| Instant::now() + duration);
    let mut survey = TargetSet::start(session, &watch.selection, watch.ignore_not_found);
    let mut partial = watched.tell_unusable(session);
    tokio::select! {
        is_there = first_plan(&mut survey, watched, &mut partial) => if !is_there? {
            return Ok(ExitCode::Error);
        },
        () = at(end) => return Ok(if partial { ExitCode::Partial } else { ExitCode::Ok }),
    }
    if watch.flow.from.is_some() {
        let parts = survey.parts().len();
        let is_open = watch.selection.is_open() || session.has_several_contexts();
        if is_open || parts != 1 {
            let parts = if is_open { "any number".to_owned() } else { parts.to_string() };
            return Err(anyhow::Error::new(NotOneCollection(parts)).context(Usage));
        }
    }
    let interrupts = Interrupts::listen()?;
    drop(early);
    let gone = Arc::new(Notify::new());
    let tell = Arc::clone(&gone);
    let _reader = ReaderWatch::start(move || tell.notify_one())?;

    let extent = Extent {
        selection: &watch.selection,
        resources: &survey.resources(),
        parts: &survey.parts(),
        several_contexts: session.has_several_contexts(),
        several_namespaces: session.has_several_namespaces(),
    };
    let output = extent.stream(&watch.print, &watch.lines, stdout);
    let selected = Selected { scope, resumable: !watch.flow.coalesce && watch.by.is_empty() };
    let printer = Printer::new(output, selected, watched, out);
    let roster = Roster::new(session, watch, watched.clone(), survey);
    let mut course = Course::new(watch, watched, roster, printer, partial);
    let ended = tokio::select! {
        biased;
        () = gone.notified() => Ok(ExitCode::BrokenPipe),
        interrupt = interrupts.first() => Ok(course.interrupted(interrupt)),
        () = at(end) => Ok(course.done()),
        ended = course.follow() => ended,
    };
    course.stop().await;
    ended
}

/// What changes with every update, whatever else does.
const BOOKKEEPING: [&str; 2] = ["metadata.resourceVersion", "metadata.managedFields"];

/// What has to change so that an update counts; all of it, where nothing is asked for.
fn scope(lines: &Lines) -> Result<Scope, PathError> {
    let paths = |texts: &[String]| -> Result<Vec<FieldPath>, PathError> {
        texts.iter().map(|text| FieldPath::parse(text)).collect()
    };
    let mut scope = Scope { only: paths(&lines.only)?, ignored: paths(&lines.ignore)? };
    if !scope.is_all() {
        for path in BOOKKEEPING {
            scope.ignored.push(FieldPath::parse(path)?);
        }
    }
    Ok(scope)
}

/// A version says nothing of several collections.
#[derive(Debug, thiserror::Error)]
#[error(
    "--resource-version is the version of one collection, and this is {0} of them: give one type, and one namespace, -A or one name"
)]
struct NotOneCollection(String);

/// Waits until one of the clusters is known; `false` where none of them can be asked, which has been said.
async fn first_plan(survey: &mut TargetSet, watched: &Watched, partial: &mut bool) -> anyhow::Result<bool> {
    while !survey.has_plan() {
        if survey.is_settled() {
            return Ok(false);
        }
        match survey.next().await {
            Err(TargetFailure::Cluster { prefix, error }) => {
                watched.tell_setback(&prefix, error)?;
                *partial = true;
            }
            Err(TargetFailure::NamespacePatterns { prefix, error }) => {
                watched.tell_error(&prefix, &error);
                *partial = true;
            }
            Ok(()) | Err(TargetFailure::Namespaces { .. }) => {}
        }
    }
    Ok(true)
}

/// Waits until then, or for ever.
async fn at(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}
