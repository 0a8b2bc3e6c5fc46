//! `kdelta watch`, `kdelta get -w`, `kdelta events -w` and `kdelta index -w`: the current objects, then every change, until interrupted.

mod batch;
mod collections;
mod crossings;
pub(super) mod deadline;
mod failures;
pub(super) mod files;
mod get_watch;
mod merged_stream;
mod part_event;
mod part_readings;
mod part_supervisor;
mod parts;
mod printer;
mod ready_parts;
mod replay_loop;
mod resumed_watch;
mod running_part;
mod unavailable_parts;
mod watch_loop;
#[path = "../../../../informer/delivery/weighted_channel.rs"]
mod weighted_channel;

use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use kdelta::diff::Scope;
use kdelta::object::{FieldPath, PathError};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::format::{self, Extent};
use super::history::history_output;
use super::index::live_groups;
use super::needs;
use super::query_plan::{self, PartUse, load_watch_fields, part_plan, watch_conditions, watch_source};
use super::replay::RecordedWatch;
use super::reporter::Reporter;
use crate::exit::{ExitCode, OwnLines, Usage};
use crate::output::{EventStream, PrintError, ReaderWatch, WatchOutput};
use crate::session::{
    ChangeFilter, ExitOnSignal, Interrupts, Part, RequestMode, Session, TargetFailure, TargetSet,
    reflector_options,
};
use crate::settings::{self, Lines, PlanForm, Watch, WatchForm};
use get_watch::Named;
pub(super) use part_supervisor::PartSupervisor;
pub(super) use parts::{KnownStates, PartRequests, Parts};
pub(super) use printer::{
    ChangedResults, DeltaPrinter, DeltaSelection, PartSink, change_of, error_of, later_version,
};
use replay_loop::ReplayLoop;
pub(super) use watch_loop::WatchLoop;

/// Prints until it is interrupted, a limit is reached, or every part has failed.
pub(crate) async fn run<W: Write>(
    session: &Session,
    watch: &Watch,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    out: W,
) -> anyhow::Result<ExitCode> {
    if let Some(form) = watch.explain {
        return explain(session, watch, form, reporter, stdout, out).await;
    }
    let scope = scope(&watch.lines).context(Usage)?;
    if let WatchForm::Get(form) = &watch.form {
        get_watch::warn(form, reporter);
        get_watch::check_words(session, watch)?;
    }
    let last = reporter.clone();
    // Before anything is counted, a signal ends the process without a summary.
    let early = ExitOnSignal::after(move |end| last.messages().without_counts(end))?;
    let end = watch.until.duration.map(|duration| Instant::now() + duration);
    let (mut targets, files) = match &watch.files {
        Some(files) => files::targets(session, watch, files, reporter).await?,
        None => (TargetSet::start(session, &watch.selection, watch.ignore_not_found), 0),
    };
    let mut partial = reporter.report_unusable(session);
    tokio::select! {
        is_there = first_parts(session, watch, &mut targets, reporter, &mut partial) => if !is_there? {
            return Ok(ExitCode::Error);
        },
        () = deadline::reached(end) => return Ok(match () {
            () if partial => ExitCode::Partial,
            () if watch.until.count.is_some() => ExitCode::TimedOut,
            () => ExitCode::Ok,
        }),
    }
    if watch.flow.from.is_some() {
        let parts = targets.parts().len();
        let is_open = watch.selection.is_open() || session.has_several_contexts();
        if is_open || parts != 1 {
            let parts = if is_open { "any number".to_owned() } else { parts.to_string() };
            return Err(anyhow::Error::new(SeveralCollections(parts)).context(Usage));
        }
    }
    let named = if let WatchForm::Get(_) = &watch.form {
        if watch.files.is_none() {
            get_watch::check_types(&targets)?;
        }
        get_watch::read_named(session, watch, &targets, reporter).await?
    } else {
        Named::Watchable(None)
    };
    let interrupts = Interrupts::listen()?;
    drop(early);
    let gone = Arc::new(Notify::new());
    let notify = Arc::clone(&gone);
    let _reader = ReaderWatch::start(move || notify.notify_one())?;

    let extent = Extent {
        selection: &watch.selection,
        resources: &targets.resources(),
        parts: &targets.parts(),
        several_contexts: session.has_several_contexts(),
        several_namespaces: session.has_several_namespaces(),
    };
    let output = output(session, watch, &extent, reporter, stdout)?;
    let changed_by = ChangedResults::start(&watch.lines.changed_by)?;
    let filter = ChangeFilter::new(&watch.selection.filter, session.expression_errors());
    // A live watch can't resume from a recorded version.
    let resumable = !watch.flow.coalesce && !watch.filters() && watch.replay.is_none();
    let selected = DeltaSelection { scope, changed_by, filter, resumable };
    let mut printer = DeltaPrinter::new(output, selected, reporter, out);
    let named = match named {
        Named::Watchable(object) => object,
        Named::Missing => return Ok(ExitCode::Ok),
        Named::Several(objects) => {
            return Err(get_watch::refuse_several(objects, files == 1, watch.initial, &mut printer));
        }
    };
    if let Some(replay) = &watch.replay {
        let recorded = RecordedWatch::open(session, watch, replay, reporter, targets.parts())?;
        let mut running = ReplayLoop { watch, reporter, recorded, printer, is_partial: partial };
        let ended = tokio::select! {
            biased;
            () = gone.notified() => Ok(ExitCode::BrokenPipe),
            interrupt = interrupts.first() => Ok(running.interrupted(interrupt)),
            () = deadline::reached(end) => running.ended(false),
            ended = running.run() => ended,
        };
        return ended.map_err(print_failure);
    }
    let parts = Parts::new(session, watch, reporter.clone(), targets);
    let supervisor = PartSupervisor::new(watch, reporter, parts, printer, partial).with_named(named);
    let mut watch_loop = WatchLoop::new(watch, reporter, supervisor);
    let ended = tokio::select! {
        biased;
        () = gone.notified() => Ok(ExitCode::BrokenPipe),
        interrupt = interrupts.first() => Ok(watch_loop.interrupted(interrupt)),
        () = deadline::reached(end) => Ok(watch_loop.timed_out()),
        ended = watch_loop.run() => ended.map_err(print_failure),
    };
    watch_loop.stop().await;
    ended
}

