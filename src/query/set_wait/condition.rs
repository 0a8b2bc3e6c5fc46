//! A condition on one state of an object.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::evaluation::{Evaluation, Truth};
use super::impossible::EndState;
use super::subject::Subject;
use super::words::Word;
use crate::query::cel::{CelFilter, CelInput, CelSyntaxError, Term, Terms};

/// The time after which an expression that uses `now` is evaluated again.
const INTERVAL: Duration = Duration::from_secs(1);

/// A condition on one state of an object.
///
/// ```
/// # use kdelta::query::WaitCondition;
/// assert!(WaitCondition::parse("ready || object.status.phase == 'Succeeded'").is_ok());
/// assert!(WaitCondition::parse("!gone && !failed").is_ok());
/// let error = WaitCondition::parse("redy").unwrap_err();
/// assert_eq!(error.to_string(), "line 1, column 1: unknown variable \"redy\"");
/// ```
pub struct WaitCondition {
    text: String,
    form: Form,
}

enum Form {
    /// CEL in which the words `ready`, `current`, `failed`, `complete`, `exists` and `gone` may be used.
    Expression(Term<Word>),
    /// A condition of the status has a value.
    Status { kind: String, value: String },
    /// A test of the caller.
    Test(Arc<dyn ObjectTest>),
}

/// A test on the body of an object.
pub trait ObjectTest: Send + Sync {
    /// Returns whether an object passes.
    ///
    /// # Errors
    /// The reason why there is no result.
    fn holds(&self, json: &[u8]) -> Result<bool, String>;
}

impl WaitCondition {
    /// Parses a CEL expression. The words `ready`, `current`, `failed`, `complete`, `exists` and `gone` are terms of it.
    ///
    /// # Errors
    /// The first problem, with its position.
    pub fn parse(text: &str) -> Result<Self, CelSyntaxError> {
        let term = Term::parse(text, &Word::of)?;
        Ok(Self { text: text.to_owned(), form: Form::Expression(term) })
    }

    /// Returns the condition that a condition of the status has a value, both regardless of case, as in kubectl: one of an
    /// earlier generation of the object does not count.
    #[must_use]
    pub fn status_condition(text: &str, kind: &str, value: &str) -> Self {
        Self { text: text.to_owned(), form: Form::Status { kind: kind.to_owned(), value: value.to_owned() } }
    }

    /// Returns the condition that an object passes a test.
    #[must_use]
    pub fn test(description: &str, test: Arc<dyn ObjectTest>) -> Self {
        Self { text: description.to_owned(), form: Form::Test(test) }
    }

    /// Returns the condition as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the condition is only that the object is gone.
    pub(super) fn is_gone(&self) -> bool {
        match &self.form {
            Form::Expression(term) => match &term.terms {
                Terms::Word(word) => *word == Word::Gone,
                Terms::Not(negated) => matches!(negated.terms, Terms::Word(Word::Exists)),
                _ => false,
            },
            Form::Status { .. } | Form::Test(_) => false,
        }
    }

    /// Whether an object that is gone may meet the condition.
    pub(super) fn mentions_gone(&self) -> bool {
        match &self.form {
            Form::Expression(term) => mentions_gone(term),
            Form::Status { .. } | Form::Test(_) => false,
        }
    }

    pub(super) fn reads_only_metadata(&self) -> bool {
        match &self.form {
            Form::Expression(term) => reads_only_metadata(term),
            Form::Status { .. } | Form::Test(_) => false,
        }
    }

    /// Whether the condition depends on the status of an object.
    pub(super) fn reads_status(&self) -> bool {
        match &self.form {
            Form::Expression(term) => reads_status(term),
            Form::Status { .. } | Form::Test(_) => true,
        }
    }

    pub(super) fn evaluate(&self, subject: &Subject<'_>) -> Evaluation {
        match &self.form {
            Form::Expression(term) => evaluate(term, subject),
            _ if subject.is_gone => Evaluation::fixed(Truth::Unknown),
            Form::Status { kind, value } => Evaluation::fixed(status(kind, value, subject)),
            Form::Test(test) => Evaluation::fixed(match test.holds(subject.json()) {
                Ok(true) => Truth::True,
                Ok(false) => Truth::False,
                Err(_) => Truth::Unknown,
            }),
        }
    }

    /// Returns the first term of `||` that holds; `None` if the condition is none of that form.
    pub(super) fn branch(&self, subject: &Subject<'_>) -> Option<&str> {
        let Form::Expression(Term { terms: Terms::Or(terms), .. }) = &self.form else { return None };
        let mut met = terms.iter().filter(|term| evaluate(term, subject).is_true());
        met.next().map(|term| term.text.as_str())
    }

