//! A part of a selection: a collection, which is a resource in one namespace or in all namespaces of one context, or a
//! single object of it. Each part has a list and a watch of its own.

use std::fmt::Write;
use std::sync::Arc;

use kdelta::listwatch::{Error, Status};
use kdelta::object::ApiResource;

use super::plan::NamePatterns;
use crate::settings::{Namespaces, Pattern, Selection};

/// One collection or named object of a selection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    /// The position of its cluster in the session.
    pub(crate) cluster: usize,
    /// The name of its kubeconfig context; empty if there is none.
    pub(crate) context: Arc<str>,
    /// The prefix of messages about the part: the context if there are several, otherwise empty.
    pub(crate) prefix: Arc<str>,
    /// The type of its objects.
    pub(crate) resource: Arc<ApiResource>,
    /// The namespace; empty for all namespaces and for cluster-scoped types.
    pub(crate) namespace: Arc<str>,
    /// The name, if the part is a single object.
    pub(crate) name: Option<Arc<str>>,
    /// The number of equal parts before it: kubectl's `get` prints an object as often as it is named.
    pub(crate) repetition: usize,
    /// The patterns that the names of its objects match; `None` for all objects, and for a single one.
    pub(crate) patterns: Option<Arc<NamePatterns>>,
}

impl Part {
    /// Returns the title used in notices: `pods`, `pods/web`, `pods/web-*`, `deployments.apps`, `prod: pods`.
    pub(crate) fn title(&self) -> String {
        let Self { prefix, resource, .. } = self;
        match (&self.name, &self.patterns) {
            (None, None) => format!("{prefix}{}", resource.group_resource()),
            (Some(name), _) => format!("{prefix}{}/{name}", resource.group_resource()),
            (None, Some(patterns)) => format!("{prefix}{}/{}", resource.group_resource(), patterns.text()),
        }
    }

    /// Whether objects of this name belong to the part.
    pub(crate) fn includes_name(&self, name: &str) -> bool {
        self.name.as_ref().is_none_or(|only| **only == *name)
            && self.patterns.as_ref().is_none_or(|patterns| patterns.includes(name))
    }

    /// Returns the error for a named object that does not exist; `None` for a collection.
    pub(crate) fn not_found(&self) -> Option<Error> {
        let name = self.name.as_ref()?;
        let message = format!("{} {name:?} not found", self.resource.group_resource());
        Some(Error::NotFound(Status {
            code: Some(404),
            reason: "NotFound".into(),
            message,
            name: Some((**name).into()),
            ..Status::default()
        }))
    }

    /// Returns the error for a named object that exists in no matching namespace; `None` if the selection has no
    /// namespace patterns.
    pub(crate) fn not_found_in(&self, selection: &Selection) -> Option<Error> {
        let Namespaces::Matching { patterns, labels, .. } = &selection.namespaces else { return None };
        let Error::NotFound(status) = self.not_found()? else { return None };
        let mut message = format!("{} in any namespace", status.message);
        if labels.is_none() || !patterns.iter().any(Pattern::is_any) {
            let texts: Vec<&str> = patterns.iter().map(Pattern::text).collect();
            // Writing to a String can't fail.
            let _ = write!(message, " that matches {:?}", texts.join(","));
        }
        if let Some(labels) = labels {
            let _ = write!(message, " with the labels {labels:?}");
        }
        Some(Error::NotFound(Status { message, ..status }))
    }

    /// Whether both parts name the same object, ignoring namespace and API version: the served version may change
    /// during a command.
    pub(crate) fn is_same_object(&self, other: &Self) -> bool {
        let (one, another) = (&*self.resource, &*other.resource);
        self.name.is_some()
            && (self.cluster, &self.name) == (other.cluster, &other.name)
            && (&one.group, &one.resource) == (&another.group, &another.resource)
    }

