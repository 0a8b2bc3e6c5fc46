//! What went wrong with parts of a watch, and how it is told: what many have in common is said once.

use std::collections::HashSet;
use std::time::Duration;

use kdelta::listwatch::Error;
use tokio::time::Instant;

use crate::commands::forbidden;
use crate::commands::watched::Watched;
use crate::exit::{ExitCode, Report, Several};
use crate::session::{Part, PlannedPart};

/// How long what is left out waits for its like, so that one line names them all: a namespace is refused once for each
/// type.
const TOLD_TOGETHER: Duration = Duration::from_millis(500);
/// How many errors are remembered as told.
const REMEMBERED: usize = 1000;

/// What is to be told, and what has been.
pub(super) struct Setbacks<'a> {
    watched: &'a Watched,
    /// The errors that have not been told yet, each with its part.
    failures: Vec<(Part, anyhow::Error)>,
    /// What was told of failures: many parts may fail for one reason, which is said once.
    told: HashSet<String>,
    /// The parts that nobody named and that are forbidden, with their errors; told together.
    forbidden: Vec<(Part, Error)>,
    /// The parts that are not allowed in all namespaces at once; told together.
    fallbacks: Vec<Part>,
    /// Their refusals, for which each namespace is asked instead.
    refusals: Vec<(PlannedPart, Error)>,
    /// The parts that were left out and can be had by now; told together.
    allowed: Vec<Part>,
    /// When what is forbidden is told, at the latest; nothing while there is nothing to tell.
    tell_at: Option<Instant>,
}

impl<'a> Setbacks<'a> {
    /// None so far.
    pub(super) fn new(watched: &'a Watched) -> Self {
        Self {
            watched,
            failures: Vec::new(),
            told: HashSet::new(),
            forbidden: Vec::new(),
            fallbacks: Vec::new(),
            refusals: Vec::new(),
            allowed: Vec::new(),
            tell_at: None,
        }
    }

    /// A part has failed.
    pub(super) fn fail(&mut self, part: Part, error: anyhow::Error) {
        self.failures.push((part, error));
    }

    /// A part that nobody named is forbidden.
    pub(super) fn forbid(&mut self, part: Part, error: Error) {
        self.forbidden.push((part, error));
    }

    /// A part is not allowed in all namespaces at once, and each is asked instead.
    pub(super) fn refuse(&mut self, planned: PlannedPart, error: Error) {
        self.fallbacks.push(planned.part.clone());
        self.refusals.push((planned, error));
    }

    /// A part that was left out can be had.
    pub(super) fn allow(&mut self, part: Part) {
        self.allowed.push(part);
    }

    /// What was refused in that cluster, whose namespaces can't be asked one by one after all.
    pub(super) fn take_refused(&mut self, cluster: usize) -> Vec<(PlannedPart, Error)> {
        self.fallbacks.retain(|part| part.cluster != cluster);
        self.refusals.extract_if(.., |(planned, _)| planned.part.cluster == cluster).collect()
    }

    /// Forgets the refusals of which this is not so.
    pub(super) fn retain_refused(&mut self, is_refused: impl Fn(&Part) -> bool) {
        self.refusals.retain(|(planned, _)| is_refused(&planned.part));
    }

    /// Whether anything has failed that would be the end where no part is left. What comes once all has been told, as
    /// `begun` says, may be forbidden and go, and others may come; it only waits to be told.
    pub(super) fn are_news(&self, begun: bool) -> bool {
        !self.failures.is_empty() || (!begun && !self.forbidden.is_empty())
    }

    /// Says the errors of parts that failed: the end of the others may be far away.
    pub(super) fn tell_failures(&mut self) {
        for (part, error) in std::mem::take(&mut self.failures) {
            let report = Report::of(&error, "");
            let messages = report.prefixed(&part.prefix);
            if self.told.len() >= REMEMBERED {
                self.told.clear();
            }
            if self.told.insert(messages.join("\n")) {
                self.watched.messages().error(&messages, report.hint.as_deref());
            }
        }
    }

    /// Whatever else is still awaited: what is new may not be allowed for long.
    pub(super) fn tell_forbidden_soon(&mut self) {
        if !(self.fallbacks.is_empty() && self.forbidden.is_empty() && self.allowed.is_empty()) {
            self.tell_at.get_or_insert_with(|| Instant::now() + TOLD_TOGETHER);
        }
    }

    /// When it is to be told that something is forbidden, if anything is.
    pub(super) fn tell_at(&self) -> Option<Instant> {
        self.tell_at
    }

    /// Says what is asked for otherwise and what is left out, once it is known to be all for now.
    pub(super) fn tell_forbidden(&mut self) {
        self.tell_at = None;
        if let Some(line) = forbidden::fallback(&std::mem::take(&mut self.fallbacks)) {
            self.watched.messages().notice(&line);
        }
        let parts: Vec<Part> =
            std::mem::take(&mut self.forbidden).into_iter().map(|(part, _)| part).collect();
        let allowed = forbidden::allowed(&std::mem::take(&mut self.allowed));
        for line in forbidden::line(&parts).iter().chain(&allowed) {
            self.watched.messages().notice(line);
        }
    }

    /// No part is left. What was refused everywhere is told as the server said it first.
    pub(super) fn end(&mut self) -> anyhow::Result<ExitCode> {
        let several = self.forbidden.len() > 1;
        let refused = self.refusals.drain(..).map(|(planned, error)| (planned.part, error));
        let first = refused.chain(self.forbidden.first().cloned()).next();
        if several {
            self.tell_forbidden();
        }
        if let Some((part, error)) = first {
            self.failures.push((part, error.into()));
        }
        if self.failures.iter().any(|(part, _)| !part.prefix.is_empty()) {
            self.tell_failures();
            return Ok(ExitCode::Error);
        }
        match std::mem::take(&mut self.failures) {
            failures if failures.is_empty() => Ok(ExitCode::Error),
            failures => Err(Several(failures.into_iter().map(|(_, error)| error).collect()).into()),
        }
    }
}
