//! Local filters: predicates on single objects, all of which must hold. Sources apply them to objects as they arrive.

mod changes;
mod expression;
mod predicate;
mod verdict;

pub(crate) use changes::ChangeFilter;
use verdict::Verdict;

use std::sync::Arc;

use jiff::Timestamp;
use kdelta::listwatch::{Error, Status};
use kdelta::object::{FieldSelector, LabelSelector, Object, PathError};

use super::indices::ExpressionErrors;
use super::plan::{MatchedPatterns, NamePatterns};
use crate::settings::{By, ObjectFilter};
use predicate::Predicate;

/// A filter on single objects: the patterns of names, the conditions of the command line, and selectors that the server
/// does not apply.
#[derive(Clone)]
pub(crate) struct Filter {
    predicates: Vec<Predicate>,
    expression_errors: Arc<ExpressionErrors>,
    clock: WallClock,
}

/// A clock that returns the time of day.
type WallClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A filter that every object passes.
impl Default for Filter {
    fn default() -> Self {
        Self { predicates: Vec::new(), expression_errors: Arc::default(), clock: Arc::new(Timestamp::now) }
    }
}

impl Filter {
    /// Creates a filter that requires all `--by` conditions, and records the objects for which an expression of a condition
    /// has no result.
    ///
    /// # Errors
    /// The path of a `field:` index can't be parsed.
    pub(crate) fn by(conditions: &[By], errors: &Arc<ExpressionErrors>) -> Result<Self, PathError> {
        let predicates = conditions.iter().map(|by| Predicate::by(by, errors)).collect::<Result<_, _>>()?;
        Ok(Self { predicates, expression_errors: Arc::clone(errors), ..Self::default() })
    }

    /// Sets the record of objects for which an expression has no result. It applies to conditions that are added later.
    pub(crate) fn with_expression_errors(self, expression_errors: Arc<ExpressionErrors>) -> Self {
        Self { expression_errors, ..self }
    }

    /// Adds the conditions of the command line.
    pub(crate) fn and_conditions(mut self, filter: &ObjectFilter) -> Self {
        let errors = &self.expression_errors;
        let conditions = filter.conditions().iter();
        self.predicates.extend(conditions.map(|condition| Predicate::of_condition(condition, errors)));
        self
    }

    /// Adds a field selector.
    pub(super) fn and_fields(mut self, fields: FieldSelector) -> Self {
        self.predicates.push(Predicate::Fields(fields));
        self
    }

    /// Adds a label selector.
    pub(super) fn and_labels(mut self, labels: LabelSelector) -> Self {
        self.predicates.push(Predicate::Labels([labels].into()));
        self
    }

    /// Adds patterns of names. Those that match an object are recorded in `matched`.
    pub(super) fn and_names(mut self, names: Arc<NamePatterns>, matched: Arc<MatchedPatterns>) -> Self {
        // The first: the other predicates are evaluated on matching objects only.
        self.predicates.insert(0, Predicate::NamePatterns(names, matched));
        self
    }

    /// Sets the clock for conditions that depend on the time.
    pub(crate) fn with_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Returns the present time.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Whether the filter has no predicate.
    pub(crate) fn is_empty(&self) -> bool {
        self.predicates.is_empty()
    }

    /// Whether an object may begin or cease to match without a change.
    pub(crate) fn depends_on_time(&self) -> bool {
        self.predicates.iter().any(Predicate::depends_on_time)
    }

    /// Whether the predicates hold that never change for an object.
    pub(super) fn can_match(&self, object: &Object) -> bool {
        let now = Timestamp::UNIX_EPOCH;
        self.predicates
            .iter()
            .filter(|predicate| predicate.is_constant())
            .all(|predicate| predicate.verdict(object, now).matches)
    }

    /// Checks that the object has what the predicates read.
    ///
    /// # Errors
    /// The server's table of its type has no column for the status.
    pub(super) fn check(&self, object: &Object) -> Result<(), Error> {
        let reads_status = self.predicates.iter().any(|predicate| matches!(predicate, Predicate::Status(_)));
        if !reads_status || predicate::status(object).is_some() {
            return Ok(());
        }
        let kind = &object.type_meta().kind;
        let message =
            format!("--status: the table of {kind} objects has neither a STATUS nor a PHASE column");
        Err(Error::Invalid(Status { message, ..Status::default() }))
    }

    /// Whether the object matches.
    ///
    /// # Errors
    /// Returns an error if the object lacks a part that a predicate reads.
    pub(crate) fn selects(&self, object: &Object) -> Result<bool, Error> {
        self.check(object)?;
        Ok(self.passes(object))
    }

