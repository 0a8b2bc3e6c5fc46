//! Sequential processing of the parts of a one-shot command, with its failures.

mod similar_names;

pub(super) use similar_names::with_similar_names;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use kdelta::listwatch::Error;

use super::failure_action::FailureAction;
use super::forbidden;
use super::format::Extent;
use super::reporter::Reporter;
use crate::exit::{ExitCode, Report, Several};
use crate::session::{NamePatterns, Part, PlannedPart, Session, TargetFailure, TargetSet};
use crate::settings::Selection;

/// Iterates over the parts of a selection, each once. A part that is forbidden in all namespaces is replaced by one
/// part per namespace.
pub(super) struct Walk<'a> {
    reporter: &'a Reporter,
    /// The selection if missing names are errors.
    required: Option<&'a Selection>,
    targets: TargetSet,
    several_contexts: bool,
    several_namespaces: bool,
    pending: VecDeque<PlannedPart>,
    /// The parts returned so far.
    seen: HashSet<Part>,
    /// Parts whose resource was already returned in another version.
    covered: HashSet<Part>,
    /// Subjects whose type was missing. Checked once each, so that an unstable server can't prolong the walk.
    revalidated: HashSet<Subject>,
    /// Named objects that do not exist in this namespace, which a pattern selected, so that this is no error yet.
    absent: HashSet<Part>,
    /// The number of returned parts that were forbidden, failed or missing.
    failed_count: usize,
    failures: Vec<Failure>,
    /// Parts that are forbidden in all namespaces.
    fallbacks: Vec<Part>,
    /// Forbidden parts that the user did not name.
    forbidden: Vec<Part>,
    /// The first refusal that was worked around.
    refusal: Option<(Part, Error)>,
    /// Whether a whole context failed or matching namespaces could not be listed.
    partial: bool,
}

/// The failure of a part, or of one of its objects.
struct Failure {
    part: Part,
    error: anyhow::Error,
    /// Whether it is reported even if another one reads alike.
    is_of_object: bool,
}

impl Failure {
    fn of_part(part: Part, error: anyhow::Error) -> Self {
        Self { part, error, is_of_object: false }
    }
}

/// The subject of a part, in any version.
#[derive(PartialEq, Eq, Hash)]
struct Subject {
    cluster: usize,
    group_resource: String,
    namespace: Arc<str>,
    name: Option<Arc<str>>,
    patterns: Option<Arc<NamePatterns>>,
}

impl Subject {
    fn of(part: &Part) -> Self {
        Self {
            cluster: part.cluster,
            group_resource: part.resource.group_resource(),
            namespace: Arc::clone(&part.namespace),
            name: part.name.clone(),
            patterns: part.patterns.clone(),
        }
    }
}

/// Returns the errors without those that read alike in several namespaces. Repetitions in one namespace stay, as in
/// kubectl.
fn without_repetitions(failures: Vec<Failure>) -> Vec<anyhow::Error> {
    let mut kept: Vec<(Part, String, anyhow::Error)> = Vec::new();
    for Failure { part, error, is_of_object } in failures {
        // A hint in front of the error does not tell errors apart.
        let text = error.downcast_ref::<Error>().map_or_else(|| error.to_string(), Error::to_string);
        let is_repeated = |(other, known, _): &(Part, String, anyhow::Error)| {
            *known == text && other.namespace != part.namespace
        };
        if is_of_object || !kept.iter().any(is_repeated) {
            kept.push((part, text, error));
        }
    }
    kept.into_iter().map(|(.., error)| error).collect()
}

impl<'a> Walk<'a> {
    /// Resolves the selection. `patient` allows missing names and patterns without a match.
    ///
    /// # Errors
    /// The only cluster can't be used, or a word names no type.
    pub(super) async fn start(
        session: &'a Session,
        selection: &'a Selection,
        patient: bool,
        reporter: &'a Reporter,
    ) -> anyhow::Result<Self> {
        let mut walk = Self {
            reporter,
            required: (!patient).then_some(selection),
            targets: TargetSet::start_one_shot(session, selection, patient),
            several_contexts: session.has_several_contexts(),
            several_namespaces: session.has_several_namespaces(),
            pending: VecDeque::new(),
            seen: HashSet::new(),
            covered: HashSet::new(),
            revalidated: HashSet::new(),
            absent: HashSet::new(),
            failed_count: 0,
            failures: Vec::new(),
            fallbacks: Vec::new(),
            forbidden: Vec::new(),
            refusal: None,
            partial: reporter.report_unusable(session),
        };
        walk.settle().await?;
        Ok(walk)
    }

