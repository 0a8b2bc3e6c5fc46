//! The objects for which expressions have no result.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use kdelta::object::{Object, TypeMeta};
use kdelta::query::CelError;

/// The most reasons of a flag that are reported one by one.
const MAX_REASONS: usize = 10;

/// The objects for which an expression had no result, by flag and reason.
#[derive(Default)]
pub(crate) struct ExpressionErrors {
    by_flag: Mutex<BTreeMap<&'static str, Found>>,
}

#[derive(Default)]
struct Found {
    /// Hashes of the objects. An object that is evaluated again counts once.
    objects: BTreeMap<String, HashSet<u64>>,
    /// The objects of further reasons.
    others: HashSet<u64>,
}

impl ExpressionErrors {
    /// Adds an object for which an expression of a flag has no result.
    pub(in crate::session) fn add(&self, flag: &'static str, error: CelError, object: &Object) {
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
        let mut by_flag = self.by_flag.lock().unwrap_or_else(PoisonError::into_inner);
        let found = by_flag.entry(flag).or_default();
        if found.objects.len() == MAX_REASONS && !found.objects.contains_key(&reason) {
            found.others.insert(hasher.finish());
        } else {
            found.objects.entry(reason).or_default().insert(hasher.finish());
        }
    }

    /// Returns a report on each reason since the last call, such as `--where: 12 objects have no field spec.foo`.
    pub(crate) fn take(&self) -> Vec<String> {
        let by_flag = std::mem::take(&mut *self.by_flag.lock().unwrap_or_else(PoisonError::into_inner));
        by_flag.into_iter().flat_map(|(flag, found)| found.reports(flag)).collect()
    }
}

impl Found {
    fn reports(self, flag: &str) -> impl Iterator<Item = String> {
        let others =
            (!self.others.is_empty()).then(|| ("no result for other reasons".to_owned(), self.others));
        self.objects.into_iter().chain(others).map(move |(reason, objects)| match objects.len() {
            1 => format!("{flag}: 1 object has {reason}"),
            count => format!("{flag}: {count} objects have {reason}"),
        })
    }
}

fn is_secret(object: &Object) -> bool {
    let TypeMeta { api_version, kind } = &**object.type_meta();
    api_version == "v1" && kind == "Secret"
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::object::Ingest;

    use super::*;

    fn object(kind: &str, name: &str) -> Arc<Object> {
        let type_meta = Arc::new(TypeMeta { api_version: "v1".into(), kind: kind.into() });
        let json = serde_json::json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}});
        Arc::new(Object::from_json(json.to_string().as_bytes(), &Ingest::of(type_meta)).expect("an object"))
    }

    #[test]
    fn objects_are_counted_once_for_each_flag() {
        let errors = ExpressionErrors::default();
        for name in ["a", "b", "b"] {
            errors.add("--where", CelError::NoField("spec.x".into()), &object("Pod", name));
        }
        errors.add("--by cel", CelError::NoText("map"), &object("Pod", "a"));
        let reports = [
            "--by cel: 1 object has no result: the result is of type map, which has no text",
            "--where: 2 objects have no field spec.x",
        ];
        assert_eq!(errors.take(), reports);
        assert!(errors.take().is_empty());
    }

    #[test]
    fn reasons_are_bounded() {
        let errors = ExpressionErrors::default();
        for n in 0..50 {
            let error = CelError::Value(format!("\"x{n}\" is no int"));
            errors.add("--where", error, &object("Pod", &format!("o{n}")));
        }
        let report = errors.take();
        assert_eq!(report.len(), MAX_REASONS + 1);
        assert_eq!(report[MAX_REASONS], "--where: 40 objects have no result for other reasons");
    }

    #[test]
    fn values_of_secrets_are_not_reported() {
        let errors = ExpressionErrors::default();
        errors.add("--where", CelError::Value("\"secret\" is no int".into()), &object("Secret", "s"));
        assert_eq!(errors.take(), ["--where: 1 object has no result: a value can't be converted"]);
    }
}
