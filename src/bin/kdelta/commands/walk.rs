//! The parts of a question that is asked once, one after the other, and what fails on the way.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use kdelta::listwatch::Error;

use super::forbidden;
use super::format::Extent;
use super::watched::Watched;
use crate::exit::{ExitCode, Report, Several};
use crate::session::{Part, PlannedPart, Session, TargetFailure, TargetSet};
use crate::settings::Selection;

/// A walk over the parts of a selection, each once. Where one is not allowed in all namespaces at once, those of each
/// namespace come in its place.
pub(super) struct Walk<'a> {
    watched: &'a Watched,
    /// What has to be found; nothing where it is no error not to be.
    required: Option<&'a Selection>,
    survey: TargetSet,
    several_contexts: bool,
    several_namespaces: bool,
    ahead: VecDeque<PlannedPart>,
    /// Those that were handed out.
    seen: HashSet<Part>,
    /// Those that came to be parts after the same was handed out in another version.
    covered: HashSet<Part>,
    /// Whose type was found not to be there. Once each: a server that goes back and forth does not keep the walk going.
    doubted: HashSet<Subject>,
    /// Those that are one name, which is not in this namespace. Nobody named the namespace, so it need not be.
    absent: HashSet<Part>,
    /// How many of them were refused, or failed, or are not there.
    without: usize,
    failures: Vec<(Part, anyhow::Error)>,
    /// Those that are not allowed in all namespaces at once.
    fallbacks: Vec<Part>,
    /// Those that nobody named.
    forbidden: Vec<Part>,
    /// The first refusal that another way was found around.
    refusal: Option<(Part, Error)>,
    /// Whether a whole context failed, or the namespaces that match could not be found.
    partial: bool,
}

/// What a part is of, in whatever version.
#[derive(PartialEq, Eq, Hash)]
struct Subject {
    cluster: usize,
    group_resource: String,
    namespace: Arc<str>,
    name: Option<Arc<str>>,
}

impl Subject {
    fn of(part: &Part) -> Self {
        Self {
            cluster: part.cluster,
            group_resource: part.resource.group_resource(),
            namespace: Arc::clone(&part.namespace),
            name: part.name.clone(),
        }
    }
}

impl<'a> Walk<'a> {
    /// Finds out what there is.
    ///
    /// # Errors
    /// The one cluster can't be asked, or a word is no type.
    pub(super) async fn start(
        session: &'a Session,
        selection: &'a Selection,
        patient: bool,
        watched: &'a Watched,
    ) -> anyhow::Result<Self> {
        let mut walk = Self {
            watched,
            required: (!patient).then_some(selection),
            survey: TargetSet::start_one_shot(session, selection, patient),
            several_contexts: session.has_several_contexts(),
            several_namespaces: session.has_several_namespaces(),
            ahead: VecDeque::new(),
            seen: HashSet::new(),
            covered: HashSet::new(),
            doubted: HashSet::new(),
            absent: HashSet::new(),
            without: 0,
            failures: Vec::new(),
            fallbacks: Vec::new(),
            forbidden: Vec::new(),
            refusal: None,
            partial: watched.tell_unusable(session),
        };
        walk.settle().await?;
        Ok(walk)
    }

