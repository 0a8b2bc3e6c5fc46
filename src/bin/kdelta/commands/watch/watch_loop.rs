//! The main loop of a watch: prints the initial state and then each event, and decides when to end.

use std::time::Duration;

use kdelta::informer::Notification;
use kdelta::queue::Mark;
use tokio::time::{Instant, timeout_at};

use super::deadline;
use super::part_event::{PartEvent, PartEventKind};
use super::part_supervisor::PartSupervisor;
use super::parts::{Parts, Stage};
use super::printer::PartSink;
use crate::commands::empty_result;
use crate::commands::reporter::Reporter;
use crate::exit::ExitCode;
use crate::metrics::PartMetrics;
use crate::session::{Interrupt, TargetFailure};
use crate::settings::{Format, Watch, WatchForm};

/// The maximum number of events between two flushes.
const BATCH: usize = 256;
/// The limits of the initial batch: time, lines and bytes.
const INITIAL_BATCH_TIME: Duration = Duration::from_millis(100);
const INITIAL_BATCH_LINES: usize = 1000;
const INITIAL_BATCH_BYTES: usize = 8 * 1024 * 1024;

/// A running watch.
pub(in crate::commands) struct WatchLoop<'a, P> {
    watch: &'a Watch,
    reporter: &'a Reporter,
    supervisor: PartSupervisor<'a, P>,
}

impl<'a, P: PartSink> WatchLoop<'a, P> {
    pub(in crate::commands) fn new(
        watch: &'a Watch,
        reporter: &'a Reporter,
        supervisor: PartSupervisor<'a, P>,
    ) -> Self {
        Self { watch, reporter, supervisor }
    }

    /// Prints the events of the stream until there is a reason to end.
    pub(in crate::commands) async fn run(&mut self) -> anyhow::Result<ExitCode> {
        self.supervisor.reconcile()?;
        let mut batch = Vec::with_capacity(BATCH);
        if let Some(ended) = self.collect_initial(&mut batch).await? {
            return Ok(ended);
        }
        loop {
            for event in batch.drain(..) {
                if let Some(metrics) = self.reporter.metrics() {
                    metrics.output_delay().begin(event.received);
                }
                let handled = self.on_event(event);
                if self.supervisor.failures.lacks_hints() {
                    self.supervisor.failures.find_hints(self.supervisor.parts.session).await;
                }
                let ended = handled.and_then(|()| self.check_end());
                if let Some(ended) = ended.transpose() {
                    if ended.is_ok() {
                        self.supervisor.printer.end_initial()?;
                    }
                    self.supervisor.printer.flush()?;
                    return ended;
                }
            }
            if self.supervisor.initial_done {
                self.supervisor.failures.report_access_soon();
            }
            self.supervisor.printer.flush()?;
            if let Some(metrics) = self.reporter.metrics() {
                metrics.output_delay().end();
            }
            let retry_at = self.supervisor.retry_at();
            let PartSupervisor { parts: Parts { targets, stream, .. }, printer, failures, .. } =
                &mut self.supervisor;
            let (report_at, redraw_at, printer) = (failures.report_at(), printer.redraw_at(), &*printer);
            let next_batch = async {
                printer.ready().await;
                stream.next_batch(&mut batch, BATCH).await;
            };
            tokio::select! {
                update = targets.next() => if let Some(ended) = self.on_target_update(update)? {
                    return Ok(ended);
                },
                () = next_batch => {}
                () = deadline::reached(report_at) => self.supervisor.failures.report_access(),
                () = deadline::reached(redraw_at) => {}
                () = deadline::reached(retry_at) => self.supervisor.retry_unavailable()?,
            }
        }
    }

