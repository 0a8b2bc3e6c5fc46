//! The collections that a selection comes to: a resource, in a namespace or in all, whole or by one name.

use std::sync::Arc;

use kdelta::listwatch::{Error, Status};
use kdelta::object::ApiResource;

use crate::settings::{Namespaces, Selection};

/// One collection: it has a list and a watch of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// What it is a collection of.
    pub(crate) resource: Arc<ApiResource>,
    /// The namespace; empty for all of them, and for what lives in none.
    pub(crate) namespace: Arc<str>,
    /// The one object that is asked for by its name.
    pub(crate) name: Option<Arc<str>>,
}

impl Part {
    /// How a notice names it: `pods`, `pods/web`, `deployments.apps`.
    pub(crate) fn title(&self) -> String {
        match &self.name {
            None => self.resource.group_resource(),
            Some(name) => format!("{}/{name}", self.resource.group_resource()),
        }
    }

    /// The error of one object that is asked for by its name and is not there; none for a whole collection.
    pub(crate) fn not_found(&self) -> Option<Error> {
        let name = self.name.as_ref()?;
        let message = format!("{} {name:?} not found", self.resource.group_resource());
        Some(Error::NotFound(Status { reason: "NotFound".into(), message, json: String::new() }))
    }

    /// The error of a list as kubectl tells it: before the words of a server that can't make sense of the request
    /// stands what it was asked for.
    pub(crate) fn asked_for(&self, selection: &Selection, error: Error) -> Error {
        let asked = |status: Status| {
            let ApiResource { group, version, resource, .. } = &*self.resource;
            let labels = selection.label_selector.as_deref().unwrap_or_default();
            let fields = selection.field_selector.as_deref().unwrap_or_default();
            let what = format!("{group}/{version}, Resource={resource}");
            let said = &status.message;
            let message = if labels.is_empty() && fields.is_empty() {
                format!("Unable to list {what:?}: {said}")
            } else {
                format!(
                    "Unable to find {what:?} that match label selector {labels:?}, field selector {fields:?}: {said}"
                )
            };
            Status { message, ..status }
        };
        match error {
            _ if self.name.is_some() => error,
            Error::Invalid(status) if status.reason == "BadRequest" => Error::Invalid(asked(status)),
            Error::NotFound(status) if status.reason == "NotFound" => Error::NotFound(asked(status)),
            error => error,
        }
    }
}

/// The parts of some resources, in the order given: namespaces inside a resource, names inside a namespace.
pub(super) fn parts(
    resources: &[(Arc<ApiResource>, &[String])],
    namespaces: &Namespaces,
    default_namespace: &str,
) -> anyhow::Result<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    for (resource, names) in resources {
        if *namespaces == Namespaces::All && resource.namespaced && !names.is_empty() {
            anyhow::bail!("a resource cannot be retrieved by name across all namespaces");
        }
        for namespace in scopes(resource, namespaces, default_namespace) {
            let part = |name: Option<&String>| Part {
                resource: Arc::clone(resource),
                namespace: Arc::from(namespace),
                name: name.map(|name| Arc::from(name.as_str())),
            };
            let named: Vec<_> = names.iter().map(|name| part(Some(name))).collect();
            let these = if named.is_empty() { vec![part(None)] } else { named };
            parts.extend(these.into_iter().filter(|part| !parts.contains(part)).collect::<Vec<_>>());
        }
    }
    Ok(parts)
}

fn scopes<'a>(resource: &ApiResource, namespaces: &'a Namespaces, default: &'a str) -> Vec<&'a str> {
    match namespaces {
        _ if !resource.namespaced => vec![""],
        Namespaces::All => vec![""],
        Namespaces::Current => vec![default],
        Namespaces::Named(names) => names.iter().map(String::as_str).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ListMode;

    fn resource(name: &str, namespaced: bool) -> Arc<ApiResource> {
        Arc::new(ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: name.into(),
            kind: name.into(),
            namespaced,
        })
    }

    fn titles(names: &[String], namespaces: &Namespaces) -> Vec<String> {
        let resources = [(resource("pods", true), names), (resource("nodes", false), names)];
        let parts = parts(&resources, namespaces, "home").expect("parts");
        parts.iter().map(|part| format!("{}:{}", part.namespace, part.title())).collect()
    }

    #[test]
    fn a_resource_without_namespaces_is_asked_for_once() {
        let named = Namespaces::Named(vec!["a".into(), "b".into()]);
        assert_eq!(titles(&[], &named), ["a:pods", "b:pods", ":nodes"]);
        assert_eq!(titles(&[], &Namespaces::Current), ["home:pods", ":nodes"]);
        assert_eq!(titles(&[], &Namespaces::All), [":pods", ":nodes"]);
        assert_eq!(
            titles(&["x".into(), "y".into()], &Namespaces::Current),
            ["home:pods/x", "home:pods/y", ":nodes/x", ":nodes/y"]
        );
    }

    #[test]
    fn a_request_that_makes_no_sense_is_told_with_what_was_asked_for() {
        let part = |name: Option<&str>| Part {
            resource: resource("pods", true),
            namespace: "home".into(),
            name: name.map(Arc::from),
        };
        let selection = |labels: Option<&str>, fields: Option<&str>| Selection {
            targets: Vec::new(),
            namespaces: Namespaces::Current,
            label_selector: labels.map(str::to_owned),
            field_selector: fields.map(str::to_owned),
            cached: false,
            page_size: 500,
            list_mode: ListMode::Auto,
        };
        let status = |reason: &str| Status {
            reason: reason.into(),
            message: "it is wrong".into(),
            json: String::new(),
        };
        let bad = || Error::Invalid(status("BadRequest"));
        let told = |part: Part, selection: Selection, error| part.asked_for(&selection, error).to_string();
        assert_eq!(
            told(part(None), selection(Some("a b"), Some("x=\"")), bad()),
            r#"Unable to find "/v1, Resource=pods" that match label selector "a b", field selector "x=\"": it is wrong"#
        );
        assert_eq!(
            told(part(None), selection(None, None), Error::NotFound(status("NotFound"))),
            r#"Unable to list "/v1, Resource=pods": it is wrong"#
        );
        assert_eq!(told(part(Some("x")), selection(None, None), bad()), "it is wrong");
        let forbidden = Error::Forbidden(status("Forbidden"));
        assert_eq!(told(part(None), selection(None, None), forbidden), "it is wrong");
    }

    #[test]
    fn names_need_a_namespace() {
        let names = ["x".to_owned()];
        let error =
            parts(&[(resource("pods", true), &names)], &Namespaces::All, "home").expect_err("refused");
        assert_eq!(error.to_string(), "a resource cannot be retrieved by name across all namespaces");
    }
}
