//! The supervision of the parts of a watch: starts, retries and removes parts, and handles their failures.

use std::sync::Arc;

use jiff::Timestamp;
use kdelta::informer::Notification;
use kdelta::listwatch::Error;
use kdelta::object::{Object, Origin};
use tokio::time::Instant;

use super::failures::PartFailures;
use super::parts::{Parts, Stage};
use super::printer::PartSink;
use super::unavailable_parts::RetrySchedule;
use crate::commands::failure_action::FailureAction;
use crate::commands::forbidden;
use crate::commands::reporter::Reporter;
use crate::exit::ExitCode;
use crate::session::{Part, TargetFailure};
use crate::settings::{Watch, WatchForm};

/// The parts of a watch, with the printer and the failures that follow their changes.
pub(in crate::commands) struct PartSupervisor<'a, P> {
    watch: &'a Watch,
    reporter: &'a Reporter,
    pub(super) parts: Parts<'a>,
    pub(super) printer: P,
    pub(super) failures: PartFailures<'a>,
    /// Whether the initial state has been printed; parts added later are new.
    pub(super) initial_done: bool,
    /// Whether anything requested has failed, except missing names.
    partial: bool,
    /// Whether a requested name does not exist.
    has_missing_name: bool,
    /// The current state of the only requested object, which `get -w` prints even if it can't be watched.
    named: Option<Arc<Object>>,
    /// The schedule for retrying unavailable parts.
    retry_schedule: RetrySchedule,
}

impl<'a, P: PartSink> PartSupervisor<'a, P> {
    /// Creates the supervisor; no part runs before [`PartSupervisor::reconcile`]. `partial` is whether anything has
    /// failed before.
    pub(in crate::commands) fn new(
        watch: &'a Watch,
        reporter: &'a Reporter,
        parts: Parts<'a>,
        printer: P,
        partial: bool,
    ) -> Self {
        Self {
            watch,
            reporter,
            parts,
            printer,
            failures: PartFailures::new(reporter),
            initial_done: false,
            partial,
            has_missing_name: false,
            named: None,
            retry_schedule: RetrySchedule::first(Instant::now()),
        }
    }

    /// Sets the current state of the only requested object.
    pub(super) fn with_named(self, named: Option<Arc<Object>>) -> Self {
        Self { named, ..self }
    }

    /// Returns the time of the next retry of unavailable parts; `None` if there are none.
    pub(super) fn retry_at(&self) -> Option<Instant> {
        self.parts.has_unavailable().then(|| self.retry_schedule.at())
    }

    /// Retries unavailable parts, whose rights or server may be back.
    pub(super) fn retry_unavailable(&mut self) -> anyhow::Result<()> {
        let limit = self.retry_schedule.start_retry(Instant::now());
        self.parts.retry_unavailable(limit);
        self.reconcile()
    }

    /// Adds and removes parts to match the targets.
    pub(super) fn reconcile(&mut self) -> anyhow::Result<()> {
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

    /// Handles a change of the targets.
    pub(super) fn on_target_update(&mut self, update: Result<(), TargetFailure>) -> anyhow::Result<()> {
        match update {
            Ok(()) => {
                for prefix in self.parts.targets.take_recovered() {
                    self.reporter.messages().notice(&format!("{prefix}the server responds again"));
                }
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
            Err(failure) => {
                self.partial |= !matches!(failure, TargetFailure::MissingType { .. });
                self.reporter.report_target_failure(failure)?;
            }
        }
        self.reconcile()?;
        self.failures.retain_split(|part| self.parts.targets.is_split(part));
        Ok(())
    }

    /// Removes a part that has ended, and adds its successor if the targets still include it.
    pub(super) fn remove_ended(&mut self, number: usize) -> anyhow::Result<()> {
        self.printer.remove_part(number);
        self.parts.forget(number);
        self.reconcile()
    }

    /// Marks a part that delivers again as available; related parts are retried soon.
    pub(super) fn mark_available(&mut self, number: usize) {
        if let Some(part) = self.parts.mark_available(number) {
            self.retry_schedule = RetrySchedule::first(Instant::now());
            self.failures.add_allowed(part);
        }
    }

    /// Handles a part that ended with an error.
    pub(super) fn fail(&mut self, number: usize, received: Timestamp, error: Error) -> anyhow::Result<()> {
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
            return self.reconcile();
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
        } else if action == FailureAction::ReportMissing {
            self.failures.add_missing(planned.part, error);
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

    /// Whether no part is left, and none can be added.
    pub(super) fn has_ended(&self) -> bool {
        let may_get_parts = self.initial_done && self.parts.targets.is_open();
        (self.parts.has_failed() && !may_get_parts)
            || (self.failures.has_unreported(self.initial_done) && self.parts.is_empty())
    }

    /// Ends the watch because no part is left.
    pub(super) fn finish_ended(&mut self) -> anyhow::Result<ExitCode> {
        // Nothing will retry these parts.
        for (number, state) in &self.parts.states {
            if let Stage::Unavailable(error) = &state.stage {
                self.printer.ended(*number, Timestamp::now(), error)?;
            }
        }
        self.failures.finish()
    }

    /// Returns the exit code of a watch that ended as requested.
    pub(super) fn exit_code(&self) -> ExitCode {
        let is_partial = self.partial || self.parts.targets.has_missing_types();
        match (is_partial, self.has_missing_name || self.printer.has_failures()) {
            (true, _) => ExitCode::Partial,
            (false, true) => ExitCode::Error,
            (false, false) => ExitCode::Ok,
        }
    }

    /// Whether kubectl would watch the part without listing it.
    fn only_watches(&self, part: &Part) -> bool {
        match &self.watch.form {
            WatchForm::Deltas
            | WatchForm::Index(_)
            | WatchForm::History(_)
            | WatchForm::Tree
            | WatchForm::Run
            | WatchForm::Wait { .. } => false,
            WatchForm::Get(_) => part.name.is_some(),
            WatchForm::Events(_) => true,
        }
    }
}