    /// Returns why the condition does not hold.
    pub(super) fn problem(&self, subject: &Subject<'_>) -> String {
        let error = match &self.form {
            Form::Expression(Term { terms: Terms::Filter(filter), .. }) => {
                filter.evaluate(&input(subject)).err().map(|error| error.to_string())
            }
            Form::Test(test) => test.holds(subject.json()).err(),
            _ => None,
        };
        match error {
            Some(error) => format!("{} has no result: {error}", self.text),
            None => format!("{} is false", self.text),
        }
    }
}

/// Shows the condition as it was written.
impl fmt::Debug for WaitCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitCondition").field(&self.text).finish()
    }
}

fn evaluate(term: &Term<Word>, subject: &Subject<'_>) -> Evaluation {
    let each = |terms: &[Term<Word>], is_any| {
        Evaluation::joined(terms.iter().map(|term| evaluate(term, subject)), is_any)
    };
    match &term.terms {
        Terms::Word(word) => word.evaluate(subject),
        Terms::Not(negated) => evaluate(negated, subject).negated(),
        Terms::And(terms) => each(terms, false),
        Terms::Or(terms) => each(terms, true),
        Terms::Filter(_) if subject.is_gone => Evaluation::fixed(Truth::Unknown),
        Terms::Filter(filter) => expression(filter, subject),
    }
}

fn input<'s>(subject: &'s Subject<'_>) -> CelInput<'s> {
    CelInput::new(subject.json(), SystemTime::from(subject.moment.wall))
}

fn expression(filter: &CelFilter, subject: &Subject<'_>) -> Evaluation {
    let truth = match filter.evaluate(&input(subject)) {
        Ok(true) => Truth::True,
        Ok(false) => Truth::False,
        Err(_) => Truth::Unknown,
    };
    let until = filter.uses_now().then(|| subject.moment.elapsed + INTERVAL);
    Evaluation { truth, until }
}

fn mentions_gone(term: &Term<Word>) -> bool {
    match &term.terms {
        Terms::Word(word) => matches!(word, Word::Gone | Word::Exists),
        Terms::Filter(_) => false,
        Terms::Not(negated) => mentions_gone(negated),
        Terms::And(terms) | Terms::Or(terms) => terms.iter().any(mentions_gone),
    }
}

fn reads_only_metadata(term: &Term<Word>) -> bool {
    match &term.terms {
        Terms::Word(word) => !word.reads_object(),
        Terms::Filter(filter) => {
            filter.paths().iter().all(|path| path.first().is_some_and(|name| *name == "metadata"))
        }
        Terms::Not(negated) => reads_only_metadata(negated),
        Terms::And(terms) | Terms::Or(terms) => terms.iter().all(reads_only_metadata),
    }
}

fn reads_status(term: &Term<Word>) -> bool {
    match &term.terms {
        Terms::Word(word) => word.reads_object(),
        Terms::Filter(filter) => {
            filter.paths().iter().any(|path| path.first().is_none_or(|name| *name == "status"))
        }
        Terms::Not(negated) => reads_status(negated),
        Terms::And(terms) | Terms::Or(terms) => terms.iter().any(reads_status),
    }
}

fn status(kind: &str, value: &str, subject: &Subject<'_>) -> Truth {
    let facts = subject.facts();
    let is_end = |name: &str| kind.eq_ignore_ascii_case(name) && value.eq_ignore_ascii_case("true");
    match EndState::of(subject) {
        Some(EndState::PodSucceeded | EndState::PodFailed(_))
            if is_end("Ready") || is_end("ContainersReady") =>
        {
            return Truth::Never;
        }
        Some(EndState::JobFailed(_)) if is_end("Complete") => return Truth::Never,
        Some(EndState::JobComplete) if is_end("Failed") => return Truth::Never,
        _ => {}
    }
    let Some(condition) =
        facts.conditions().iter().find(|condition| condition.kind.eq_ignore_ascii_case(kind))
    else {
        return Truth::False;
    };
    let of_status = facts.status.as_ref().and_then(|status| status.observed_generation);
    let is_outdated = match (facts.metadata.generation, condition.observed_generation.or(of_status)) {
        (Some(generation), Some(observed)) => observed < generation,
        _ => false,
    };
    if !is_outdated && condition.status.eq_ignore_ascii_case(value) { Truth::True } else { Truth::False }
}
