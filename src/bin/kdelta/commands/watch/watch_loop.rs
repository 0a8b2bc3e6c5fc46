//! The main loop of a watch: prints events, adds and removes parts, handles failures, and decides when to end.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::listwatch::Error;
use kdelta::object::{Object, Origin};
use kdelta::queue::Mark;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::deadline;
use super::failures::PartFailures;
use super::part_event::{PartEvent, PartEventKind};
use super::parts::{Parts, Stage};
use super::printer::DeltaPrinter;
use super::unavailable_parts::RetrySchedule;
use crate::commands::failure_action::FailureAction;
use crate::commands::forbidden;
use crate::commands::format;
use crate::commands::reporter::Reporter;
use crate::exit::ExitCode;
use crate::session::{Interrupt, Part, TargetFailure};
use crate::settings::{Format, Watch, WatchForm};

/// The maximum number of events between two flushes.
const BATCH: usize = 256;
/// The limits of the initial batch: time, lines and bytes.
const INITIAL_BATCH_TIME: Duration = Duration::from_millis(100);
const INITIAL_BATCH_LINES: usize = 1000;
const INITIAL_BATCH_BYTES: usize = 8 * 1024 * 1024;

/// The state of a watch.
pub(super) struct WatchLoop<'a, W> {
    watch: &'a Watch,
    reporter: &'a Reporter,
    parts: Parts<'a>,
    printer: DeltaPrinter<W>,
    /// Whether the initial state has been printed; parts added later are new.
    initial_done: bool,
    /// Whether anything requested has failed, except missing names.
    partial: bool,
    /// Whether a requested name does not exist.
    has_missing_name: bool,
    failures: PartFailures<'a>,
    /// The current state of the only requested object, which `get -w` prints even if it can't be watched.
    named: Option<Arc<Object>>,
    /// The schedule for retrying unavailable parts.
    retry_schedule: RetrySchedule,
}

impl<'a, W: Write> WatchLoop<'a, W> {
    /// Creates the loop. `partial` is whether anything has failed before.
    pub(super) fn new(
        watch: &'a Watch,
        reporter: &'a Reporter,
        parts: Parts<'a>,
        printer: DeltaPrinter<W>,
        partial: bool,
    ) -> Self {
        Self {
            watch,
            reporter,
            parts,
            printer,
            initial_done: false,
            partial,
            has_missing_name: false,
            failures: PartFailures::new(reporter),
            named: None,
            retry_schedule: RetrySchedule::first(Instant::now()),
        }
    }

    /// Sets the current state of the only requested object.
    pub(super) fn with_named(self, named: Option<Arc<Object>>) -> Self {
        Self { named, ..self }
    }

    /// Prints the events of the stream until there is a reason to end.
    pub(super) async fn run(&mut self) -> anyhow::Result<ExitCode> {
        self.reconcile_parts()?;
        let mut batch = Vec::with_capacity(BATCH);
        if let Some(ended) = self.collect_initial(&mut batch).await? {
            return Ok(ended);
        }
        loop {
            for event in batch.drain(..) {
                if let Some(ended) = self.on_event(event).transpose() {
                    if ended.is_ok() {
                        self.printer.end_initial()?;
                    }
                    self.printer.flush()?;
                    return ended;
                }
            }
            if self.initial_done {
                self.failures.report_access_soon();
            }
            self.printer.flush()?;
            tokio::select! {
                update = self.parts.targets.next() => if let Some(ended) = self.on_target_update(update)? {
                    return Ok(ended);
                },
                () = self.parts.stream.next_batch(&mut batch, BATCH) => {}
                () = deadline::reached(self.failures.report_at()) => self.failures.report_access(),
                () = deadline::reached(self.printer.redraw_at()) => {}
                () = sleep_until(self.retry_schedule.at()), if self.parts.has_unavailable() => self.retry_unavailable()?,
            }
        }
    }

