//! The resource and the path of fields that a word such as `deployments.apps.spec.replicas` selects.

use kdelta::object::ApiResource;

use super::group_version::{GroupVersionError, parse_group_version};
use super::jsonpath_nodes::{Node, SyntaxError, nodes};

/// The resource and the field to explain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) resource: ApiResource,
    /// The names of the fields, from the resource down.
    pub(super) path: Vec<String>,
}

/// The reason why a word selects nothing. The messages are kubectl's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SubjectError {
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    #[error("invalid jsonpath syntax, first node must be field node")]
    FirstIsNoField,
    #[error("invalid jsonpath syntax, all nodes must be field nodes")]
    NotAllFields,
    #[error(transparent)]
    Version(#[from] GroupVersionError),
    #[error("a resource must be present, got: /, Resource=")]
    NoResource,
}

/// Returns the name that a word starts with.
pub(super) fn resource_name(word: &str) -> Result<String, SubjectError> {
    match nodes(word)?.into_iter().next() {
        Some(Node::Field(name)) => Ok(name),
        _ => Err(SubjectError::FirstIsNoField),
    }
}

impl Subject {
    /// Reads a word. The group after the name counts only without a version of the user's.
    pub(super) fn read(
        word: &str,
        resources: &[ApiResource],
        has_version: bool,
    ) -> Result<Self, SubjectError> {
        if has_version { Self::first(word, resources) } else { Self::with_group(word, resources) }
    }

    /// Replaces group and version by those of the user, if given.
    pub(super) fn with_version(self, version: Option<&str>) -> Result<Self, SubjectError> {
        let Some(version) = version else { return Ok(self) };
        let (group, version) = parse_group_version(version)?;
        Ok(Self { resource: ApiResource { group, version, ..self.resource }, ..self })
    }

    /// Takes the first resource; everything after the name is a field.
    fn first(word: &str, resources: &[ApiResource]) -> Result<Self, SubjectError> {
        let resource = resources.first().ok_or(SubjectError::NoResource)?.clone();
        let path = fields_after_first(word).map_err(|error| match error {
            SubjectError::FirstIsNoField => SubjectError::NotAllFields,
            error => error,
        })?;
        Ok(Self { resource, path })
    }

    /// Takes the first resource whose plural name and group the word starts with, such as `deployments.apps`, otherwise
    /// the first. As in kubectl, `events.events.k8s.io` starts with the `events` of the core group.
    fn with_group(word: &str, resources: &[ApiResource]) -> Result<Self, SubjectError> {
        let named = resources
            .iter()
            .find_map(|resource| Some((resource, word.strip_prefix(resource.group_resource().as_str())?)));
        match named {
            Some((resource, "")) => Ok(Self { resource: resource.clone(), path: Vec::new() }),
            Some((resource, rest)) => {
                Ok(Self { resource: resource.clone(), path: fields_after_first(rest)? })
            }
            None => {
                let resource = resources.first().ok_or(SubjectError::NoResource)?.clone();
                Ok(Self { resource, path: fields_after_first(word)? })
            }
        }
    }
}

/// Returns the names after the first node. The first node of a rest such as `.spec` is the operator `..`, because
/// kubectl puts a dot before it.
fn fields_after_first(text: &str) -> Result<Vec<String>, SubjectError> {
    let fields = nodes(text)?.into_iter().skip(1).map(|node| match node {
        Node::Field(name) => Ok(name),
        _ => Err(SubjectError::FirstIsNoField),
    });
    fields.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, plural: &str) -> ApiResource {
        let version = "v1".to_owned();
        ApiResource {
            group: group.into(),
            version,
            resource: plural.into(),
            kind: "K".into(),
            namespaced: true,
        }
    }

    #[test]
    fn group_after_the_name_selects_the_resource() {
        let all = [resource("", "events"), resource("events.k8s.io", "events")];
        let deployments = [resource("apps", "deployments"), resource("x.example", "deployments")];
        let of = |word: &str, resources: &[ApiResource]| {
            let Subject { resource, path } = Subject::with_group(word, resources).expect(word);
            format!("{} {}", resource.group_resource(), path.join(" "))
        };
        assert_eq!(of("deployments.apps.spec.x", &deployments), "deployments.apps spec x");
        assert_eq!(of("deployments.x.example.spec", &deployments), "deployments.x.example spec");
        assert_eq!(of("deploy.apps.spec", &deployments), "deployments.apps apps spec");
        assert_eq!(of("deployments.spec", &deployments), "deployments.apps spec");
        assert_eq!(of("events.events.k8s.io", &all), "events events k8s io");
        assert_eq!(of("events['a']", &all), "events a");
        assert_eq!(of("events..", &all), "events ");
        assert_eq!(of("ev.a.", &all), "events a");
    }

    #[test]
    fn only_fields_are_accepted() {
        let all = [resource("", "pods")];
        assert_eq!(Subject::with_group("pods[0]", &all), Err(SubjectError::FirstIsNoField));
        assert_eq!(Subject::with_group("po.*", &all), Err(SubjectError::FirstIsNoField));
        assert_eq!(Subject::first("pods[0]", &all), Err(SubjectError::NotAllFields));
        assert_eq!(Subject::first("pods.apps.x", &all).map(|subject| subject.path.len()), Ok(2));
        assert_eq!(resource_name(".pods"), Err(SubjectError::FirstIsNoField));
        assert_eq!(resource_name("*"), Err(SubjectError::FirstIsNoField));
        assert_eq!(resource_name(""), Ok(String::new()));
        assert_eq!(resource_name(r"a\.b.c"), Ok("a.b".into()));
    }
}
