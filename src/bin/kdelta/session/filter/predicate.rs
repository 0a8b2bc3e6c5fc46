//! The predicates of a filter.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kdelta::object::{FieldPath, FieldSelector, LabelSelector, Object, PathError};
use kdelta::query::{ComputedStatus, FieldFilter, ObjectStatus};
use kdelta::store::IndexFunc;

use super::expression::Expression;
use super::verdict::Verdict;
use crate::session::indices::{ExpressionErrors, index_function};
use crate::session::plan::{MatchedPatterns, NamePatterns};
use crate::settings::{By, Condition, FilterCondition, Names, Pattern};

/// A condition on one object, ready to be evaluated.
#[derive(Clone)]
pub(super) enum Predicate {
    /// Patterns of names, one of which must match.
    NamePatterns(Arc<NamePatterns>, Arc<MatchedPatterns>),
    /// The values under which an index has the object.
    Index(IndexFunc, Condition),
    /// A field selector that the server does not support.
    Fields(FieldSelector),
    /// A time in the object that is at least this long ago.
    Since(FieldPath, SignedDuration),
    /// Times in the object, the latest of which is less than this long ago.
    Within(Arc<[FieldPath]>, SignedDuration),
    /// Patterns for the cell of the status column, in lower case.
    Status(Arc<[Pattern]>),
    /// Whether the object is ready or done by kstatus' rules.
    Ready(bool),
    /// Names, one of which must match.
    Names(Names),
    /// Label selectors, one of which must match.
    Labels(Arc<[LabelSelector]>),
    /// Terms on fields that servers do not know.
    FieldTerms(FieldFilter),
    /// An expression that is true.
    Where(Expression),
}

impl Predicate {
    /// Returns the predicate of a `--by` condition.
    ///
    /// # Errors
    /// The path of a `field:` index can't be parsed.
    pub(super) fn by(by: &By, errors: &Arc<ExpressionErrors>) -> Result<Self, PathError> {
        Ok(Self::Index(index_function(&by.index, errors)?, by.condition.clone()))
    }

    /// Returns the predicate of a condition.
    pub(super) fn of_condition(condition: &FilterCondition, errors: &Arc<ExpressionErrors>) -> Self {
        match condition {
            FilterCondition::OlderThan(age) => Self::Since(creation_time(), signed(*age)),
            FilterCondition::NewerThan(age) => Self::Within([creation_time()].into(), signed(*age)),
            FilterCondition::RestartedWithin(age) => Self::Within(restart_times(), signed(*age)),
            FilterCondition::Status(patterns) => Self::Status(patterns.clone().into()),
            FilterCondition::Ready(ready) => Self::Ready(*ready),
            FilterCondition::Name(names) => Self::Names(names.clone()),
            FilterCondition::Labels(selectors) => Self::Labels(selectors.clone().into()),
            FilterCondition::Fields(terms) => Self::FieldTerms(terms.clone()),
            FilterCondition::Where(expression) => Self::Where(Expression::new(expression, errors)),
        }
    }

