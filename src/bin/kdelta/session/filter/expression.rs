//! CEL expressions as predicates.

use std::sync::Arc;
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};
use kdelta::object::Object;
use kdelta::query::{CelFilter, CelInput, CelValidity};

use super::verdict::Verdict;
use crate::session::indices::ExpressionErrors;
use crate::settings;

/// The time after which an expression is evaluated again whose result may change at any moment.
const INTERVAL: SignedDuration = SignedDuration::from_secs(1);

/// The flag that errors are reported with.
const FLAG: &str = "--where";

/// An expression as a predicate. Objects for which it has no result do not match.
#[derive(Clone)]
pub(super) struct Expression {
    filter: Arc<CelFilter>,
    errors: Arc<ExpressionErrors>,
}

impl Expression {
    /// Creates a predicate that records errors.
    pub(super) fn new(expression: &settings::Expression, errors: &Arc<ExpressionErrors>) -> Self {
        Self { filter: Arc::clone(expression.filter()), errors: Arc::clone(errors) }
    }

    pub(super) fn depends_on_time(&self) -> bool {
        self.filter.uses_now()
    }

    /// Returns the verdict at a moment.
    pub(super) fn verdict(&self, object: &Object, now: Timestamp) -> Verdict {
        let json = object.json();
        let input = CelInput::new(&json, SystemTime::from(now));
        let (matches, validity) = self.filter.evaluate_with_validity(&input);
        let matches = matches.unwrap_or_else(|error| {
            self.errors.add(FLAG, error, object);
            false
        });
        let until = match validity {
            CelValidity::Always => None,
            CelValidity::Until(moment) => Some(Timestamp::try_from(moment).unwrap_or(Timestamp::MAX)),
            CelValidity::Unknown => Some(now.checked_add(INTERVAL).unwrap_or(Timestamp::MAX)),
        };
        Verdict { matches, until }
    }

    /// Whether the expression is true for a change at a moment. As in admission policies, the state before an addition and
    /// the state after a deletion are null; an expression that has no result for these does not match.
    pub(super) fn matches_change(&self, old: Option<&Object>, new: Option<&Object>, now: Timestamp) -> bool {
        let [old_json, new_json] = [old, new].map(|object| object.map(Object::json));
        let input = CelInput::new(new_json.as_deref().unwrap_or(b"null"), SystemTime::from(now));
        let input = match &old_json {
            Some(json) => input.with_old(json),
            None => input,
        };
        self.filter.evaluate(&input).unwrap_or_else(|error| {
            if let (Some(_), Some(object)) = (old, new) {
                self.errors.add(FLAG, error, object);
            }
            false
        })
    }
}

#[cfg(test)]
mod tests {
    use kdelta::testing::FakeSource;

    use super::*;

    fn object(name: &str, spec: &serde_json::Value) -> Arc<Object> {
        let source = FakeSource::new();
        source.add(serde_json::json!({"metadata": {"name": name}, "spec": spec}));
        source.objects().remove(0)
    }

    fn expression(text: &str) -> Expression {
        let filter = CelFilter::parse(text, true).expect(text);
        Expression { filter: Arc::new(filter), errors: Arc::default() }
    }

    #[test]
    fn objects_without_a_result_are_counted_once() {
        let expression = expression("object.spec.foo > 1 && object.spec.bar");
        let now = Timestamp::UNIX_EPOCH;
        for name in ["a", "b", "b"] {
            let verdict = expression.verdict(&object(name, &serde_json::json!({})), now);
            assert_eq!(verdict, Verdict::fixed(false));
        }
        expression.verdict(&object("c", &serde_json::json!({"foo": 2, "bar": 5})), now);
        assert_eq!(
            expression.errors.take(),
            [
                "--where: 2 objects have no field spec.foo",
                "--where: 1 object has no result: && does not accept a value of this type"
            ]
        );
        assert!(expression.errors.take().is_empty());
    }

    #[test]
    fn expression_is_evaluated_again_when_it_may_change() {
        let at = |text: &str, second: i64| {
            let now = Timestamp::from_second(second).expect("in range");
            expression(text).verdict(&object("a", &serde_json::json!({"n": 2})), now)
        };
        let until = |second: i64| Timestamp::from_second(second).ok();
        let comparison = "now >= timestamp('1970-01-01T00:00:10Z')";
        assert_eq!(at(comparison, 5), Verdict { matches: false, until: until(10) });
        assert_eq!(at(comparison, 11), Verdict::fixed(true));
        assert_eq!(at(&format!("object.spec.n == 1 && {comparison}"), 5), Verdict::fixed(false));
        assert_eq!(at("now.getSeconds() > 10", 5), Verdict { matches: false, until: until(6) });
        assert_eq!(at("now.getSeconds() > 10", 11), Verdict { matches: true, until: until(12) });
    }

    #[test]
    fn changes_have_the_state_before_and_after() {
        let (one, two) =
            (object("a", &serde_json::json!({"n": 1})), object("a", &serde_json::json!({"n": 2})));
        let states =
            [(None, Some(&one)), (Some(&one), Some(&two)), (Some(&two), Some(&two)), (Some(&two), None)];
        for (text, expected) in [
            ("object.spec.n != old.spec.n", [false, true, false, false]),
            ("old == null || object.spec.n != old.spec.n", [true, true, false, false]),
            ("object == null || old == null", [true, false, false, true]),
            ("old.spec.n > 1", [false, false, true, true]),
        ] {
            let expression = expression(text);
            let matches = states.map(|(old, new)| {
                let [old, new] = [old, new].map(|object| object.map(|object| &**object));
                expression.matches_change(old, new, Timestamp::UNIX_EPOCH)
            });
            assert_eq!(matches, expected, "{text}");
            assert!(expression.errors.take().is_empty(), "{text}: a missing state is no error");
        }
        let expression = expression("object.spec.x != old.spec.x");
        assert!(!expression.matches_change(Some(&one), Some(&two), Timestamp::UNIX_EPOCH));
        assert_eq!(expression.errors.take(), ["--where: 1 object has no field spec.x"]);
    }
}