    /// Collects the initial state for a short time: a fast one is printed with common column widths and sorted by kind,
    /// a slow one as it arrives.
    /// Returns the exit code if the watch ends before.
    async fn collect_initial(&mut self, batch: &mut Vec<PartEvent>) -> anyhow::Result<Option<ExitCode>> {
        let mut until = None;
        loop {
            if let Some(ended) = self.check_end()? {
                return Ok(Some(ended));
            }
            let complete =
                batch.iter().filter(|event| event.ends_list()).count() >= self.supervisor.parts.states.len();
            if batch.len() > INITIAL_BATCH_LINES
                || batch.iter().map(PartEvent::weight).sum::<usize>() > INITIAL_BATCH_BYTES
                || (complete && !batch.is_empty() && self.supervisor.parts.targets.is_settled())
            {
                break;
            }
            // The time limit starts with the first line.
            let more = async {
                let next = self.supervisor.parts.stream.next_batch(batch, BATCH);
                if let Some(until) = until {
                    timeout_at(until, next).await.is_ok()
                } else {
                    next.await;
                    true
                }
            };
            tokio::select! {
                update = self.supervisor.parts.targets.next() => if let Some(ended) = self.on_target_update(update)? {
                    return Ok(Some(ended));
                },
                is_more = more => if !is_more {
                    break;
                },
            }
            if !batch.is_empty() {
                until = until.or_else(|| Some(Instant::now() + INITIAL_BATCH_TIME));
            }
        }
        if matches!(self.watch.print.format, Format::Table { .. }) {
            // A stable sort: the lines of one part keep their order; there is none between parts.
            batch.sort_by_cached_key(|event| (self.supervisor.parts.first_of_kind(event.part), event.part));
        }
        Ok(None)
    }

    /// Stops all parts.
    pub(in crate::commands) async fn stop(self) {
        self.supervisor.parts.stream.stop().await;
    }

    /// Handles a change of the targets. Returns the exit code if the watch ends.
    fn on_target_update(&mut self, update: Result<(), TargetFailure>) -> anyhow::Result<Option<ExitCode>> {
        self.supervisor.on_target_update(update)?;
        self.check_end()
    }

    /// Handles an event of a part.
    fn on_event(&mut self, event: PartEvent) -> anyhow::Result<()> {
        let PartEvent { part: number, received, kind } = event;
        let (count_reached, requires_names) = (self.count_reached(), self.requires_names());
        let supervisor = &mut self.supervisor;
        let is_leaving = supervisor.parts.is_leaving(number);
        let Some(state) = supervisor.parts.states.get_mut(&number).filter(|state| !state.has_failed()) else {
            return Ok(());
        };
        if let Some(metrics) = &state.metrics {
            measure(metrics, &kind);
        }
        match kind {
            PartEventKind::Ended(Err(error)) if !is_leaving => supervisor.fail(number, received, error)?,
            PartEventKind::Ended(_) | PartEventKind::Left => supervisor.remove_ended(number)?,
            PartEventKind::Notification(Notification::Mark(mark)) => {
                if matches!(mark, Mark::Synced { .. }) {
                    state.stage = Stage::Synced;
                }
                let missing = state.missing();
                supervisor.mark_available(number);
                match missing.filter(|_| requires_names) {
                    Some(error) => supervisor.fail(number, received, error)?,
                    // A mark would claim that everything before it was printed.
                    None if count_reached => {}
                    None => supervisor.printer.notification(number, received, Notification::Mark(mark))?,
                }
            }
            PartEventKind::Resumed(event) => {
                state.has_object = true;
                supervisor.printer.event(number, received, event)?;
            }
            PartEventKind::Notification(_) if count_reached => state.has_object = true,
            PartEventKind::Notification(notification) => {
                state.has_object = true;
                supervisor.printer.notification(number, received, notification)?;
            }
        }
        Ok(())
    }