    /// Whether the verdict never changes for an object, whatever happens to it.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self, Self::NamePatterns(..) | Self::Names(_))
    }

    /// Whether the verdict may change without a change of the object.
    pub(super) fn depends_on_time(&self) -> bool {
        match self {
            Self::Since(..) | Self::Within(..) => true,
            Self::Where(expression) => expression.depends_on_time(),
            Self::NamePatterns(..)
            | Self::Index(..)
            | Self::Fields(_)
            | Self::Status(_)
            | Self::Ready(_)
            | Self::Names(_)
            | Self::Labels(_)
            | Self::FieldTerms(_) => false,
        }
    }

    /// Returns the verdict at a moment.
    pub(super) fn verdict(&self, object: &Object, now: Timestamp) -> Verdict {
        match self {
            Self::NamePatterns(names, matched) => Verdict::fixed(names.matches(object.name(), matched)),
            Self::Index(function, condition) => Verdict::fixed(holds(function, condition, object)),
            Self::Fields(fields) => Verdict::fixed(fields.matches(object)),
            Self::Since(path, age) => {
                match latest_time(std::slice::from_ref(path), object).map(|time| later(time, *age)) {
                    Some(limit) if now < limit => Verdict { matches: false, until: Some(limit) },
                    limit => Verdict::fixed(limit.is_some()),
                }
            }
            Self::Within(paths, age) => match latest_time(paths, object).map(|time| later(time, *age)) {
                Some(limit) if now < limit => Verdict { matches: true, until: Some(limit) },
                _ => Verdict::fixed(false),
            },
            Self::Status(patterns) => Verdict::fixed(has_status(patterns, object)),
            Self::Ready(ready) => Verdict::fixed(is_ready(object) == Some(*ready)),
            Self::Names(names) => Verdict::fixed(names.matches(object.name())),
            Self::Labels(selectors) => {
                Verdict::fixed(selectors.iter().any(|selector| selector.matches(object)))
            }
            Self::FieldTerms(terms) => Verdict::fixed(terms.matches(object)),
            Self::Where(expression) => expression.verdict(object, now),
        }
    }
}

/// Whether the condition holds for the values of an index. An object that the index function rejects has none.
fn holds(function: &IndexFunc, condition: &Condition, object: &Object) -> bool {
    let (mut has_value, mut has_named) = (false, false);
    let visited = function.visit(object, &mut |value| {
        has_value = true;
        has_named |= condition.names(value);
    });
    let is_read = visited.is_ok();
    condition.holds(is_read && has_value, is_read && has_named)
}

fn creation_time() -> FieldPath {
    FieldPath::of_names(["metadata", "creationTimestamp"])
}

/// Returns the paths of the times at which containers ended before they were restarted. The RESTARTS column counts from the
/// latest of them.
fn restart_times() -> Arc<[FieldPath]> {
    let path = |list| format!("status.{list}[*].lastState.terminated.finishedAt");
    let paths = ["containerStatuses", "initContainerStatuses"].map(path);
    paths.iter().filter_map(|path| FieldPath::parse(path).ok()).collect()
}

/// Returns the latest of the times at the paths; texts that are no times are ignored.
fn latest_time(paths: &[FieldPath], object: &Object) -> Option<Timestamp> {
    let mut latest = None;
    for path in paths {
        // A body that can't be read was rejected at ingest.
        let _unread = path.values_of(object, |value| latest = latest.max(value.parse().ok()));
    }
    latest
}

/// The columns that show a status, in order of preference.
const STATUS_COLUMNS: [&str; 2] = ["status", "phase"];

/// Returns the cell of the status column; `None` if the object's table has none.
pub(super) fn status(object: &Object) -> Option<&str> {
    let row = object.row()?;
    let position =
        |name: &&str| row.columns().iter().position(|column| column.name.eq_ignore_ascii_case(name));
    let at = STATUS_COLUMNS.iter().find_map(position)?;
    row.cells().nth(at)
}

/// Whether a pattern matches the status, or a part of it between commas, as in `Ready,SchedulingDisabled`.
fn has_status(patterns: &[Pattern], object: &Object) -> bool {
    let status = status(object).unwrap_or_default().to_lowercase();
    let matches = |text: &str| patterns.iter().any(|pattern| pattern.matches(text));
    matches(&status) || status.split(',').any(matches)
}

/// Whether the object is ready or done; `None` if kstatus can't compute its status.
fn is_ready(object: &Object) -> Option<bool> {
    // The rules read the time only to tell failures from progress.
    let computed = ComputedStatus::of(&object.json(), Timestamp::UNIX_EPOCH).ok()?;
    Some(computed.status == ObjectStatus::Current)
}

/// Returns the moment at which a time is this long ago; the last moment if that is out of range.
fn later(time: Timestamp, age: SignedDuration) -> Timestamp {
    time.checked_add(age).unwrap_or(Timestamp::MAX)
}

/// Durations of settings are at most 292 years.
fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
