//! The parts of a question that is asked once, one after the other, and what fails on the way.

use std::collections::{HashSet, VecDeque};

use kdelta::listwatch::Error;

use super::forbidden;
use super::format::Extent;
use super::watched::Watched;
use crate::exit::{ExitCode, Report, Several};
use crate::session::{Part, Planned, Session, Setback, Survey};
use crate::settings::Selection;

/// A walk over the parts of a selection, each once. Where one is not allowed in all namespaces at once, those of each
/// namespace come in its place.
pub(super) struct Walk<'a> {
    watched: &'a Watched,
    question: Question<'a>,
    survey: Survey,
    several_contexts: bool,
    several_homes: bool,
    ahead: VecDeque<Planned>,
    /// Those that were handed out.
    seen: HashSet<Part>,
    /// How many of them were refused, or failed.
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

/// What is asked, and of whom.
struct Question<'a> {
    session: &'a Session,
    selection: &'a Selection,
    patient: bool,
}

impl Question<'_> {
    fn survey(&self) -> Survey {
        Survey::in_haste(self.session, self.selection, self.patient)
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
        let question = Question { session, selection, patient };
        let mut walk = Self {
            watched,
            survey: question.survey(),
            question,
            several_contexts: session.has_several_contexts(),
            several_homes: session.has_several_namespaces(),
            ahead: VecDeque::new(),
            seen: HashSet::new(),
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
            several_homes: self.several_homes,
        })
    }

    /// All parts.
    pub(super) fn parts(&self) -> Vec<Planned> {
        self.survey.parts()
    }

    /// The next part.
    pub(super) fn next(&mut self) -> Option<Part> {
        let next = self.ahead.pop_front()?.part;
        self.seen.insert(next.clone());
        Some(next)
    }

    /// A part failed.
    ///
    /// # Errors
    /// As [`Walk::start`].
    pub(super) async fn failed(&mut self, part: Part, error: anyhow::Error) -> anyhow::Result<()> {
        if is_unserved(&error) && self.survey.doubt(&part).await {
            // What has been handed out is not asked for again, but for this one if the words still mean it.
            self.seen.remove(&part);
            self.survey = self.question.survey();
            return self.settle().await;
        }
        self.without += 1;
        let Some(refusal @ Error::Forbidden(_)) = error.downcast_ref::<Error>().cloned() else {
            self.failures.push((part, error));
            return Ok(());
        };
        if self.survey.refuse(&part) {
            self.fallbacks.push(part.clone());
            self.refusal.get_or_insert((part, refusal));
            return self.settle().await;
        }
        let is_open =
            |planned: &Planned| planned.part == part && (planned.open_type || planned.open_namespace);
        if self.parts().iter().any(is_open) {
            self.refusal.get_or_insert((part.clone(), refusal));
            self.forbidden.push(part);
        } else {
            self.failures.push((part, error));
        }
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
            let text = format!("{}{}", part.prefix, report.text);
            self.watched.messages().error(&text, report.hint.as_deref());
        }
        Ok(if nothing { ExitCode::Error } else { ExitCode::Partial })
    }

    /// Waits until all that is to be known for now is known.
    async fn settle(&mut self) -> anyhow::Result<()> {
        while !self.survey.is_settled() {
            match self.survey.next().await {
                Ok(()) => {}
                Err(Setback::Cluster { prefix, error }) => {
                    self.watched.tell_setback(&prefix, error)?;
                    self.partial = true;
                }
                Err(Setback::Matches { prefix, error }) => {
                    self.watched.tell_error(&prefix, &error);
                    self.partial = true;
                }
                Err(Setback::Namespaces { .. }) => {
                    if let Some((part, error)) = self.refusal.take() {
                        self.failures.push((part, forbidden::everywhere(error)));
                    }
                }
            }
        }
        let ahead = self.parts().into_iter().filter(|planned| !self.seen.contains(&planned.part));
        self.ahead = ahead.collect();
        Ok(())
    }
}

/// Whether an error says that a type is not served, and not that it has no such object.
fn is_unserved(error: &anyhow::Error) -> bool {
    let words = "the server could not find the requested resource";
    matches!(error.downcast_ref::<Error>(), Some(Error::NotFound(status)) if status.message.ends_with(words))
}