    /// Adds the request to a list error, as kubectl does, if the server rejected the request itself.
    pub(crate) fn with_request_context(&self, selection: &Selection, error: Error) -> Error {
        let with_context = |status: Status| {
            let ApiResource { group, version, resource, .. } = &*self.resource;
            let labels = selection.label_selector.as_deref().unwrap_or_default();
            let fields = selection.field_selector.as_deref().unwrap_or_default();
            let resource = format!("{group}/{version}, Resource={resource}");
            let reason = &status.message;
            let message = if labels.is_empty() && fields.is_empty() {
                format!("Unable to list {resource:?}: {reason}")
            } else {
                format!(
                    "Unable to find {resource:?} that match label selector {labels:?}, field selector {fields:?}: {reason}"
                )
            };
            Status { message, ..status }
        };
        match error {
            _ if self.name.is_some() => error,
            Error::Invalid(status) if status.reason == "BadRequest" => Error::Invalid(with_context(status)),
            Error::UnsupportedFieldSelector(status) => Error::UnsupportedFieldSelector(with_context(status)),
            Error::NotFound(status) if status.reason == "NotFound" => Error::NotFound(with_context(status)),
            error => error,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::settings::{ListMode, ObjectFilter};

    /// Parses `pods`, `deployments.apps` or `!nodes`; `!` marks a cluster-scoped type.
    pub(crate) fn resource(text: &str) -> Arc<ApiResource> {
        let name = text.trim_start_matches('!');
        let (plural, group) = name.split_once('.').unwrap_or((name, ""));
        Arc::new(ApiResource {
            group: group.into(),
            version: "v1".into(),
            resource: plural.into(),
            kind: plural.into(),
            namespaced: !text.starts_with('!'),
        })
    }

    /// Returns the template of a plan's parts with that default namespace.
    pub(crate) fn template(namespace: &str) -> Part {
        Part {
            cluster: 0,
            context: "".into(),
            prefix: "".into(),
            resource: resource("!origins"),
            namespace: namespace.into(),
            name: None,
            repetition: 0,
            patterns: None,
        }
    }

    #[test]
    fn same_object_ignores_namespace_and_version() {
        let named = |resource: Arc<ApiResource>, namespace: &str, name: &str| Part {
            resource,
            name: Some(name.into()),
            ..template(namespace)
        };
        let deployments = resource("deployments.apps");
        let older = Arc::new(ApiResource { version: "v1beta1".into(), ..(*deployments).clone() });
        let part = named(Arc::clone(&deployments), "a", "x");
        assert!(part.is_same_object(&named(older, "b", "x")));
        assert!(!part.is_same_object(&named(Arc::clone(&deployments), "a", "y")));
        assert!(!part.is_same_object(&named(resource("deployments.other"), "a", "x")));
        assert!(!part.is_same_object(&Part { cluster: 1, ..part.clone() }));
        let whole = Part { name: None, ..part };
        assert!(!whole.is_same_object(&whole), "no object");
    }

    #[test]
    fn missing_name_error_shows_namespace_pattern() {
        let part = Part { resource: resource("deployments.apps"), name: Some("x".into()), ..template("") };
        let message = |patterns: &[&str], labels: Option<&str>| {
            let patterns = patterns.iter().map(|text| Pattern::new(text)).collect();
            let labels = labels.map(str::to_owned);
            let namespaces = Namespaces::Matching { always: vec!["home".into()], patterns, labels };
            part.not_found_in(&Selection { namespaces, ..selection(None, None) })
                .map(|error| error.to_string())
        };
        let expected = |end: &str| Some(format!(r#"deployments.apps "x" not found in any namespace {end}"#));
        assert_eq!(message(&["a-*", "b"], None), expected(r#"that matches "a-*,b""#));
        assert_eq!(message(&["*"], None), expected(r#"that matches "*""#));
        assert_eq!(message(&["*"], Some("env=prod")), expected(r#"with the labels "env=prod""#));
        assert_eq!(message(&["a-*"], Some("env")), expected(r#"that matches "a-*" with the labels "env""#));
        assert!(part.not_found_in(&selection(None, None)).is_none());
    }

    fn selection(labels: Option<&str>, fields: Option<&str>) -> Selection {
        Selection {
            targets: Vec::new(),
            keeps_repeated_names: false,
            namespaces: Namespaces::Current,
            label_selector: labels.map(str::to_owned),
            field_selector: fields.map(str::to_owned),
            filter: ObjectFilter::default(),
            cached: false,
            page_size: 500,
            required_namespace: None,
            list_mode: ListMode::Auto,
        }
    }

    #[test]
    fn rejected_request_error_shows_request() {
        let part = |name: Option<&str>| Part {
            resource: resource("pods"),
            name: name.map(Arc::from),
            ..template("home")
        };
        let status = |reason: &str| Status {
            reason: reason.into(),
            message: "it is wrong".into(),
            ..Status::default()
        };
        let bad = || Error::Invalid(status("BadRequest"));
        let message = |part: Part, selection: Selection, error| {
            part.with_request_context(&selection, error).to_string()
        };
        assert_eq!(
            message(part(None), selection(Some("a b"), Some("x=\"")), bad()),
            r#"Unable to find "/v1, Resource=pods" that match label selector "a b", field selector "x=\"": it is wrong"#
        );
        assert_eq!(
            message(part(None), selection(None, None), Error::NotFound(status("NotFound"))),
            r#"Unable to list "/v1, Resource=pods": it is wrong"#
        );
        assert_eq!(message(part(Some("x")), selection(None, None), bad()), "it is wrong");
        let forbidden = Error::Forbidden(status("Forbidden"));
        assert_eq!(message(part(None), selection(None, None), forbidden), "it is wrong");
    }
}
