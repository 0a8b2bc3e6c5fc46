//! The reader of the values and numbers of objects, for the groups of an index.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use kdelta::object::{ApiResource, FieldPath, Object, PathError};
use kdelta::query::{Member, Number};
use kdelta::store::IndexFunc;

use crate::session::{ExpressionErrors, index_function};
use crate::settings::{By, Index, IndexName};
use crate::view::{MASK, is_secret_at};

const SECRET_PATHS: &str = "the data of Secrets is not aggregated without --show-secrets";

/// Reads the members of groups.
pub(crate) struct MemberReader {
    indices: Vec<(IndexFunc, By)>,
    /// The paths of the aggregates, each once.
    paths: Vec<FieldPath>,
    /// The position in `paths` of the path of each aggregate.
    positions: Vec<usize>,
    show_secrets: bool,
    unindexed: WarningCount,
    /// For each path, the number of objects without a number at it.
    without_numbers: Vec<WarningCount>,
    secret_paths: WarningCount,
}

/// The number of occurrences of a problem. Relaxed: it only serves warnings.
#[derive(Default)]
struct WarningCount {
    count: AtomicUsize,
    /// Whether [`WarningCount::is_first`] has returned true.
    is_reported: AtomicBool,
}

impl WarningCount {
    fn add(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns true once, after the first occurrence.
    fn is_first(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0 && !self.is_reported.swap(true, Ordering::Relaxed)
    }

    /// Returns the number of occurrences since the last call; `None` without any.
    fn take(&self) -> Option<usize> {
        Some(self.count.swap(0, Ordering::Relaxed)).filter(|count| *count > 0)
    }
}

impl MemberReader {
    /// Creates a reader for the indices and aggregates of a request. It records the objects for which an expression has no
    /// result.
    ///
    /// # Errors
    /// A path can't be parsed.
    pub(crate) fn new(index: &Index, errors: &Arc<ExpressionErrors>) -> Result<Self, PathError> {
        let indices = index.by.iter().map(|by| Ok((index_function(&by.index, errors)?, by.clone())));
        let indices = indices.collect::<Result<_, _>>()?;
        let (mut paths, mut positions) = (Vec::<FieldPath>::new(), Vec::new());
        for column in &index.aggregates {
            let path = FieldPath::parse(&column.path)?;
            let known = paths.iter().position(|known| *known == path);
            positions.push(known.unwrap_or(paths.len()));
            if known.is_none() {
                paths.push(path);
            }
        }
        Ok(Self {
            indices,
            without_numbers: paths.iter().map(|_| WarningCount::default()).collect(),
            paths,
            positions,
            show_secrets: index.show_secrets,
            unindexed: WarningCount::default(),
            secret_paths: WarningCount::default(),
        })
    }

    /// Returns the position among the numbers of a member for the path of each aggregate.
    pub(crate) fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Reads an object; `None` if an index rejects it, which is counted.
    pub(crate) fn read(&self, scope: usize, resource: &ApiResource, object: &Object) -> Option<Member> {
        let values: Option<Vec<_>> =
            self.indices.iter().map(|(function, by)| self.values(function, by, resource, object)).collect();
        let numbers = self
            .paths
            .iter()
            .zip(&self.without_numbers)
            .map(|(path, count)| self.numbers(path, count, resource, object));
        let member = values.and_then(|values| Member::new(scope, values, numbers.collect()).ok());
        if member.is_none() {
            self.unindexed.add();
        }
        member
    }

    fn values(
        &self,
        function: &IndexFunc,
        by: &By,
        resource: &ApiResource,
        object: &Object,
    ) -> Option<Vec<Arc<str>>> {
        let is_masked = !self.show_secrets && is_of_secrets(&by.index, resource);
        let mut values: Vec<Arc<str>> = Vec::new();
        let visited = function.visit(object, &mut |value| {
            if is_shown(by, value) {
                values.push(if is_masked { MASK.into() } else { value.into() });
            }
        });
        visited.ok().map(|()| values)
    }

