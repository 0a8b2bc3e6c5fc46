//! The failures of an evaluation.

use std::io;
use std::time::Duration;

use kdelta::object::{ApiResource, Object};

/// The longest reason that is shown, in characters: it may quote the whole object.
const LONGEST_REASON: usize = 300;

/// A problem of one evaluation.
#[derive(Debug)]
pub(super) enum Problem {
    /// The expression failed, with jq's reason.
    Failed(String),
    /// The evaluation has too many results.
    Results,
    /// The evaluation takes too long.
    Time(Duration),
    /// The evaluation takes too much memory.
    Memory,
    Write(io::Error),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// An expression that does not fit an object or a list.
#[derive(Debug, thiserror::Error)]
#[error("jq: {title}: {reason}")]
pub(crate) struct JqFailure {
    title: String,
    reason: String,
    /// Whether other objects can be evaluated.
    pub(crate) is_of_object: bool,
}

impl JqFailure {
    /// Returns the failure on an object, or on a list without one.
    pub(super) fn new(problem: &Problem, object: Option<(&Object, &ApiResource)>) -> Self {
        let is_secret =
            object.is_none_or(|(_, resource)| (&*resource.group, &*resource.resource) == ("", "secrets"));
        let reason = match problem {
            // Messages are for people, who must not see the data of Secrets by accident.
            Problem::Failed(_) if object.is_some() && is_secret => {
                "the expression failed; its reason is not shown, because it may quote the data of a Secret"
                    .to_owned()
            }
            Problem::Failed(reason) => cut(reason),
            Problem::Results => {
                "the expression has more than a million results, or 64 MiB of them".to_owned()
            }
            Problem::Time(limit) => {
                format!("the expression had no result for {} s", limit.as_secs_f64())
            }
            Problem::Memory => "the expression takes more than 1 GiB of memory".to_owned(),
            Problem::Write(error) => error.to_string(),
        };
        let title = object.map_or_else(|| "List".to_owned(), |(object, resource)| title(object, resource));
        let is_of_object = object.is_some() && matches!(problem, Problem::Failed(_) | Problem::Results);
        Self { title, reason, is_of_object }
    }
}

fn title(object: &Object, resource: &ApiResource) -> String {
    let name = format!("{}/{}", resource.group_kind_lower(), object.name());
    if object.namespace().is_empty() { name } else { format!("{name} in namespace {}", object.namespace()) }
}

fn cut(reason: &str) -> String {
    match reason.char_indices().nth(LONGEST_REASON) {
        Some((end, _)) => format!("{}...", &reason[..end]),
        None => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(plural: &str, kind: &str) -> ApiResource {
        ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: plural.into(),
            kind: kind.into(),
            namespaced: true,
        }
    }

    #[test]
    fn failure_names_the_object() {
        let of = |plural: &str, kind: &str, reason: &str| {
            let resource = resource(plural, kind);
            let object = Object::named(resource.type_meta(), "shop", "x");
            JqFailure::new(&Problem::Failed(reason.into()), Some((&object, &resource)))
        };
        let failure = of("pods", "Pod", "cannot use 1 as object");
        assert_eq!(failure.to_string(), "jq: pod/x in namespace shop: cannot use 1 as object");
        assert!(failure.is_of_object);
        assert!(!of("secrets", "Secret", "cannot use s3cr3t").to_string().contains("s3cr3t"));
        assert_eq!(
            of("pods", "Pod", &"y".repeat(1000)).to_string().len(),
            "jq: pod/x in namespace shop: ...".len() + 300
        );
        let list = JqFailure::new(&Problem::Failed("no".into()), None);
        assert_eq!((list.to_string().as_str(), list.is_of_object), ("jq: List: no", false));
    }
}
