//! Failures of watched parts and their reports: failures with the same cause are reported once.

use std::collections::HashSet;
use std::time::Duration;

use kdelta::listwatch::Error;
use tokio::time::Instant;

use crate::commands::forbidden;
use crate::commands::reporter::Reporter;
use crate::commands::walk::with_similar_names;
use crate::exit::{ExitCode, Report, Several};
use crate::session::{Part, PlannedPart, Session};

/// The time to collect forbidden parts so that one line names them all: a forbidden namespace fails once per type.
const REPORT_DELAY: Duration = Duration::from_millis(500);
/// The number of reported errors that are remembered.
const MAX_REMEMBERED: usize = 1000;

/// The failures to report, and those already reported.
pub(super) struct PartFailures<'a> {
    reporter: &'a Reporter,
    /// The unreported errors, each with its part.
    unreported: Vec<(Part, anyhow::Error)>,
    /// The named objects that do not exist, until similar names were looked up.
    missing: Vec<(Part, Error)>,
    /// The reported messages: many parts may fail for one reason, which is reported once.
    reported: HashSet<String>,
    /// The forbidden parts that the user did not name, reported together.
    forbidden: Vec<(Part, Error)>,
    /// The parts that are forbidden in all namespaces, reported together.
    fallbacks: Vec<Part>,
    /// The refusals of parts that are now listed per namespace.
    split: Vec<(PlannedPart, Error)>,
    /// The parts that were skipped and are now allowed, reported together.
    allowed: Vec<Part>,
    /// The time to report access changes; `None` if there are none.
    report_at: Option<Instant>,
}

impl<'a> PartFailures<'a> {
    pub(super) fn new(reporter: &'a Reporter) -> Self {
        Self {
            reporter,
            unreported: Vec::new(),
            missing: Vec::new(),
            reported: HashSet::new(),
            forbidden: Vec::new(),
            fallbacks: Vec::new(),
            split: Vec::new(),
            allowed: Vec::new(),
            report_at: None,
        }
    }

    /// Adds the failure of a part.
    pub(super) fn add(&mut self, part: Part, error: anyhow::Error) {
        self.unreported.push((part, error));
    }

    /// Adds a named object that does not exist. [`PartFailures::find_hints`] is called before the next report.
    pub(super) fn add_missing(&mut self, part: Part, error: Error) {
        self.missing.push((part, error));
    }

    /// Whether similar names are to be looked up.
    pub(super) fn lacks_hints(&self) -> bool {
        !self.missing.is_empty()
    }

    /// Looks up similar names of the objects that do not exist.
    pub(super) async fn find_hints(&mut self, session: &Session) {
        for (part, error) in std::mem::take(&mut self.missing) {
            let error = with_similar_names(session, self.reporter, &part, error).await;
            self.unreported.push((part, error));
        }
    }

    /// Adds a forbidden part that the user did not name.
    pub(super) fn add_forbidden(&mut self, part: Part, error: Error) {
        self.forbidden.push((part, error));
    }

    /// Adds a part that is forbidden in all namespaces and now listed per namespace.
    pub(super) fn add_split(&mut self, planned: PlannedPart, error: Error) {
        self.fallbacks.push(planned.part.clone());
        self.split.push((planned, error));
    }

    /// Adds a part that was skipped and is now allowed.
    pub(super) fn add_allowed(&mut self, part: Part) {
        self.allowed.push(part);
    }

    /// Takes the refusals of a cluster whose namespaces can't be listed after all.
    pub(super) fn take_split(&mut self, cluster: usize) -> Vec<(PlannedPart, Error)> {
        self.fallbacks.retain(|part| part.cluster != cluster);
        self.split.extract_if(.., |(planned, _)| planned.part.cluster == cluster).collect()
    }

    /// Drops the refusals of parts that are no longer listed per namespace.
    pub(super) fn retain_split(&mut self, is_split: impl Fn(&Part) -> bool) {
        self.split.retain(|(planned, _)| is_split(&planned.part));
    }

    /// Whether there are failures that end the watch if no part is left. After the initial state, forbidden parts do
    /// not count: they may become allowed, and are only to be reported.
    pub(super) fn has_unreported(&self, initial_done: bool) -> bool {
        !self.unreported.is_empty() || (!initial_done && !self.forbidden.is_empty())
    }

    /// Reports the failed parts now: the others may run for a long time.
    pub(super) fn report_failures(&mut self) {
        for (part, error) in std::mem::take(&mut self.unreported) {
            let report = Report::of(&error, "");
            let messages = report.prefixed(&part.prefix);
            if self.reported.len() >= MAX_REMEMBERED {
                self.reported.clear();
            }
            if self.reported.insert(messages.join("\n")) {
                self.reporter.messages().error(&messages, report.hint.as_deref());
            }
        }
    }

    /// Schedules the report of access changes, even if other parts are still pending.
    pub(super) fn report_access_soon(&mut self) {
        if !(self.fallbacks.is_empty() && self.forbidden.is_empty() && self.allowed.is_empty()) {
            self.report_at.get_or_insert_with(|| Instant::now() + REPORT_DELAY);
        }
    }

    /// Returns the time of the scheduled report.
    pub(super) fn report_at(&self) -> Option<Instant> {
        self.report_at
    }

    /// Reports fallbacks, forbidden parts and newly allowed parts.
    pub(super) fn report_access(&mut self) {
        self.report_at = None;
        if let Some(line) = forbidden::fallback(&std::mem::take(&mut self.fallbacks)) {
            self.reporter.messages().notice(&line);
        }
        let parts: Vec<Part> =
            std::mem::take(&mut self.forbidden).into_iter().map(|(part, _)| part).collect();
        let allowed = forbidden::allowed(&std::mem::take(&mut self.allowed));
        for line in forbidden::left_out(&parts).iter().chain(&allowed) {
            self.reporter.messages().notice(line);
        }
    }

    /// Ends the watch because no part is left. Types forbidden in all namespaces are reported with the server's first
    /// refusal.
    pub(super) fn finish(&mut self) -> anyhow::Result<ExitCode> {
        let several = self.forbidden.len() > 1;
        let refused = self.split.drain(..).map(|(planned, error)| (planned.part, error));
        let first = refused.chain(self.forbidden.first().cloned()).next();
        if several {
            self.report_access();
        }
        if let Some((part, error)) = first {
            self.unreported.push((part, error.into()));
        }
        if self.unreported.iter().any(|(part, _)| !part.prefix.is_empty()) {
            self.report_failures();
            return Ok(ExitCode::Error);
        }
        match std::mem::take(&mut self.unreported) {
            failures if failures.is_empty() => Ok(ExitCode::Error),
            failures => Err(Several(failures.into_iter().map(|(_, error)| error).collect()).into()),
        }
    }
}