    /// Retries unavailable parts, whose rights or server may be back.
    fn retry_unavailable(&mut self) -> anyhow::Result<()> {
        let limit = self.retry_schedule.start_retry(Instant::now());
        self.parts.retry_unavailable(limit);
        self.reconcile_parts()
    }

    /// Collects the initial state for a short time: a fast one is printed with common column widths and sorted by kind,
    /// a slow one as it arrives.
    async fn collect_initial(&mut self, batch: &mut Vec<PartEvent>) -> anyhow::Result<Option<ExitCode>> {
        let mut until = None;
        loop {
            if let Some(ended) = self.check_end()? {
                return Ok(Some(ended));
            }
            let complete = batch.iter().filter(|event| event.ends_list()).count() >= self.parts.states.len();
            if batch.len() > INITIAL_BATCH_LINES
                || batch.iter().map(PartEvent::weight).sum::<usize>() > INITIAL_BATCH_BYTES
                || (complete && !batch.is_empty() && self.parts.targets.is_settled())
            {
                break;
            }
            // The time limit starts with the first line.
            let more = async {
                let next = self.parts.stream.next_batch(batch, BATCH);
                if let Some(until) = until {
                    timeout_at(until, next).await.is_ok()
                } else {
                    next.await;
                    true
                }
            };
            tokio::select! {
                update = self.parts.targets.next() => if let Some(ended) = self.on_target_update(update)? {
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
            batch.sort_by_cached_key(|event| (self.parts.first_of_kind(event.part), event.part));
        }
        Ok(None)
    }

    /// Stops all parts.
    pub(super) async fn stop(self) {
        self.parts.stream.stop().await;
    }

    /// Adds and removes parts to match the targets.
    fn reconcile_parts(&mut self) -> anyhow::Result<()> {
        let joined = self.parts.reconcile();
        for number in self.parts.removed.drain(..) {
            self.printer.remove_part(number);
        }
        // All are added before the first runs, because named objects of a collection are reported as one.
        for (number, part) in &joined {
            self.printer.add_part(*number, part, self.watch.initial || self.initial_done);
        }
        for (number, _) in joined {
            let selects_locally = self.parts.start(number, self.initial_done)?;
            self.printer.started(number, selects_locally);
        }
        Ok(())
    }

    /// Handles a change of the targets. Returns the exit code if the watch ends.
    fn on_target_update(&mut self, update: Result<(), TargetFailure>) -> anyhow::Result<Option<ExitCode>> {
        match update {
            Ok(()) => {
                for prefix in self.parts.targets.take_recovered() {
                    self.reporter.messages().notice(&format!("{prefix}the server responds again"));
                }
            }
            Err(TargetFailure::Cluster { prefix, error }) => {
                self.reporter.report_target_failure(&prefix, error)?;
                self.partial = true;
            }
            Err(TargetFailure::NamespacePatterns { prefix, error }) => {
                self.reporter.report_error(&prefix, &error);
                self.partial = true;
            }
            Err(TargetFailure::Namespaces { cluster }) => {
                for (planned, error) in self.failures.take_split(cluster) {
                    self.printer.refused(&planned.part, Timestamp::now(), &error)?;
                    if planned.open_type {
                        self.failures.add_forbidden(planned.part, error);
                    } else {
                        self.failures.add(planned.part, forbidden::not_listable(error));
                    }
                }
                self.partial = true;
            }
        }
        self.reconcile_parts()?;
        self.failures.retain_split(|part| self.parts.targets.is_split(part));
        self.check_end()
    }

    /// Handles an event of a part. Returns the exit code if the watch ends.
    fn on_event(&mut self, event: PartEvent) -> anyhow::Result<Option<ExitCode>> {
        let PartEvent { part: number, received, kind } = event;
        let is_leaving = self.parts.is_leaving(number);
        let (count_reached, requires_names) = (self.count_reached(), self.requires_names());
        let Some(state) = self.parts.states.get_mut(&number).filter(|state| !state.has_failed()) else {
            return Ok(None);
        };
        match kind {
            PartEventKind::Ended(Err(error)) if !is_leaving => self.fail(number, received, error)?,
            PartEventKind::Ended(_) | PartEventKind::Left => {
                self.printer.remove_part(number);
                self.parts.forget(number);
                self.reconcile_parts()?;
            }
            PartEventKind::Notification(Notification::Mark(mark)) => {
                if matches!(mark, Mark::Synced { .. }) {
                    state.stage = Stage::Synced;
                }
                let missing = state.missing();
                if let Some(part) = self.parts.mark_available(number) {
                    // Related parts may be available too.
                    self.retry_schedule = RetrySchedule::first(Instant::now());
                    self.failures.add_allowed(part);
                }
                match missing.filter(|_| requires_names) {
                    Some(error) => self.fail(number, received, error)?,
                    // A mark would claim that everything before it was printed.
                    None if count_reached => {}
                    None => self.printer.notification(number, received, Notification::Mark(mark))?,
                }
            }
            PartEventKind::Resumed(event) => {
                state.has_object = true;
                self.printer.event(number, received, event)?;
            }
            PartEventKind::Notification(_) if count_reached => state.has_object = true,
            PartEventKind::Notification(notification) => {
                state.has_object = true;
                self.printer.notification(number, received, notification)?;
            }
        }
        self.check_end()
    }

    /// Handles a part that ended with an error.
    fn fail(&mut self, number: usize, received: Timestamp, error: Error) -> anyhow::Result<()> {
        let error = self.watch_refusal(number, received, error)?;
        let Some(state) = self.parts.states.get_mut(&number) else { return Ok(()) };
        let (planned, synced) = (state.planned.clone(), matches!(state.stage, Stage::Synced));
        let action = FailureAction::of(&planned, &error);
        let is_forbidden = matches!(action, FailureAction::SplitByNamespace { .. });
        let may_be_left_out = action == FailureAction::SplitByNamespace { or_leave_out: true };
        let is_resumed = self.watch.flow.from.is_some();
        let is_one_of_several = !planned.part.prefix.is_empty();
        let may_come = may_be_left_out || (action == FailureAction::WaitForCluster && is_one_of_several);
        if may_come && state.is_retry {
            self.parts.mark_unavailable(number, error);
            return Ok(());
        }
        // Parts per namespace would print again what was printed for all namespaces.
        if is_forbidden && !is_resumed && !synced && self.parts.targets.split_by_namespace(&planned.part) {
            self.printer.remove_part(number);
            self.parts.forget(number);
            self.failures.add_split(planned, error);
            return self.reconcile_parts();
        }
        // As in `get` with a single context.
        if action == FailureAction::ReportMissing && !is_one_of_several {
            self.has_missing_name = true;
        } else {
            self.partial = true;
        }
        // A part that may be listed but not watched would print its initial state on each retry.
        if may_come && !synced {
            self.printer.finish_part(number, received)?;
            self.retry_schedule.add(Instant::now(), !self.parts.has_unavailable());
            self.parts.mark_unavailable(number, error.clone());
        } else {
            self.printer.ended(number, received, &error)?;
            self.parts.mark_failed(number);
        }
        if may_be_left_out {
            self.failures.add_forbidden(planned.part, error);
        } else {
            let error = planned.part.with_request_context(&self.watch.selection, error);
            self.failures.add(planned.part, error.into());
        }
        Ok(())
    }

    /// Replaces the refusal of a list by that of the watch before it, where kubectl does not list but prints the object
    /// that it has read.
    fn watch_refusal(&mut self, number: usize, received: Timestamp, error: Error) -> anyhow::Result<Error> {
        let Some(state) = self.parts.states.get(&number) else { return Ok(error) };
        let is_refused_list = matches!((&state.stage, &error), (Stage::Started, Error::Forbidden(_)));
        if !is_refused_list || !self.only_watches(&state.planned.part) {
            return Ok(error);
        }
        let refusal = state.watch_refusal.take();
        if let Some(object) = self.named.take() {
            let listed = Notification::Added { object, is_in_initial_list: true, origin: Origin::List };
            self.printer.notification(number, received, listed)?;
            self.printer.end_initial()?;
        }
        Ok(refusal.unwrap_or(error))
    }

    /// Whether kubectl would watch the part without listing it.
    fn only_watches(&self, part: &Part) -> bool {
        match &self.watch.form {
            WatchForm::Deltas | WatchForm::Index(_) => false,
            WatchForm::Get(_) => part.name.is_some(),
            WatchForm::Events(_) => true,
        }
    }

    /// Checks whether the watch ends, successfully or because no part is left.
    fn check_end(&mut self) -> anyhow::Result<Option<ExitCode>> {
        if (self.parts.has_failed() && !(self.initial_done && self.parts.targets.is_open()))
            || (self.failures.has_unreported(self.initial_done) && self.parts.is_empty())
        {
            return self.finish_failed().map(Some);
        }
        self.failures.report_failures();
        if self.parts.is_synced() {
            if !std::mem::replace(&mut self.initial_done, true) {
                self.report_missing();
                self.printer.end_initial()?;
                if !self.parts.is_empty() {
                    self.printer.mark_initial_state(self.watch.until.synced);
                }
            }
            self.failures.report_access();
        }
        // Waits for all names, so that the exit code does not depend on which response arrives first.
        let counted = self.count_reached() && !(self.requires_names() && self.parts.awaits_names());
        let synced = self.watch.until.synced && self.initial_done;
        if !(counted || synced) {
            return Ok(None);
        }
        // On a terminal the summary belongs below the rows.
        self.printer.flush()?;
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
        let named_in_matching = if self.requires_names() { self.parts.missing_names() } else { Vec::new() };
        for (prefix, error) in &named_in_matching {
            self.reporter.messages().notice(&format!("{prefix}{error} at the moment"));
        }
        let parts = self.parts.targets.parts();
        if let Some(patterns) = format::unmatched_names(self.parts.session, &parts) {
            let nothing = format::nothing_matches(&parts, &patterns);
            self.reporter.messages().notice(&format!("{nothing} at the moment"));
        }
        if named_in_matching.is_empty() && self.parts.is_empty() {
            self.reporter.messages().notice("Nothing matches at the moment.");
        }
    }

    /// Ends the watch because no part is left.
    fn finish_failed(&mut self) -> anyhow::Result<ExitCode> {
        // Nothing will retry these parts.
        for (number, state) in &self.parts.states {
            if let Stage::Unavailable(error) = &state.stage {
                self.printer.ended(*number, Timestamp::now(), error)?;
            }
        }
        self.failures.finish()
    }

    /// Ends the watch as requested; failures on the way only affect the exit code.
    pub(super) fn finish(&mut self) -> ExitCode {
        self.printer.end_screen();
        self.failures.report_failures();
        self.failures.report_access();
        if self.reports_summary() {
            self.reporter.report_summary();
        }
        match (self.partial, self.has_missing_name || self.printer.has_failures()) {
            (true, _) => ExitCode::Partial,
            (false, true) => ExitCode::Error,
            (false, false) => ExitCode::Ok,
        }
    }

    /// Ends the watch because its time has passed. Without the requested number of deltas that is no success.
    pub(super) fn timed_out(&mut self) -> ExitCode {
        match self.finish() {
            ExitCode::Ok if self.watch.until.count.is_some() && !self.count_reached() => ExitCode::TimedOut,
            code => code,
        }
    }

    /// Whether the watch may end with a summary. kubectl ends without a word, which scripts may rely on.
    fn reports_summary(&self) -> bool {
        self.watch.form == WatchForm::Deltas || self.reporter.messages().has_reader()
    }

    pub(super) fn interrupted(&mut self, interrupt: Interrupt) -> ExitCode {
        self.printer.end_screen();
        self.failures.report_access();
        if self.reports_summary() {
            self.reporter.messages().notice(&self.reporter.summary());
        }
        match interrupt {
            Interrupt::Interrupt => ExitCode::Interrupted,
            Interrupt::Terminate => ExitCode::Terminated,
        }
    }
}
