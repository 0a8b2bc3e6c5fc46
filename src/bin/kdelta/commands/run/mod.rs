//! `kdelta run`: a command for each object, then for every change.
//!
//! The watch delivers changes to a queue of lines, the calls take them from there. Both are futures of one task, so that a
//! panic drops the running commands, which kills them.

mod call;
mod calls;
mod change_line;
mod checkpoint;
mod child_output;
mod dead_letters;
mod process_groups;
mod progress;
mod queue;
mod run_sink;
mod run_state;
mod served_metrics;
mod start;
#[cfg(test)]
mod tests;

pub(crate) use process_groups::{GUARD, guard};
pub(crate) use queue::RunMetrics;
pub(crate) use served_metrics::register;
pub(crate) use start::{START, start};

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Context;
use kdelta::clock::TokioClock;
use tokio::sync::Notify;
use tokio::time::Instant;

use self::call::CallOptions;
use self::calls::{Calls, RunEndEvents};
use self::checkpoint::{CheckpointLock, CheckpointWriter};
use self::child_output::ChildOutput;
use self::dead_letters::DeadLetters;
use self::process_groups::ProcessGroups;
use self::progress::Progress;
use self::queue::{RunQueue, RunQueueOptions};
use self::run_sink::RunSink;
use self::run_state::{HandledStates, RunState, SelectedChanges};
use crate::commands::reporter::Reporter;
use crate::commands::watch::{
    self, ChangedResults, DeltaPrinter, DeltaSelection, PartSupervisor, Parts, WatchLoop,
};
use crate::exit::{ExitCode, Usage};
use crate::output::{ReaderWatch, WatchOutput};
use crate::session::{ChangeFilter, EndSignals, ExitOnSignal, Session};
use crate::settings::{OutputStream, Run, Watch};

/// The limits of waiting lines: above either, the watch is not read.
const MAX_LINES: usize = 10_000;
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Runs the command for all changes until it is interrupted, a limit is reached, or every part has failed.
pub(crate) async fn run(
    session: &Session,
    run: &Run,
    reporter: &Reporter,
    stdout: OutputStream,
    mut out: impl Write,
) -> anyhow::Result<ExitCode> {
    let watch = &Watch::of_run(run);
    if let Some(form) = watch.explain {
        return watch::explain(session, watch, form, reporter, stdout, out).await;
    }
    let last = reporter.clone();
    let early = ExitOnSignal::after(move |end| last.messages().without_counts(end))?;
    let end = watch.until.duration.map(|duration| Instant::now() + duration);
    let dead_letters = run.dead_letters.as_deref().map(DeadLetters::open).transpose()?;
    let (checkpoint, progress) = open_checkpoint(session, run)?;
    let (mut targets, _) = watch::start_targets(session, watch, reporter).await?;
    let mut is_partial = reporter.report_unusable(session);
    let first_parts =
        watch::first_parts_by(end, session, watch, &mut targets, reporter, &mut is_partial).await?;
    if let Some(code) = first_parts {
        return Ok(code);
    }
    let groups = ProcessGroups::default();
    let last = groups.clone();
    let signals = EndSignals::listen(move || last.kill_all())?;
    drop(early);
    start_guard(&groups, reporter);
    let reader_closed = Arc::new(Notify::new());
    let notify = Arc::clone(&reader_closed);
    let _reader = ReaderWatch::start(move || notify.notify_one())?;

    let metrics = run_metrics(reporter);
    let queue = RunQueue::new(queue_options(run), Arc::new(TokioClock), Arc::clone(&metrics));
    let has_progress = progress.is_some();
    let run_state = Rc::new(RefCell::new(RunState::new(queue, progress, run.on.clone())));
    let printer = delta_printer(session, watch, &run_state, reporter)?;
    let sink = RunSink::new(printer, Rc::clone(&run_state), reporter);
    let handled = HandledStates(Rc::clone(&run_state));
    let parts = Parts::new(session, watch, reporter.clone(), targets);
    let parts = if has_progress { continued(parts, watch, &handled) } else { parts };
    let supervisor = PartSupervisor::new(watch, reporter, parts, sink, is_partial);
    let mut watch_loop = WatchLoop::new(watch, reporter, supervisor);
    let mut calls = Calls {
        options: call_options(run),
        jobs: run.jobs,
        groups,
        output: (run.jobs > 1).then(|| ChildOutput {
            out: RefCell::new(&mut out),
            is_terminal: stdout.is_terminal,
            reporter,
        }),
        run_state,
        metrics: Arc::clone(&metrics),
        dead_letters,
        checkpoint,
        reporter,
    };
    let ended = calls.run(&mut watch_loop, &RunEndEvents { signals, at: end, reader_closed }).await;
    watch_loop.stop().await;
    let written = calls.finish().await;
    reporter.messages().notice(&metrics.to_string());
    let code = ended?;
    written?;
    Ok(if code == ExitCode::Ok && metrics.has_given_up() { ExitCode::Error } else { code })
}

