//! The local filter: conditions on single objects, all of which must hold. The program evaluates them itself, because the
//! server has no selector for them.

mod needs;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use needs::{FilterNeeds, ObjectPart};

use std::time::Duration;

use super::duration::{self, DurationError};
use super::usage::UsageError;
use crate::args::FilterArgs;

/// Conditions on single objects, all of which must hold. Without any, every object matches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ObjectFilter {
    conditions: Vec<FilterCondition>,
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
        }
    }

    /// Returns what the condition reads of an object.
    fn needs(&self) -> FilterNeeds {
        match self {
            Self::OlderThan(_) | Self::NewerThan(_) => FilterNeeds::part(ObjectPart::Metadata),
            Self::RestartedWithin(_) => FilterNeeds::part(ObjectPart::Body),
        }
    }
}

impl ObjectFilter {
    pub(super) fn read(args: &FilterArgs) -> Result<Self, UsageError> {
        let FilterArgs { older_than, newer_than, restarted_within } = args;
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
        Ok(Self { conditions })
    }

    /// Returns the conditions.
    pub(crate) fn conditions(&self) -> &[FilterCondition] {
        &self.conditions
    }

    /// Whether every object matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Returns the flag of the first condition.
    pub(crate) fn first_flag(&self) -> Option<&'static str> {
        self.conditions.first().map(FilterCondition::flag)
    }

    /// Returns what the conditions read of an object.
    pub(crate) fn needs(&self) -> FilterNeeds {
        self.conditions.iter().map(FilterCondition::needs).fold(FilterNeeds::default(), FilterNeeds::and)
    }
}

fn age(flag: &'static str, text: &str) -> Result<Duration, UsageError> {
    duration::parse_age(text).map_err(|error: DurationError| UsageError::Age { flag, error })
}
