//! The local filter: conditions on single objects, all of which must hold. The program evaluates them itself; a server may
//! select by terms of an expression before.

mod expression;
mod labels;
mod name;
mod needs;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use expression::Expression;
pub(crate) use name::Names;
pub(crate) use needs::{FilterNeeds, ObjectContent};

use std::fmt;
use std::time::Duration;

use kdelta::object::LabelSelector;
use kdelta::query::FieldFilter;

use super::by::By;
use super::duration::{self, DurationError};
use super::pattern::Pattern;
use super::usage::UsageError;
use crate::args::{FilterArgs, SelectArgs};

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
    /// The status column shows a text that one of the patterns matches, or such a part between commas. In lower case.
    Status(Vec<Pattern>),
    /// The object is ready or done by kstatus' rules, or is not.
    Ready(bool),
    /// The name matches.
    Name(Names),
    /// One of the selectors selects the object.
    Labels(Vec<LabelSelector>),
    /// The terms of a field selector that servers do not know.
    Fields(FieldFilter),
    /// The expression is true.
    Where(Expression),
}

/// The selectors of a command line: those that the server applies, and the conditions that remain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Selectors {
    /// Unparsed.
    pub(super) labels: Option<String>,
    /// Unparsed.
    pub(super) fields: Option<String>,
    pub(super) filter: ObjectFilter,
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
            Self::Status(_) => "status",
            Self::Ready(true) => "ready",
            Self::Ready(false) => "not-ready",
            Self::Name(_) => "name",
            Self::Labels(_) => "selector",
            Self::Fields(_) => "field-selector",
            Self::Where(_) => "where",
        }
    }

    /// Returns what the condition reads of an object.
    pub(crate) fn needs(&self) -> FilterNeeds {
        match self {
            Self::OlderThan(_) | Self::NewerThan(_) | Self::Labels(_) => {
                FilterNeeds::content(ObjectContent::Metadata)
            }
            Self::Fields(fields) if fields.reads_only_metadata() => {
                FilterNeeds::content(ObjectContent::Metadata)
            }
            Self::RestartedWithin(_) | Self::Ready(_) | Self::Fields(_) => {
                FilterNeeds::content(ObjectContent::Body)
            }
            Self::Status(_) => FilterNeeds { cells: true, content: ObjectContent::Nothing },
            Self::Name(_) => FilterNeeds::content(ObjectContent::Name),
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
            Self::Status(patterns) => {
                let patterns: Vec<&str> = patterns.iter().map(Pattern::text).collect();
                write!(f, "--{flag} {}", patterns.join(","))
            }
            Self::Ready(_) => write!(f, "--{flag}"),
            Self::Name(names) => write!(f, "--{flag} {names}"),
            Self::Labels(selectors) => {
                let each: Vec<String> = selectors.iter().map(|labels| format!("-l {labels}")).collect();
                f.write_str(&each.join(" "))
            }
            Self::Fields(fields) => write!(f, "--{flag} {fields}"),
            Self::Where(expression) => write!(f, "--{flag} {}", expression.text()),
        }
    }
}

impl ObjectFilter {
    /// Reads the flags. In a watch, expressions may read the state before a change.
    fn read(args: &FilterArgs, is_watch: bool) -> Result<Self, UsageError> {
        let FilterArgs { older_than, newer_than, restarted_within, .. } = args;
        let FilterArgs { status, ready, not_ready, name, expressions, .. } = args;
        let ages: [(_, _, AgeCondition); 3] = [
            ("older-than", older_than, FilterCondition::OlderThan),
            ("newer-than", newer_than, FilterCondition::NewerThan),
            ("restarted-within", restarted_within, FilterCondition::RestartedWithin),
        ];
        let mut conditions = Vec::new();
        if !name.is_empty() {
            conditions.push(FilterCondition::Name(Names::read(name)?));
        }
        for (flag, text, condition) in ages {
            if let Some(text) = text {
                conditions.push(condition(age(flag, text)?));
            }
        }
        if !status.is_empty() {
            conditions.push(FilterCondition::Status(status_patterns(status)?));
        }
        match (ready, not_ready) {
            (true, true) => return Err(UsageError::ReadyAndNot),
            (false, false) => {}
            (ready, _) => conditions.push(FilterCondition::Ready(*ready)),
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

    /// Returns the filter without some of its expressions on objects.
    pub(crate) fn without(&self, mut is_removed: impl FnMut(&Expression) -> bool) -> Self {
        let mut filter = self.clone();
        filter.conditions.retain(|condition| match condition {
            FilterCondition::Where(expression) => !is_removed(expression),
            _ => true,
        });
        filter
    }

    /// Returns conditions on indices that hold for each object that matches.
    pub(crate) fn required(&self) -> impl Iterator<Item = By> {
        let expressions = self.conditions.iter().filter_map(|condition| match condition {
            FilterCondition::Where(expression) => Some(expression),
            _ => None,
        });
        expressions.flat_map(Expression::required)
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

impl Selectors {
    /// Reads the selectors and the filters. In a watch, expressions may read the state before a change.
    pub(super) fn read(args: &SelectArgs, is_watch: bool) -> Result<Self, UsageError> {
        let (labels, alternatives) = labels::read(&args.selector)?;
        let mut filter = ObjectFilter::read(&args.filter, is_watch)?;
        filter.conditions.extend(alternatives.map(FilterCondition::Labels));
        let (fields, terms) = FieldFilter::split(args.field_selector.as_deref().unwrap_or_default())?;
        if !terms.is_empty() {
            filter.conditions.push(FilterCondition::Fields(terms));
        }
        Ok(Self { labels, fields: Some(fields).filter(|text| !text.is_empty()), filter })
    }
}

/// Returns the patterns of `--status`, in lower case.
fn status_patterns(texts: &[String]) -> Result<Vec<Pattern>, UsageError> {
    let given = texts.iter().filter(|text| !text.is_empty());
    let patterns: Vec<Pattern> = given.map(|text| Pattern::new(&text.to_lowercase())).collect();
    if patterns.is_empty() { Err(UsageError::NoStatus) } else { Ok(patterns) }
}

fn age(flag: &'static str, text: &str) -> Result<Duration, UsageError> {
    duration::parse_age(text).map_err(|error: DurationError| UsageError::Age { flag, error })
}