    fn numbers(
        &self,
        path: &FieldPath,
        without: &WarningCount,
        resource: &ApiResource,
        object: &Object,
    ) -> Vec<Number> {
        if !self.show_secrets && is_secret_at(resource, path) {
            self.secret_paths.add();
            return Vec::new();
        }
        let mut numbers = Vec::new();
        let mut has_other = false;
        let visited = path.values_of(object, |text| match Number::parse(text) {
            Some(number) => numbers.push(number),
            None => has_other = true,
        });
        if has_other || visited.is_err() {
            without.add();
        }
        numbers
    }

    /// Returns each warning once, when it first applies. It has no number, because more objects will follow.
    pub(crate) fn first_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.unindexed.is_first() {
            warnings.push("some objects could not be indexed".to_owned());
        }
        for (path, count) in self.paths.iter().zip(&self.without_numbers) {
            if count.is_first() {
                warnings.push(format!("some objects have a value at {path} that is no number"));
            }
        }
        if self.secret_paths.is_first() {
            warnings.push(SECRET_PATHS.to_owned());
        }
        warnings
    }

    /// Returns the warnings about the objects since the last call.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let noun = |count: usize| if count == 1 { "object" } else { "objects" };
        let unindexed =
            self.unindexed.take().map(|count| format!("{count} {} could not be indexed", noun(count)));
        let others = self.paths.iter().zip(&self.without_numbers).filter_map(|(path, count)| {
            let count = count.take()?;
            let verb = if count == 1 { "has" } else { "have" };
            Some(format!("{count} {} {verb} a value at {path} that is no number", noun(count)))
        });
        let secrets = self.secret_paths.take().map(|_| SECRET_PATHS.to_owned());
        unindexed.into_iter().chain(others).chain(secrets).collect()
    }
}

/// Whether the group of a value is shown. Each owner has a second value, its UID, which is shown only if it is requested.
pub(super) fn is_shown(by: &By, value: &str) -> bool {
    by.condition.shows(value)
        && (by.index != IndexName::Owner || value.contains('/') || by.condition.names(value))
}

/// Whether the values of an index over that resource are secret.
pub(crate) fn is_of_secrets(index: &IndexName, resource: &ApiResource) -> bool {
    match index {
        IndexName::Annotation(key) => {
            is_secret_at(resource, &FieldPath::of_names(["metadata", "annotations", key]))
        }
        // A path that can't be parsed indexes nothing.
        IndexName::Field(path) => FieldPath::parse(path).is_ok_and(|path| is_secret_at(resource, &path)),
        IndexName::Cel(index) => {
            let mut paths = index.values().paths().into_iter().map(FieldPath::of_names);
            paths.any(|path| is_secret_at(resource, &path))
        }
        IndexName::Namespace
        | IndexName::Name
        | IndexName::Label(_)
        | IndexName::Owner
        | IndexName::Node
        | IndexName::Image => false,
    }
}

#[cfg(test)]
mod tests {
    use kdelta::object::{Ingest, TypeMeta};

    use super::*;
    use crate::settings::index_of;

    #[test]
    fn each_warning_is_returned_once_however_many_fields_an_object_has() {
        let secrets = ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: "secrets".into(),
            kind: "Secret".into(),
            namespaced: true,
        };
        let index =
            index_of("index secrets --by name --sum data.a --max data.b --min type").expect("an index");
        let reader = MemberReader::new(&index, &Arc::default()).expect("paths");
        let ingest = Ingest::of(Arc::new(TypeMeta { api_version: "v1".into(), kind: "Secret".into() }));
        let json = r#"{"metadata":{"name":"s"},"type":"Opaque","data":{"a":"MQ==","b":"Mg=="}}"#;
        let object = Object::from_json(json.as_bytes(), &ingest).expect("an object");
        assert!(reader.read(0, &secrets, &object).is_some());
        assert_eq!(
            reader.first_warnings(),
            ["some objects have a value at type that is no number", SECRET_PATHS]
        );
        assert!(reader.read(0, &secrets, &object).is_some());
        assert!(reader.first_warnings().is_empty());
        assert_eq!(reader.warnings(), ["2 objects have a value at type that is no number", SECRET_PATHS]);
    }
}