    /// Calls `use_it` with the scope of the output.
    pub(super) fn with_extent<T>(&self, selection: &Selection, use_it: impl FnOnce(&Extent<'_>) -> T) -> T {
        use_it(&Extent {
            selection,
            resources: &self.targets.resources(),
            parts: &self.parts(),
            several_contexts: self.several_contexts,
            several_namespaces: self.several_namespaces,
        })
    }

    /// Returns all parts.
    pub(super) fn parts(&self) -> Vec<PlannedPart> {
        self.targets.parts()
    }

    /// Returns the next part.
    pub(super) fn next(&mut self) -> Option<PlannedPart> {
        let Some(planned) = self.pending.pop_front() else {
            self.add_missing();
            return None;
        };
        self.seen.insert(planned.part.clone());
        Some(planned)
    }

    /// Returns all parts that are known now, to be processed at once; none after the last one.
    pub(super) fn next_batch(&mut self) -> Vec<PlannedPart> {
        let mut batch = Vec::with_capacity(self.pending.len());
        while let Some(planned) = self.pending.pop_front() {
            self.seen.insert(planned.part.clone());
            batch.push(planned);
        }
        if batch.is_empty() {
            self.add_missing();
        }
        batch
    }

    /// Adds an error for each name that exists in no matching namespace, after all parts are done.
    fn add_missing(&mut self) {
        let Some(selection) = self.required else { return };
        for missing in self.targets.named_in_matching() {
            let mut alike = self.seen.iter().filter(|part| part.is_same_object(&missing));
            let is_missing = alike.all(|part| self.absent.contains(part));
            if let Some(error) = missing.not_found_in(selection).filter(|_| is_missing) {
                self.failures.push(Failure::of_part(missing, error.into()));
            }
        }
    }

    /// Handles the failure of a returned part.
    ///
    /// # Errors
    /// As [`Walk::start`].
    pub(super) async fn failed(&mut self, planned: PlannedPart, error: anyhow::Error) -> anyhow::Result<()> {
        let action = error.downcast_ref().map_or(FailureAction::Report, |e| FailureAction::of(&planned, e));
        let PlannedPart { part, open_namespace, .. } = planned;
        if action == FailureAction::Resolve
            && self.revalidated.insert(Subject::of(&part))
            && self.targets.revalidate(&part).await
        {
            return self.replan(&part).await;
        }
        self.failed_count += 1;
        if action == FailureAction::ReportMissing && open_namespace {
            self.absent.insert(part);
            return Ok(());
        }
        let (FailureAction::SplitByNamespace { or_leave_out }, Some(refusal)) =
            (action, error.downcast_ref::<Error>().cloned())
        else {
            self.failures.push(Failure::of_part(part, error));
            return Ok(());
        };
        if self.targets.split_by_namespace(&part) {
            self.fallbacks.push(part.clone());
            self.refusal.get_or_insert((part, refusal));
            return self.settle().await;
        }
        if or_leave_out {
            self.refusal.get_or_insert((part.clone(), refusal));
            self.forbidden.push(part);
        } else {
            self.failures.push(Failure::of_part(part, error));
        }
        Ok(())
    }

    /// Resolves the selection again after discovery changed. Returned parts are not repeated in another version, except
    /// this one if it is still selected.
    async fn replan(&mut self, revalidated: &Part) -> anyhow::Result<()> {
        let before: HashSet<Part> = self.parts().into_iter().map(|planned| planned.part).collect();
        self.seen.remove(revalidated);
        self.wait().await?;
        let seen_subjects: HashSet<Subject> = self.seen.iter().map(Subject::of).collect();
        let parts = self.parts().into_iter().map(|planned| planned.part);
        let is_covered = |part: &Part| !before.contains(part) && seen_subjects.contains(&Subject::of(part));
        self.covered.extend(parts.filter(is_covered));
        self.update_pending();
        Ok(())
    }

    /// Adds the failure of an object of a returned part.
    pub(super) fn add_object_failure(&mut self, part: Part, error: anyhow::Error) {
        self.failures.push(Failure { part, error, is_of_object: true });
    }

    /// Returns the part of the only failure, if that is a missing name.
    pub(super) fn only_missing(&self) -> Option<&Part> {
        match self.failures.as_slice() {
            [Failure { part, error, .. }]
                if part.name.is_some() && matches!(error.downcast_ref(), Some(Error::NotFound(_))) =>
            {
                Some(part)
            }
            _ => None,
        }
    }

    /// Adds parts that are no part of the walk but were forbidden, to be reported with those that are.
    pub(super) fn add_forbidden(&mut self, parts: Vec<Part>) {
        self.forbidden.extend(parts);
    }

    /// Whether nothing has failed.
    pub(super) fn is_complete(&self) -> bool {
        self.failures.is_empty() && self.forbidden.is_empty() && !self.partial
    }

    /// Reports the failures and returns the exit code.
    ///
    /// # Errors
    /// With a single context: all parts failed, or a name is missing.
    pub(super) fn end(mut self) -> anyhow::Result<ExitCode> {
        let nothing = self.failed_count == self.seen.len();
        match self.refusal.take() {
            // If everything is forbidden, the first refusal is enough.
            Some((part, error)) if nothing && self.failures.is_empty() => {
                self.failures.push(Failure::of_part(part, error.into()));
            }
            _ => {
                let lines = [forbidden::fallback(&self.fallbacks), forbidden::left_out(&self.forbidden)];
                lines.iter().flatten().for_each(|line| self.reporter.messages().notice(line));
            }
        }
        let is_partial = self.partial || !self.forbidden.is_empty();
        if self.failures.is_empty() {
            return Ok(match (is_partial, nothing && self.partial) {
                (_, true) => ExitCode::Error,
                (true, false) => ExitCode::Partial,
                (false, false) => ExitCode::Ok,
            });
        }
        if !self.several_contexts {
            // A missing name fails the whole command, as in kubectl.
            let is_missing = |Failure { part, error, .. }: &Failure| {
                part.name.is_some() && matches!(error.downcast_ref(), Some(Error::NotFound(_)))
            };
            let is_partial = !nothing && !self.failures.iter().any(is_missing);
            let failed = anyhow::Error::new(Several(without_repetitions(self.failures)));
            if !is_partial {
                return Err(failed);
            }
            self.reporter.report_error("", &failed);
            return Ok(ExitCode::Partial);
        }
        for Failure { part, error, .. } in self.failures {
            let report = Report::of(&error, "");
            self.reporter.messages().error(&report.prefixed(&part.prefix), report.hint.as_deref());
        }
        Ok(if nothing { ExitCode::Error } else { ExitCode::Partial })
    }

    /// Waits until the parts are known and updates the pending ones.
    async fn settle(&mut self) -> anyhow::Result<()> {
        self.wait().await?;
        self.update_pending();
        Ok(())
    }

    /// Updates the parts still to be returned.
    fn update_pending(&mut self) {
        let is_new = |planned: &PlannedPart| {
            !self.seen.contains(&planned.part) && !self.covered.contains(&planned.part)
        };
        self.pending = self.parts().into_iter().filter(is_new).collect();
    }

    /// Waits until the targets are complete for now.
    async fn wait(&mut self) -> anyhow::Result<()> {
        while !self.targets.is_settled() {
            match self.targets.next().await {
                Ok(()) => {}
                Err(TargetFailure::Namespaces { .. }) => {
                    if let Some((part, error)) = self.refusal.take() {
                        self.failures.push(Failure::of_part(part, forbidden::not_listable(error)));
                    }
                }
                Err(failure) => {
                    self.reporter.report_target_failure(failure)?;
                    self.partial = true;
                }
            }
        }
        Ok(())
    }
}