    /// Whether the object matches.
    pub(crate) fn passes(&self, object: &Object) -> bool {
        self.verdict(object).matches
    }

    /// Whether the object matches now or may match later without a change.
    pub(crate) fn may_pass(&self, object: &Object) -> bool {
        self.verdict(object).may_match()
    }

    /// Returns the verdict on the object at this moment.
    pub(crate) fn verdict(&self, object: &Object) -> Verdict {
        if self.predicates.is_empty() {
            return Verdict::fixed(true);
        }
        let now = if self.depends_on_time() { self.now() } else { Timestamp::UNIX_EPOCH };
        let mut all = Verdict::fixed(true);
        for predicate in &self.predicates {
            all = all.and(predicate.verdict(object, now));
            if !all.may_match() {
                break;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use kdelta::testing::FakeSource;

    use super::*;
    use crate::settings::filter_of;

    /// Returns the filter of a `get` with these flags, at a number of seconds since 1970.
    fn filter(flags: &str, now: i64) -> Filter {
        let (conditions, by) = filter_of(flags);
        let filter = Filter::by(&by, &Arc::default()).expect("indices").and_conditions(&conditions);
        filter.with_clock(move || Timestamp::from_second(now).expect("in range"))
    }

    fn created_at(second: i64) -> Arc<Object> {
        let source = FakeSource::new();
        let created = Timestamp::from_second(second).expect("in range").to_string();
        source.add(serde_json::json!({"metadata": {"name": "web", "creationTimestamp": created}}));
        source.objects().remove(0)
    }

    #[test]
    fn age_is_compared_at_the_present_time() {
        let object = created_at(1000);
        let until = |second: i64| Timestamp::from_second(second).ok();
        for (flags, now, matches, expected) in [
            ("--older-than 1m", 1059, false, until(1060)),
            ("--older-than 1m", 1060, true, None),
            ("--newer-than 1m", 1059, true, until(1060)),
            ("--newer-than 1m", 1060, false, None),
            ("--newer-than 1m", 900, true, until(1060)),
            ("--older-than 1m --newer-than 2m", 1000, false, until(1060)),
            ("--older-than 1m --newer-than 2m", 1060, true, until(1120)),
            ("--older-than 1m --newer-than 2m", 1120, false, None),
            ("--older-than 2m --newer-than 1m", 1060, false, None),
            ("--older-than 1m --by name=other", 1000, false, None),
            ("--older-than 1m --by name=web", 1000, false, until(1060)),
        ] {
            let filter = filter(flags, now);
            assert_eq!(filter.verdict(&object), Verdict { matches, until: expected }, "{flags} at {now}");
            assert!(filter.depends_on_time() && !filter.is_empty());
        }
    }

    #[test]
    fn object_without_creation_time_has_no_age() {
        for created in [serde_json::json!(null), serde_json::json!("soon")] {
            let source = FakeSource::new();
            source.add(serde_json::json!({"metadata": {"name": "web", "creationTimestamp": created}}));
            let object = source.objects().remove(0);
            for flags in ["--older-than 0s", "--newer-than 9y"] {
                assert_eq!(filter(flags, 5000).verdict(&object), Verdict::fixed(false), "{flags} {created}");
            }
        }
    }

    #[test]
    fn restart_is_the_end_of_any_container_before_its_last_start() {
        let ended = |seconds: &[i64]| {
            let status = |second: &i64| {
                let ended = Timestamp::from_second(*second).expect("in range").to_string();
                serde_json::json!({"name": "c", "lastState": {"terminated": {"finishedAt": ended}}})
            };
            seconds.iter().map(status).collect::<serde_json::Value>()
        };
        for (containers, init_containers, expected) in [
            (&[100, 250, 150][..], &[90][..], Some(310)),
            (&[100], &[280, 200], Some(340)),
            (&[100], &[], None),
            (&[], &[], None),
        ] {
            let source = FakeSource::new();
            source.add(serde_json::json!({"metadata": {"name": "web"}, "status": {
                "containerStatuses": ended(containers), "initContainerStatuses": ended(init_containers),
            }}));
            let verdict = filter("--restarted-within 1m", 300).verdict(&source.objects()[0]);
            let until = expected.and_then(|second| Timestamp::from_second(second).ok());
            assert_eq!(
                verdict,
                Verdict { matches: until.is_some(), until },
                "{containers:?} {init_containers:?}"
            );
        }
    }

    #[test]
    fn filter_without_predicates_matches_everything() {
        let filter = Filter::default();
        assert!(filter.is_empty() && filter.passes(&created_at(0)) && !filter.depends_on_time());
    }
}
