//! The local filter: conditions on single objects, all of which must hold. The program evaluates them itself, because the
//! server has no selector for them.

mod expression;
mod needs;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use expression::Expression;
pub(crate) use needs::{FilterNeeds, ObjectPart};

use std::fmt;
use std::time::Duration;

use super::duration::{self, DurationError};
use super::usage::UsageError;
use crate::args::FilterArgs;

/// Conditions on single objects, all of which must hold. Without any, every object matches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ObjectFilter {
    conditions: Vec<FilterCondition>,
    /// Conditions on the changes of a watch.
    of_changes: Vec<Expression>,
}

/// A condition on one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FilterCondition {
    /// The object was created at least this long ago.
    OlderThan(Duration),
    /// The object was created less than this long ago.
    NewerThan(Duration),
    /// A container restarted less than this long ago.
    RestartedWithin(Duration),
    /// The expression is true.
    Where(Expression),
}

/// Returns the condition of an age.
type AgeCondition = fn(Duration) -> FilterCondition;

impl FilterCondition {
    /// Returns the name of the flag.
    pub(crate) fn flag(&self) -> &'static str {
        match self {
            Self::OlderThan(_) => "older-than",
            Self::NewerThan(_) => "newer-than",
            Self::RestartedWithin(_) => "restarted-within",
            Self::Where(_) => "where",
        }
    }

    /// Returns what the condition reads of an object.
    pub(crate) fn needs(&self) -> FilterNeeds {
        match self {
            Self::OlderThan(_) | Self::NewerThan(_) => FilterNeeds::part(ObjectPart::Metadata),
            Self::RestartedWithin(_) => FilterNeeds::part(ObjectPart::Body),
            Self::Where(expression) => expression.needs(),
        }
    }
}

/// Formats the condition as it is typed, an age in seconds.
impl fmt::Display for FilterCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = self.flag();
        match self {
            Self::OlderThan(age) | Self::NewerThan(age) | Self::RestartedWithin(age) => {
                write!(f, "--{flag} {}s", age.as_secs_f64())
            }
            Self::Where(expression) => write!(f, "--{flag} {}", expression.text()),
        }
    }
}

impl ObjectFilter {
    /// Reads the flags. In a watch, expressions may read the state before a change.
    pub(super) fn read(args: &FilterArgs, is_watch: bool) -> Result<Self, UsageError> {
        let FilterArgs { older_than, newer_than, restarted_within, expressions } = args;
        let ages: [(_, _, AgeCondition); 3] = [
            ("older-than", older_than, FilterCondition::OlderThan),
            ("newer-than", newer_than, FilterCondition::NewerThan),
            ("restarted-within", restarted_within, FilterCondition::RestartedWithin),
        ];
        let mut conditions = Vec::new();
        for (flag, text, condition) in ages {
            if let Some(text) = text {
                conditions.push(condition(age(flag, text)?));
            }
        }
        let mut of_changes = Vec::new();
        for text in expressions {
            let expression = Expression::parse(text, is_watch)?;
            if expression.reads_old() {
                of_changes.push(expression);
            } else {
                conditions.push(FilterCondition::Where(expression));
            }
        }
        Ok(Self { conditions, of_changes })
    }

    /// Returns the conditions.
    pub(crate) fn conditions(&self) -> &[FilterCondition] {
        &self.conditions
    }

    /// Returns the conditions on the changes of a watch: expressions that read the state before.
    pub(crate) fn of_changes(&self) -> &[Expression] {
        &self.of_changes
    }

    /// Whether every object and every change matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.conditions.is_empty() && self.of_changes.is_empty()
    }

    /// Returns the flag of the first condition.
    pub(crate) fn first_flag(&self) -> Option<&'static str> {
        let of_changes = self.of_changes.first().map(|_| "where");
        self.conditions.first().map(FilterCondition::flag).or(of_changes)
    }

    /// Returns what the conditions read of an object.
    pub(crate) fn needs(&self) -> FilterNeeds {
        let of_objects = self.conditions.iter().map(FilterCondition::needs);
        let of_changes = self.of_changes.iter().map(Expression::needs);
        of_objects.chain(of_changes).fold(FilterNeeds::default(), FilterNeeds::and)
    }
}

fn age(flag: &'static str, text: &str) -> Result<Duration, UsageError> {
    duration::parse_age(text).map_err(|error: DurationError| UsageError::Age { flag, error })
}
