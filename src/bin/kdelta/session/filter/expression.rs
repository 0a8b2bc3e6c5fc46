//! CEL expressions as predicates, and the count of the objects for which they have no result.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};
use kdelta::object::{Object, TypeMeta};
use kdelta::query::{CelError, CelFilter, CelInput};

use super::verdict::Verdict;
use crate::settings;

/// The time after which an expression that uses `now` is evaluated again.
const INTERVAL: SignedDuration = SignedDuration::from_secs(1);

/// The most reasons that are reported one by one.
const MAX_REASONS: usize = 10;

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
        let matches = self.filter.evaluate(&CelInput::new(&json, SystemTime::from(now)));
        let matches = matches.unwrap_or_else(|error| {
            self.errors.add(error, object);
            false
        });
        let until = self.depends_on_time().then(|| now.checked_add(INTERVAL).unwrap_or(Timestamp::MAX));
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
                self.errors.add(error, object);
            }
            false
        })
    }
}

/// The objects for which an expression had no result, by reason.
#[derive(Default)]
pub(crate) struct ExpressionErrors {
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    /// Hashes of the objects. An object that is evaluated again counts once.
    objects: BTreeMap<String, HashSet<u64>>,
    /// The objects of further reasons.
    others: HashSet<u64>,
}

impl ExpressionErrors {
    fn add(&self, error: CelError, object: &Object) {
        let mut hasher = DefaultHasher::new();
        object.type_meta().kind.hash(&mut hasher);
        object.key().hash(&mut hasher);
        object.uid().to_string().hash(&mut hasher);
        let reason = match error {
            CelError::NoField(name) => format!("no field {name}"),
            CelError::NoElement(name) => format!("no element {name}"),
            // The message may quote a value.
            CelError::Value(_) if is_secret(object) => "no result: a value can't be converted".to_owned(),
            other => format!("no result: {other}"),
        };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if found.objects.len() == MAX_REASONS && !found.objects.contains_key(&reason) {
            found.others.insert(hasher.finish());
        } else {
            found.objects.entry(reason).or_default().insert(hasher.finish());
        }
    }

    /// Returns a report on each reason since the last call, such as `12 objects have no field spec.foo`.
    pub(crate) fn take(&self) -> Vec<String> {
        let found = std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner));
        let others =
            (!found.others.is_empty()).then(|| ("no result for other reasons".to_owned(), found.others));
        let report = |(reason, objects): (String, HashSet<u64>)| match objects.len() {
            1 => format!("--where: 1 object has {reason}"),
            count => format!("--where: {count} objects have {reason}"),
        };
        found.objects.into_iter().chain(others).map(report).collect()
    }
}

fn is_secret(object: &Object) -> bool {
    let TypeMeta { api_version, kind } = &**object.type_meta();
    api_version == "v1" && kind == "Secret"
}

#[cfg(test)]
mod tests {
    use kdelta::object::Ingest;
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
    fn reasons_are_bounded() {
        let expression = expression("int(object.spec.n) > 1");
        for n in 0..50 {
            let spec = serde_json::json!({"n": format!("x{n}")});
            expression.verdict(&object(&format!("o{n}"), &spec), Timestamp::UNIX_EPOCH);
        }
        let report = expression.errors.take();
        assert_eq!(report.len(), MAX_REASONS + 1);
        assert_eq!(report[MAX_REASONS], "--where: 40 objects have no result for other reasons");
    }

    #[test]
    fn time_is_evaluated_again() {
        let expression = expression("now > timestamp('1970-01-01T00:00:10Z')");
        let at = |second: i64| {
            let now = Timestamp::from_second(second).expect("in range");
            expression.verdict(&object("a", &serde_json::json!({})), now)
        };
        assert_eq!(at(5), Verdict { matches: false, until: Timestamp::from_second(6).ok() });
        assert_eq!(at(11), Verdict { matches: true, until: Timestamp::from_second(12).ok() });
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

    #[test]
    fn values_of_secrets_are_not_reported() {
        let secret = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"n":"c2VjcmV0"}}"#;
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Secret".into() }));
        let secret = Object::from_json(secret.as_bytes(), &ingest).expect("an object");
        let expression = expression("int(object.data.n) > 1");
        expression.verdict(&secret, Timestamp::UNIX_EPOCH);
        assert_eq!(expression.errors.take(), ["--where: 1 object has no result: a value can't be converted"]);
    }
}