    /// Checks whether the watch ends, successfully or because no part is left.
    fn check_end(&mut self) -> anyhow::Result<Option<ExitCode>> {
        if self.supervisor.has_ended() {
            return self.supervisor.finish_ended().map(Some);
        }
        self.supervisor.failures.report_failures();
        if self.supervisor.parts.is_synced() {
            if !std::mem::replace(&mut self.supervisor.initial_done, true) {
                self.report_missing();
                self.report_expression_errors();
                self.supervisor.printer.end_initial()?;
                if !self.supervisor.parts.is_empty() {
                    self.supervisor.printer.mark_initial_state(self.watch.until.synced);
                }
                if let Some(metrics) = self.reporter.metrics() {
                    metrics.mark_synced();
                }
            }
            self.supervisor.failures.report_access();
        }
        // Waits for all names, so that the exit code does not depend on which response arrives first.
        let counted =
            self.count_reached() && !(self.requires_names() && self.supervisor.parts.awaits_names());
        let synced = self.watch.until.synced && self.supervisor.initial_done;
        if !(counted || synced) {
            return Ok(None);
        }
        // On a terminal the summary belongs below the rows.
        self.supervisor.printer.flush()?;
        Ok(Some(self.finish()))
    }

    /// Whether the requested number of deltas has been printed.
    fn count_reached(&self) -> bool {
        self.watch.until.count.is_some_and(|count| self.reporter.printed() >= count)
    }

    /// Whether a missing name is an error. With a filter, existing objects may be filtered out.
    fn requires_names(&self) -> bool {
        !self.watch.ignore_not_found && !self.watch.filters()
    }

    /// Reports once, after the initial state, the requested objects that do not exist.
    fn report_missing(&mut self) {
        let named_in_matching =
            if self.requires_names() { self.supervisor.parts.missing_names() } else { Vec::new() };
        for (prefix, error) in &named_in_matching {
            self.reporter.messages().notice(&format!("{prefix}{error} at the moment"));
        }
        let parts = self.supervisor.parts.targets.parts();
        if let Some(patterns) = empty_result::unmatched_names(self.supervisor.parts.session, &parts) {
            let nothing = empty_result::nothing_matches(&parts, &patterns);
            self.reporter.messages().notice(&format!("{nothing} at the moment"));
        }
        let is_nothing_selected =
            self.supervisor.parts.is_empty() && !self.supervisor.parts.targets.has_missing_types();
        if named_in_matching.is_empty() && is_nothing_selected {
            let selection = &self.watch.selection;
            self.reporter.messages().notice(&empty_result::nothing_at_the_moment(selection));
        }
    }

    /// Reports the objects for which an expression had no result since the last report.
    fn report_expression_errors(&self) {
        empty_result::report_expression_errors(self.supervisor.parts.session, self.reporter);
    }

    /// Ends the watch as requested; failures on the way only affect the exit code.
    pub(super) fn finish(&mut self) -> ExitCode {
        self.supervisor.printer.end_screen();
        self.supervisor.failures.report_failures();
        self.supervisor.failures.report_access();
        self.report_expression_errors();
        if self.reports_summary() {
            self.reporter.report_summary();
        }
        self.supervisor.exit_code()
    }

    /// Ends the watch because its time has passed. Without the requested number of deltas that is no success.
    pub(in crate::commands) fn timed_out(&mut self) -> ExitCode {
        match self.finish() {
            ExitCode::Ok if self.watch.until.count.is_some() && !self.count_reached() => ExitCode::TimedOut,
            code => code,
        }
    }

    /// Whether the watch may end with a summary. kubectl ends without a word, which scripts may rely on.
    fn reports_summary(&self) -> bool {
        match self.watch.form {
            WatchForm::Deltas | WatchForm::History(_) => true,
            // It has a summary of its own.
            WatchForm::Run => false,
            _ => self.reporter.messages().has_reader(),
        }
    }

    /// Ends the watch because of a signal.
    pub(in crate::commands) fn interrupted(&mut self, interrupt: Interrupt) -> ExitCode {
        self.supervisor.printer.end_screen();
        self.supervisor.failures.report_access();
        if self.reports_summary() {
            self.reporter.messages().notice(&self.reporter.summary());
        }
        interrupt.into()
    }
}

/// Counts an event of a part.
fn measure(metrics: &PartMetrics, kind: &PartEventKind) {
    match kind {
        PartEventKind::Notification(notification) => metrics.count(notification),
        PartEventKind::Resumed(event) => metrics.count_resumed(event.kind),
        PartEventKind::Ended(_) | PartEventKind::Left => {}
    }
}