/// Returns the output of a watch.
fn output(
    session: &Session,
    watch: &Watch,
    extent: &Extent<'_>,
    reporter: &Reporter,
    stdout: settings::OutputStream,
) -> anyhow::Result<WatchOutput> {
    Ok(match &watch.form {
        // Trees, runs and waits have sinks of their own.
        WatchForm::Deltas | WatchForm::Tree | WatchForm::Run | WatchForm::Wait { .. } => {
            extent.stream(watch, stdout)?
        }
        WatchForm::Get(form) => WatchOutput::get(extent.get_watch(watch, form, stdout)),
        WatchForm::Events(events) => WatchOutput::events(EventStream::new(format::of_events(events, stdout))),
        WatchForm::Index(index) => live_groups(session, index, reporter, stdout)?,
        WatchForm::History(history) => {
            history_output(history, extent.parts.len(), extent.several_contexts, false, stdout)
        }
    })
}

/// Prints the plan.
pub(super) async fn explain(
    session: &Session,
    watch: &Watch,
    form: PlanForm,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    out: impl Write,
) -> anyhow::Result<ExitCode> {
    let plan_of = async |part: &Part| {
        load_watch_fields(session, watch, part).await;
        let conditions = watch_conditions(session, watch, part);
        let source = watch_source(session, watch, part, &conditions)?;
        let options = reflector_options(&watch.selection, &source, None)
            .resume_from(watch.flow.from.as_deref().map(Into::into));
        let reasons = needs::reasons_of_lines(
            &watch.print,
            &conditions.local,
            &conditions.filter,
            &watch.lines,
            source.representation(),
        );
        let mode = match (&watch.form, &part.name) {
            (WatchForm::Get(_), Some(name)) => RequestMode::NamedWatch(name.to_string()),
            _ => RequestMode::Watch,
        };
        let (selection, conditions) = (&watch.selection, &conditions);
        let kept = "its last state, compressed".to_owned();
        part_plan(PartUse { part, selection, conditions, mode, reasons, kept }, &source, &options)
    };
    query_plan::explain(session, &watch.selection, form, reporter, stdout, out, plan_of).await
}

/// The description of a failed template has lines of its own.
fn print_failure(error: anyhow::Error) -> anyhow::Error {
    let has_own_lines = error.downcast_ref().is_some_and(PrintError::has_own_lines);
    if has_own_lines { error.context(OwnLines) } else { error }
}

/// Fields that change with every update.
const ALWAYS_CHANGING: [&str; 2] = ["metadata.resourceVersion", "metadata.managedFields"];

/// Returns the fields whose changes are printed; all fields unless options select some.
pub(super) fn scope(lines: &Lines) -> Result<Scope, PathError> {
    let paths = |texts: &[String]| -> Result<Vec<FieldPath>, PathError> {
        texts.iter().map(|text| FieldPath::parse(text)).collect()
    };
    let mut scope = Scope::default().only(paths(&lines.only)?).ignored(paths(&lines.ignore)?);
    if !scope.is_all() {
        for path in ALWAYS_CHANGING {
            scope.ignored.push(FieldPath::parse(path)?);
        }
    }
    Ok(scope)
}

/// A resource version belongs to a single collection.
#[derive(Debug, thiserror::Error)]
#[error(
    "--resource-version needs a single collection, but {0} are selected: give one type, and one namespace, -A or one name"
)]
struct SeveralCollections(String);

/// Waits until one cluster is usable. Returns `false` if none is, after reporting why.
pub(super) async fn first_plan(
    targets: &mut TargetSet,
    reporter: &Reporter,
    partial: &mut bool,
) -> anyhow::Result<bool> {
    while !targets.has_plan() {
        if targets.is_settled() {
            return Ok(false);
        }
        match targets.next().await {
            Ok(()) | Err(TargetFailure::Namespaces { .. }) => {}
            Err(failure) => {
                *partial |= !matches!(failure, TargetFailure::MissingType { .. });
                reporter.report_target_failure(failure)?;
            }
        }
    }
    Ok(true)
}

/// Waits until one cluster is usable, and loads the selectable fields of its types. Returns `false` if none is usable, after
/// reporting why.
pub(super) async fn first_parts(
    session: &Session,
    watch: &Watch,
    targets: &mut TargetSet,
    reporter: &Reporter,
    partial: &mut bool,
) -> anyhow::Result<bool> {
    if !first_plan(targets, reporter, partial).await? {
        return Ok(false);
    }
    for planned in targets.parts() {
        load_watch_fields(session, watch, &planned.part).await;
    }
    Ok(true)
}
