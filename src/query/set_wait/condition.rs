//! A condition on one state of an object.

use std::fmt;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::evaluation::{Evaluation, Truth};
use super::impossible::EndState;
use super::subject::Subject;
use super::words::Word;
use crate::object::JsonValue;
use crate::query::cel::{CelFilter, CelInput, CelSyntaxError, CelValidity, Term, Terms};
use crate::query::wait::{ConditionTestError, KubectlCondition};

/// The time after which an expression is evaluated again whose result may change at any moment.
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
    /// A condition of kubectl's that reads the object.
    Kubectl(KubectlCondition),
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

    /// Returns a condition of kubectl's, which was written like this.
    #[must_use]
    pub fn kubectl(text: &str, condition: KubectlCondition) -> Self {
        let word = |word| Form::Expression(Term { text: text.to_owned(), terms: Terms::Word(word) });
        let form = match condition {
            KubectlCondition::Create => word(Word::Exists),
            KubectlCondition::Delete => word(Word::Gone),
            condition => Form::Kubectl(condition),
        };
        Self { text: text.to_owned(), form }
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
            Form::Kubectl(_) => false,
        }
    }

    /// Whether an object that is gone may meet the condition.
    pub(super) fn mentions_gone(&self) -> bool {
        match &self.form {
            Form::Expression(term) => mentions_gone(term),
            Form::Kubectl(_) => false,
        }
    }

    pub(super) fn reads_only_metadata(&self) -> bool {
        match &self.form {
            Form::Expression(term) => reads_only_metadata(term),
            Form::Kubectl(_) => false,
        }
    }

    /// Whether the condition depends on the status of an object.
    pub(super) fn reads_status(&self) -> bool {
        match &self.form {
            Form::Expression(term) => reads_status(term),
            Form::Kubectl(_) => true,
        }
    }

    pub(super) fn evaluate(&self, subject: &Subject<'_>) -> Evaluation {
        match &self.form {
            Form::Expression(term) => evaluate(term, subject),
            _ if subject.is_gone => Evaluation::fixed(Truth::Unknown),
            Form::Kubectl(condition) => Evaluation::fixed(kubectl(condition, subject)),
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
            Form::Kubectl(condition) => is_met(condition, subject).err().map(|error| error.to_string()),
            Form::Expression(_) => None,
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
    let (result, validity) = filter.evaluate_with_validity(&input(subject));
    let truth = match result {
        Ok(true) => Truth::True,
        Ok(false) => Truth::False,
        Err(_) => Truth::Unknown,
    };
    let soon = subject.moment.elapsed + INTERVAL;
    let until = match validity {
        CelValidity::Always => None,
        CelValidity::Unknown => Some(soon),
        // A moment that is out of range does not come.
        CelValidity::Until(moment) => {
            let moment = Timestamp::try_from(moment).ok();
            moment.map(|moment| subject.elapsed_at(moment).unwrap_or(soon))
        }
    };
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

fn is_met(condition: &KubectlCondition, subject: &Subject<'_>) -> Result<bool, ConditionTestError> {
    let object = JsonValue::parse(subject.json());
    match condition {
        KubectlCondition::Create => Ok(true),
        KubectlCondition::Delete => Ok(false),
        KubectlCondition::Status(condition) => condition.is_met(&object),
        KubectlCondition::Value(condition) => condition.is_met(&object),
    }
}

fn kubectl(condition: &KubectlCondition, subject: &Subject<'_>) -> Truth {
    if EndState::of(subject).is_some_and(|end| end.excludes(condition)) {
        return Truth::Never;
    }
    match is_met(condition, subject) {
        Ok(true) => Truth::True,
        Ok(false) => Truth::False,
        Err(_) => Truth::Unknown,
    }
}