    /// What decides the form of the output.
    pub(super) fn with_extent<T>(&self, selection: &Selection, use_it: impl FnOnce(&Extent<'_>) -> T) -> T {
        use_it(&Extent {
            selection,
            resources: &self.survey.resources(),
            parts: &self.parts(),
            several_contexts: self.several_contexts,
            several_namespaces: self.several_namespaces,
        })
    }

    /// All parts.
    pub(super) fn parts(&self) -> Vec<PlannedPart> {
        self.survey.parts()
    }

    /// The next part.
    pub(super) fn next(&mut self) -> Option<PlannedPart> {
        let Some(planned) = self.ahead.pop_front() else {
            self.find_missing();
            return None;
        };
        self.seen.insert(planned.part.clone());
        Some(planned)
    }

    /// All has been asked: a name that is in none of the namespaces that match is missing.
    fn find_missing(&mut self) {
        let Some(selection) = self.required else { return };
        for named_in_matching in self.survey.named_in_matching() {
            let mut alike = self.seen.iter().filter(|part| part.is_same_object(&named_in_matching));
            let is_missing = alike.all(|part| self.absent.contains(part));
            if let Some(error) = named_in_matching.not_found_in(selection).filter(|_| is_missing) {
                self.failures.push((named_in_matching, error.into()));
            }
        }
    }

    /// A part failed, as it was handed out.
    ///
    /// # Errors
    /// As [`Walk::start`].
    pub(super) async fn failed(&mut self, planned: PlannedPart, error: anyhow::Error) -> anyhow::Result<()> {
        let PlannedPart { part, open_type, open_namespace } = planned;
        let is_doubtful = error.downcast_ref().is_some_and(is_unserved);
        if is_doubtful && self.doubted.insert(Subject::of(&part)) && self.survey.revalidate(&part).await {
            return self.replan(&part).await;
        }
        self.without += 1;
        let is_missing = part.name.is_some() && error.downcast_ref().is_some_and(is_missing);
        if is_missing && open_namespace {
            self.absent.insert(part);
            return Ok(());
        }
        let Some(refusal @ Error::Forbidden(_)) = error.downcast_ref::<Error>().cloned() else {
            self.failures.push((part, error));
            return Ok(());
        };
        if self.survey.split_by_namespace(&part) {
            self.fallbacks.push(part.clone());
            self.refusal.get_or_insert((part, refusal));
            return self.settle().await;
        }
        if open_type || open_namespace {
            self.refusal.get_or_insert((part.clone(), refusal));
            self.forbidden.push(part);
        } else {
            self.failures.push((part, error));
        }
        Ok(())
    }

    /// The words mean something else by now. What has been handed out is not asked for again, in no version, but for this
    /// part if the words still mean it.
    async fn replan(&mut self, doubted: &Part) -> anyhow::Result<()> {
        let before: HashSet<Part> = self.parts().into_iter().map(|planned| planned.part).collect();
        self.seen.remove(doubted);
        self.wait().await?;
        let told: HashSet<Subject> = self.seen.iter().map(Subject::of).collect();
        let parts = self.parts().into_iter().map(|planned| planned.part);
        let is_covered = |part: &Part| !before.contains(part) && told.contains(&Subject::of(part));
        self.covered.extend(parts.filter(is_covered));
        self.look_ahead();
        Ok(())
    }

    /// Whether nothing has failed.
    pub(super) fn is_complete(&self) -> bool {
        self.failures.is_empty() && self.forbidden.is_empty() && !self.partial
    }

    /// Says what failed, and how the command ends.
    ///
    /// # Errors
    /// What failed, where there is but one context: all of it, or a name that is missing.
    pub(super) fn end(mut self) -> anyhow::Result<ExitCode> {
        let nothing = self.without == self.seen.len();
        match self.refusal.take() {
            // Of what is forbidden everywhere the first refusal says enough.
            Some((part, error)) if nothing && self.failures.is_empty() => {
                self.failures.push((part, error.into()));
            }
            _ => {
                let lines = [forbidden::fallback(&self.fallbacks), forbidden::line(&self.forbidden)];
                lines.iter().flatten().for_each(|line| self.watched.messages().notice(line));
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
            // A name that is missing is an error of the whole, as kubectl has it.
            let is_missing = |(part, error): &(Part, anyhow::Error)| {
                part.name.is_some() && matches!(error.downcast_ref(), Some(Error::NotFound(_)))
            };
            let is_partial = !nothing && !self.failures.iter().any(is_missing);
            let failures: Vec<_> = self.failures.into_iter().map(|(_, error)| error).collect();
            let failed = anyhow::Error::new(Several(failures));
            if !is_partial {
                return Err(failed);
            }
            self.watched.tell_error("", &failed);
            return Ok(ExitCode::Partial);
        }
        for (part, error) in self.failures {
            let report = Report::of(&error, "");
            self.watched.messages().error(&report.prefixed(&part.prefix), report.hint.as_deref());
        }
        Ok(if nothing { ExitCode::Error } else { ExitCode::Partial })
    }

    /// Waits until it is known which parts there are for now.
    async fn settle(&mut self) -> anyhow::Result<()> {
        self.wait().await?;
        self.look_ahead();
        Ok(())
    }

    /// Finds out which parts are still to be handed out.
    fn look_ahead(&mut self) {
        let is_new = |planned: &PlannedPart| {
            !self.seen.contains(&planned.part) && !self.covered.contains(&planned.part)
        };
        self.ahead = self.parts().into_iter().filter(is_new).collect();
    }

    /// Waits until all that is to be known for now is known.
    async fn wait(&mut self) -> anyhow::Result<()> {
        while !self.survey.is_settled() {
            match self.survey.next().await {
                Ok(()) => {}
                Err(TargetFailure::Cluster { prefix, error }) => {
                    self.watched.tell_setback(&prefix, error)?;
                    self.partial = true;
                }
                Err(TargetFailure::NamespacePatterns { prefix, error }) => {
                    self.watched.tell_error(&prefix, &error);
                    self.partial = true;
                }
                Err(TargetFailure::Namespaces { .. }) => {
                    if let Some((part, error)) = self.refusal.take() {
                        self.failures.push((part, forbidden::everywhere(error)));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether an object is not there, and not its type.
pub(super) fn is_missing(error: &Error) -> bool {
    matches!(error, Error::NotFound(_)) && !is_unserved(error)
}

/// Whether an error says that a type is not served, and not that it has no such object.
fn is_unserved(error: &Error) -> bool {
    let words = "the server could not find the requested resource";
    matches!(error, Error::NotFound(status) if status.message.ends_with(words))
}
