//! The target of a request, from its path.

use std::sync::Arc;

use super::api_error::ApiError;
use super::source::{Kind, KindId, Source};

/// A collection, an object, or a subresource of an object.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) id: KindId,
    pub(crate) kind: Arc<Kind>,
    /// Empty for a cluster-scoped object.
    pub(crate) namespace: String,
    /// Empty for a collection.
    pub(crate) name: String,
    /// Such as `status` or `scale`.
    pub(crate) subresource: Option<String>,
}

impl Target {
    /// Returns the target of a path, or `None` for a path that is not below a served group version.
    ///
    /// # Errors
    /// The group version has no such resource, or the source can't read it.
    pub(crate) fn of_path(source: &dyn Source, path: &[String]) -> Option<Result<Self, ApiError>> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let (group, version, rest) = match path.as_slice() {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            // A namespace is itself an object with a subresource.
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() && *rest != ["status"] => {
                (Some(*namespace), rest)
            }
            rest => (None, rest),
        };
        let [plural, rest @ ..] = rest else { return None };
        if let Some(reason) = source.unavailable_reason(group, version, plural) {
            return Some(Err(ApiError::unavailable_resource(reason)));
        }
        let is_served =
            |kind: &Arc<Kind>| kind.is_readable() && kind.group == group && kind.version == version;
        if !source.kinds().iter().any(is_served) {
            return None;
        }
        let found = source.find(group, version, plural);
        let found = found.filter(|(_, kind)| namespace.is_none() || kind.namespaced);
        let target = found.map(|(id, kind)| Self {
            id,
            kind,
            namespace: namespace.unwrap_or_default().to_owned(),
            name: rest.first().copied().unwrap_or_default().to_owned(),
            subresource: rest.get(1).map(|&name| name.to_owned()),
        });
        let exists = |target: &Self| match rest {
            [] => true,
            [_] => !target.kind.namespaced || namespace.is_some(),
            [_, name] if target.kind.has_subresource(name) => true,
            [_, name, ..] => source.subresource_refusal(&target.kind, name).is_some(),
        };
        Some(target.filter(exists).ok_or_else(ApiError::no_resource))
    }

    /// Returns the reason why the subresource can't be requested with any method.
    pub(super) fn subresource_refusal(&self, source: &dyn Source) -> Option<String> {
        source.subresource_refusal(&self.kind, self.subresource.as_deref()?)
    }

    /// Returns the namespace of a collection; `None` for all namespaces.
    pub(crate) fn namespace(&self) -> Option<&str> {
        Some(self.namespace.as_str()).filter(|namespace| !namespace.is_empty())
    }
}
