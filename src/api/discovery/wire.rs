//! What discovery looks like on the wire, in its two forms, and what it comes to.

use serde::Deserialize;

use super::catalog::{Discovered, Missing};
use crate::object::ApiResource;

/// Any answer to `/api` or `/apis`; which one it is, its kind tells.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Root {
    kind: String,
    /// `APIGroupDiscoveryList`: all of it.
    items: Option<Vec<AggregatedGroup>>,
    /// `APIVersions`: the versions of the core group.
    versions: Option<Vec<String>>,
    /// `APIGroupList`.
    groups: Option<Vec<Group>>,
}

/// A group version to be asked for by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupVersion {
    pub(super) group: String,
    pub(super) version: String,
}

impl GroupVersion {
    pub(super) fn path(&self) -> String {
        match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        }
    }
}

/// An answer to `/api` or `/apis` in one form or the other.
pub(super) enum Answer {
    /// The server told all at once.
    Whole(Vec<Discovered>, Vec<Missing>),
    /// Each of these has to be asked for.
    Parts(Vec<GroupVersion>),
}

impl Root {
    pub(super) fn read(self) -> Result<Answer, String> {
        match self.kind.as_str() {
            "APIGroupDiscoveryList" => Ok(whole(self.items.unwrap_or_default())),
            "APIVersions" => {
                let versions = self.versions.unwrap_or_default().into_iter();
                Ok(Answer::Parts(
                    versions.map(|version| GroupVersion { group: String::new(), version }).collect(),
                ))
            }
            "APIGroupList" => {
                Ok(Answer::Parts(self.groups.unwrap_or_default().into_iter().flat_map(Group::read).collect()))
            }
            other => Err(format!("an answer of kind {other:?} is no list of API groups")),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AggregatedGroup {
    metadata: Option<Metadata>,
    versions: Option<Vec<AggregatedVersion>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AggregatedVersion {
    version: String,
    resources: Option<Vec<AggregatedResource>>,
    freshness: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AggregatedResource {
    resource: String,
    response_kind: Option<ResponseKind>,
    scope: String,
    singular_resource: String,
    verbs: Option<Vec<String>>,
    short_names: Option<Vec<String>>,
    categories: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponseKind {
    kind: String,
}

fn whole(groups: Vec<AggregatedGroup>) -> Answer {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for group in groups {
        let name = group.metadata.unwrap_or_default().name;
        for version in group.versions.unwrap_or_default() {
            if version.freshness == "Stale" {
                let reason = "the server is currently unable to handle the request".to_owned();
                missing.push(Missing { group: name.clone(), version: version.version, reason });
                continue;
            }
            let resources = version.resources.unwrap_or_default().into_iter();
            found.extend(resources.filter_map(|resource| resource.read(&name, &version.version)));
        }
    }
    Answer::Whole(found, missing)
}

impl AggregatedResource {
    /// Nothing for a name that stands for its subresources only: such a one has no kind.
    fn read(self, group: &str, version: &str) -> Option<Discovered> {
        let kind = self.response_kind.map(|kind| kind.kind).filter(|kind| !kind.is_empty())?;
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            resource: self.resource,
            kind,
            namespaced: self.scope == "Namespaced",
        };
        Some(discovered(resource, self.singular_resource, self.short_names, self.categories, self.verbs))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Group {
    name: String,
    versions: Option<Vec<Version>>,
    preferred_version: Option<Version>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Version {
    version: String,
}

impl Group {
    fn read(self) -> Vec<GroupVersion> {
        let preferred = self.preferred_version.unwrap_or_default().version;
        let mut versions: Vec<String> =
            self.versions.unwrap_or_default().into_iter().map(|one| one.version).collect();
        versions.sort_by_key(|version| *version != preferred);
        versions.into_iter().map(|version| GroupVersion { group: self.name.clone(), version }).collect()
    }
}

/// `APIResourceList`: one group version by itself.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResourceList {
    resources: Option<Vec<Resource>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Resource {
    name: String,
    singular_name: String,
    namespaced: bool,
    kind: String,
    verbs: Option<Vec<String>>,
    short_names: Option<Vec<String>>,
    categories: Option<Vec<String>>,
}

impl ResourceList {
    pub(super) fn read(self, of: &GroupVersion) -> Vec<Discovered> {
        let whole =
            self.resources.unwrap_or_default().into_iter().filter(|resource| !resource.name.contains('/'));
        let read = |one: Resource| {
            let resource = ApiResource {
                group: of.group.clone(),
                version: of.version.clone(),
                resource: one.name,
                kind: one.kind,
                namespaced: one.namespaced,
            };
            discovered(resource, one.singular_name, one.short_names, one.categories, one.verbs)
        };
        whole.map(read).collect()
    }
}

fn discovered(
    resource: ApiResource,
    singular: String,
    short_names: Option<Vec<String>>,
    categories: Option<Vec<String>>,
    verbs: Option<Vec<String>>,
) -> Discovered {
    Discovered {
        singular: if singular.is_empty() { resource.kind.to_lowercase() } else { singular },
        short_names: short_names.unwrap_or_default(),
        categories: categories.unwrap_or_default(),
        verbs: verbs.unwrap_or_default(),
        preferred: false,
        resource,
    }
}
