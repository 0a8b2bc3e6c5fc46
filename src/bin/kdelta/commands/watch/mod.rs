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
mod startup;
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
    ChangeFilter, ExitOnSignal, Interrupts, Part, RequestMode, Session, TargetSet, reflector_options,
};
use crate::settings::{self, Lines, PlanForm, Watch, WatchForm};
use get_watch::NamedObjects;
pub(super) use part_supervisor::PartSupervisor;
pub(super) use parts::{KnownStates, PartRequests, Parts};
pub(super) use printer::{
    ChangedResults, DeltaPrinter, DeltaSelection, PartSink, change_of, error_of, later_version,
};
use replay_loop::ReplayLoop;
use startup::check_single_collection;
pub(super) use startup::{first_parts, first_parts_by, first_plan, start_targets};
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
    let (mut targets, files) = start_targets(session, watch, reporter).await?;
    let mut is_partial = reporter.report_unusable(session);
    if let Some(code) = first_parts_by(end, session, watch, &mut targets, reporter, &mut is_partial).await? {
        return Ok(code);
    }
    check_single_collection(session, watch, &targets).context(Usage)?;
    let named = read_named(session, watch, &targets, reporter).await?;
    let events = EndEvents::listen(end)?;
    drop(early);
    let mut printer = delta_printer(session, watch, &targets, reporter, stdout, scope, out)?;
    let named = match named {
        NamedObjects::Watchable(object) => object,
        NamedObjects::Missing => return Ok(ExitCode::Ok),
        NamedObjects::Several(objects) => {
            return Err(get_watch::refuse_several(objects, files == 1, watch.initial, &mut printer));
        }
    };
    if let Some(replay) = &watch.replay {
        let recorded = RecordedWatch::open(session, watch, replay, reporter, targets.parts())?;
        let replay_loop = ReplayLoop { watch, reporter, recorded, printer, is_partial };
        return events.run_replay(replay_loop).await;
    }
    let parts = Parts::new(session, watch, reporter.clone(), targets);
    let supervisor = PartSupervisor::new(watch, reporter, parts, printer, is_partial).with_named(named);
    events.run_watch(WatchLoop::new(watch, reporter, supervisor)).await
}

/// The events that end a watch before it ends by its own rules.
struct EndEvents {
    interrupts: Interrupts,
    /// Notified when the reader of standard output closes.
    reader_closed: Arc<Notify>,
    /// Notifies `reader_closed` until it is dropped.
    _reader: ReaderWatch,
    /// The end of `--duration`.
    deadline: Option<Instant>,
}

impl EndEvents {
    fn listen(deadline: Option<Instant>) -> anyhow::Result<Self> {
        let interrupts = Interrupts::listen()?;
        let reader_closed = Arc::new(Notify::new());
        let notify = Arc::clone(&reader_closed);
        let reader = ReaderWatch::start(move || notify.notify_one())?;
        Ok(Self { interrupts, reader_closed, _reader: reader, deadline })
    }

    /// Runs a replay until it ends or one of the events occurs.
    async fn run_replay<W: Write>(&self, mut replay_loop: ReplayLoop<'_, W>) -> anyhow::Result<ExitCode> {
        let ended = tokio::select! {
            biased;
            () = self.reader_closed.notified() => Ok(ExitCode::BrokenPipe),
            interrupt = self.interrupts.first() => Ok(replay_loop.interrupted(interrupt)),
            () = deadline::reached(self.deadline) => replay_loop.ended(false),
            ended = replay_loop.run() => ended,
        };
        ended.map_err(print_failure)
    }

    /// Runs a watch until it ends or one of the events occurs, and stops its parts.
    async fn run_watch<W: Write>(
        &self,
        mut watch_loop: WatchLoop<'_, DeltaPrinter<W>>,
    ) -> anyhow::Result<ExitCode> {
        let ended = tokio::select! {
            biased;
            () = self.reader_closed.notified() => Ok(ExitCode::BrokenPipe),
            interrupt = self.interrupts.first() => Ok(watch_loop.interrupted(interrupt)),
            () = deadline::reached(self.deadline) => Ok(watch_loop.timed_out()),
            ended = watch_loop.run() => ended.map_err(print_failure),
        };
        watch_loop.stop().await;
        ended
    }
}

/// Reads the objects that kubectl reads before it watches.
async fn read_named(
    session: &Session,
    watch: &Watch,
    targets: &TargetSet,
    reporter: &Reporter,
) -> anyhow::Result<NamedObjects> {
    let WatchForm::Get(_) = &watch.form else { return Ok(NamedObjects::Watchable(None)) };
    if watch.files.is_none() {
        get_watch::check_types(targets)?;
    }
    get_watch::read_named(session, watch, targets, reporter).await
}

/// Returns the printer of a watch. It prints only changes of the fields in `scope`.
fn delta_printer<W: Write>(
    session: &Session,
    watch: &Watch,
    targets: &TargetSet,
    reporter: &Reporter,
    stdout: settings::OutputStream,
    scope: Scope,
    out: W,
) -> anyhow::Result<DeltaPrinter<W>> {
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
    Ok(DeltaPrinter::new(output, selected, reporter, out))
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
            history_output(history, extent.parts.len(), extent.several_contexts, stdout)
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