/// Returns the counters of a run, which are among the metrics that the command serves.
fn run_metrics(reporter: &Reporter) -> Arc<RunMetrics> {
    let metrics = Arc::new(RunMetrics::default());
    if let Some(served) = reporter.metrics() {
        register(&metrics, served);
    }
    metrics
}

/// Makes the parts continue from the progress of a checkpoint.
fn continued<'a>(parts: Parts<'a>, watch: &Watch, handled: &'a HandledStates) -> Parts<'a> {
    let parts = parts.with_bookmarks();
    // With `--until-synced`, the parts list the current objects: a part that continues from a version would end before it
    // receives the changes since then.
    if watch.until.synced { parts } else { parts.with_known_states(handled) }
}

/// Starts the process that kills the running commands if this process is killed. Its failure is only reported.
fn start_guard(groups: &ProcessGroups, reporter: &Reporter) {
    if let Err(error) = groups.start_guard() {
        reporter.messages().warning(&format!(
            "the process that ends commands if kdelta is killed can't be started: {error}"
        ));
    }
}

/// Returns the printer that selects changes and passes them to the queue. It prints nothing itself.
fn delta_printer(
    session: &Session,
    watch: &Watch,
    run_state: &Rc<RefCell<RunState>>,
    reporter: &Reporter,
) -> anyhow::Result<DeltaPrinter<io::Sink>> {
    let selected = DeltaSelection {
        scope: watch::scope(&watch.lines).context(Usage)?,
        changed_by: ChangedResults::start(&watch.lines.changed_by)?,
        filter: ChangeFilter::new(&watch.selection.filter, session.expression_errors()),
        resumable: !watch.filters(),
    };
    let output = WatchOutput::receiver(SelectedChanges(Rc::clone(run_state)));
    Ok(DeltaPrinter::new(output, selected, reporter, io::sink()))
}

/// Reads the checkpoint, and writes it once, so that a file that can't be written is an error at the start.
fn open_checkpoint(
    session: &Session,
    run: &Run,
) -> anyhow::Result<(Option<CheckpointWriter>, Option<Progress>)> {
    let Some(file) = &run.checkpoint else { return Ok((None, None)) };
    let coverage = checkpoint::coverage(file, session);
    let lock = CheckpointLock::acquire(&file.path)?;
    let progress = checkpoint::read(&file.path, &coverage)?;
    let writer = CheckpointWriter::start(&file.path, lock, coverage, &progress)?;
    Ok((Some(writer), Some(progress)))
}

fn call_options(run: &Run) -> CallOptions {
    CallOptions {
        command: run.command.clone(),
        search_path: run.search_path.clone(),
        timeout: run.timeout,
        masks_secrets: run.mask_secrets,
    }
}

fn queue_options(run: &Run) -> RunQueueOptions {
    RunQueueOptions {
        latest: run.latest,
        debounce: run.debounce,
        batch: run.batch,
        max_retries: run.max_retries,
        retry_delay: run.retry_delay,
        max_lines: MAX_LINES,
        max_bytes: MAX_BYTES,
    }
}
