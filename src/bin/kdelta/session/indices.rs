//! The indices of `--by`, as index functions of an Indexer and as a filter on a single object.

use std::sync::Arc;

use kdelta::object::{FieldPath, FieldSelector, Object, PathError};
use kdelta::store::{IndexFunc, Indexers, index_funcs};

use super::plan::{MatchedPatterns, NamePatterns};
use crate::settings::{By, Condition, IndexName};

/// Returns the function of an index.
///
/// # Errors
/// The path of a `field:` index can't be parsed.
pub(crate) fn index_function(name: &IndexName) -> Result<IndexFunc, PathError> {
    Ok(match name {
        IndexName::Namespace => index_funcs::namespace(),
        IndexName::Name => index_funcs::name(),
        IndexName::Label(key) => index_funcs::label(key),
        IndexName::Annotation(key) => index_funcs::annotation(key),
        IndexName::Owner => index_funcs::owner(),
        IndexName::Node => index_funcs::node(),
        IndexName::Image => index_funcs::image(),
        IndexName::Field(path) => index_funcs::field(FieldPath::parse(path)?),
    })
}

/// Whether an index reads more of an object than its metadata.
pub(crate) fn needs_body(name: &IndexName) -> bool {
    match name {
        IndexName::Node | IndexName::Image => true,
        IndexName::Field(path) => path_needs_body(path),
        IndexName::Namespace
        | IndexName::Name
        | IndexName::Label(_)
        | IndexName::Annotation(_)
        | IndexName::Owner => false,
    }
}

/// Whether a path leads out of the metadata. A path that can't be parsed is reported elsewhere.
pub(crate) fn path_needs_body(path: &str) -> bool {
    let Ok(path) = FieldPath::parse(path) else { return false };
    // Each member of an object includes the metadata.
    let is_each = path.cursor().member("metadata").is_some() && path.cursor().member("spec").is_some();
    is_each || path.cursor().member("metadata").is_none()
}

/// Returns the indexers of the conditions, each under the name given by the user.
///
/// # Errors
/// As [`index_function`].
pub(crate) fn indexers(by: &[By]) -> Result<Indexers, PathError> {
    by.iter().map(|by| Ok((by.index.to_string(), index_function(&by.index)?))).collect()
}

/// A filter on single objects: the patterns of names, all `--by` conditions, and a field selector if the server does not
/// support it.
#[derive(Clone, Default)]
pub(crate) struct Filter {
    by: Arc<[(IndexFunc, Condition)]>,
    fields: Option<FieldSelector>,
    names: Option<(Arc<NamePatterns>, Arc<MatchedPatterns>)>,
}

impl Filter {
    /// Creates a filter that requires all conditions.
    ///
    /// # Errors
    /// As [`index_function`].
    pub(crate) fn by(conditions: &[By]) -> Result<Self, PathError> {
        let by = conditions.iter().map(|by| Ok((index_function(&by.index)?, by.condition.clone())));
        Ok(Self { by: by.collect::<Result<_, _>>()?, ..Self::default() })
    }

    /// Adds a field selector.
    pub(super) fn and_fields(self, fields: FieldSelector) -> Self {
        Self { fields: Some(fields), ..self }
    }

    /// Adds patterns of names. Those that match an object are recorded in `matched`.
    pub(super) fn and_names(self, names: Arc<NamePatterns>, matched: Arc<MatchedPatterns>) -> Self {
        Self { names: Some((names, matched)), ..self }
    }

    /// Whether the object's name matches. Unlike the other conditions, this never changes for an object.
    pub(super) fn names_match(&self, object: &Object) -> bool {
        self.names.as_ref().is_none_or(|(names, matched)| names.matches(object.name(), matched))
    }

    /// Whether the object passes. An object that an index function rejects is in no index, so it has no value.
    pub(crate) fn passes(&self, object: &Object) -> bool {
        let matches = |(function, condition): &(IndexFunc, Condition)| {
            let (mut has_value, mut has_named) = (false, false);
            let visited = function.visit(object, &mut |value| {
                has_value = true;
                has_named |= condition.names(value);
            });
            let is_read = visited.is_ok();
            condition.holds(is_read && has_value, is_read && has_named)
        };
        self.names_match(object)
            && self.by.iter().all(matches)
            && self.fields.as_ref().is_none_or(|fields| fields.matches(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_of_metadata_need_no_body() {
        for (index, expected) in [
            ("owner", false),
            ("label:app", false),
            ("namespace", false),
            ("field:metadata.labels['a.b/c']", false),
            ("field:{.metadata.ownerReferences[*].name}", false),
            ("node", true),
            ("field:status.phase", true),
            ("field:kind", true),
            ("field:*.name", true),
        ] {
            assert_eq!(needs_body(&IndexName::parse(index).expect(index)), expected, "{index}");
        }
    }
}
