//! The discovery documents, aggregated or one per group version, and the resources that they describe.

use serde::Deserialize;

use crate::object::{ApiResource, is_dns_label, is_dns_subdomain};

/// A resource of a server. Subresources are not included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveredResource {
    /// The resource and the kind of its objects.
    pub resource: ApiResource,
    /// The singular name; the kind in lower case if the server sent none.
    pub singular: String,
    /// Short names, such as `po`.
    pub short_names: Vec<String>,
    /// The categories that the resource belongs to, such as `all`.
    pub categories: Vec<String>,
    /// The supported verbs: `get`, `list`, `watch`, …
    pub verbs: Vec<String>,
    /// Whether this is the version of the resource that the server prefers.
    pub preferred: bool,
}

impl DiscoveredResource {
    /// Returns whether the resource supports the verb.
    #[must_use]
    pub fn can(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| known == verb)
    }

    pub(crate) fn same_resource(&self, other: &Self) -> bool {
        self.resource.group == other.resource.group && self.resource.resource == other.resource.resource
    }
}

/// A group or group version whose resources are unknown because the request for them failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnavailableGroup {
    /// The group; empty for the core group.
    pub group: String,
    /// The version; empty if all of the group, or all groups, are unknown.
    pub version: String,
    /// The reason, as one sentence.
    pub reason: String,
    /// Whether the server itself reports the group version as unavailable, in an aggregated document.
    pub is_stale: bool,
}

impl UnavailableGroup {
    /// Returns `group/version`, or the version of the core group.
    #[must_use]
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// A response to `/api` or `/apis`; its kind determines which fields are set.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Root {
    kind: String,
    /// `APIGroupDiscoveryList`: all resources.
    items: Option<Vec<AggregatedGroup>>,
    /// `APIVersions`: the versions of the core group.
    versions: Option<Vec<String>>,
    /// `APIGroupList`.
    groups: Option<Vec<Group>>,
}

/// A group version to be requested separately. Both names are valid in a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupVersion {
    group: String,
    version: String,
}

/// The number of names that are not valid in a URL and can't be requested, and the first of them as an example.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct UnusableNames {
    pub(crate) count: usize,
    pub(crate) example: Option<String>,
}

impl UnusableNames {
    /// Adds the names of another response.
    pub(crate) fn extend(&mut self, other: Self) {
        self.count += other.count;
        self.example = self.example.take().or(other.example);
    }

    /// Returns whether the name is usable, and counts one that is not.
    fn check(&mut self, is_usable: bool, name: &str) -> bool {
        if !is_usable {
            self.count += 1;
            self.example.get_or_insert_with(|| name.to_owned());
        }
        is_usable
    }

    fn check_group(&mut self, name: &str) -> bool {
        self.check(name.is_empty() || is_dns_subdomain(name), name)
    }

    fn check_version(&mut self, name: &str) -> bool {
        self.check(is_dns_label(name), name)
    }

    /// Checks the name of a resource. Names with a slash are subresources and custom metrics, which are not
    /// resources.
    fn check_resource(&mut self, name: &str) -> bool {
        !name.contains('/') && self.check(is_dns_label(name), name)
    }
}

impl GroupVersion {
    /// Returns group and version for an [`UnavailableGroup`].
    pub(crate) fn into_names(self) -> (String, String) {
        (self.group, self.version)
    }

    /// Returns `group/version`, or the version of the core group.
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    pub(crate) fn path(&self) -> String {
        match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        }
    }
}

/// A parsed response to `/api` or `/apis`.
pub(crate) enum DiscoveryDocument {
    /// All resources of the server.
    Aggregated(Vec<DiscoveredResource>, Vec<UnavailableGroup>),
    /// The group versions to request separately.
    GroupVersions(Vec<GroupVersion>),
}

impl DiscoveryDocument {
    /// Returns the group versions whose names are usable, from groups with their versions.
    fn parts(
        groups: impl IntoIterator<Item = (String, Vec<String>)>,
        unusable: &mut UnusableNames,
    ) -> Vec<GroupVersion> {
        let mut parts = Vec::new();
        for (group, versions) in groups {
            if unusable.check_group(&group) {
                let versions = versions.into_iter().filter(|version| unusable.check_version(version));
                parts.extend(versions.map(|version| GroupVersion { group: group.clone(), version }));
            }
        }
        parts
    }
}

impl Root {
    /// Returns the available group versions, also those without resources. Names that are not valid in a URL are
    /// skipped and counted in `unusable`.
    pub(crate) fn group_versions(self, unusable: &mut UnusableNames) -> Result<Vec<GroupVersion>, String> {
        let groups: Vec<(String, Vec<String>)> = match self.kind.as_str() {
            "APIGroupDiscoveryList" => {
                self.items.unwrap_or_default().into_iter().map(AggregatedGroup::available).collect()
            }
            "APIVersions" => vec![(String::new(), self.versions.unwrap_or_default())],
            "APIGroupList" => self.groups.unwrap_or_default().into_iter().map(Group::read).collect(),
            other => return Err(not_groups(other)),
        };
        Ok(DiscoveryDocument::parts(groups, unusable))
    }

    /// Parses the document. Names that are not valid in a URL are skipped and counted in `unusable`.
    pub(crate) fn read(self, unusable: &mut UnusableNames) -> Result<DiscoveryDocument, String> {
        match self.kind.as_str() {
            "APIGroupDiscoveryList" => Ok(whole(self.items.unwrap_or_default(), unusable)),
            _ => self.group_versions(unusable).map(DiscoveryDocument::GroupVersions),
        }
    }
}

fn not_groups(kind: &str) -> String {
    format!("a response of kind {kind:?} is not a list of API groups")
}

/// The freshness of a group version whose server is unavailable.
const STALE: &str = "Stale";

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

impl AggregatedGroup {
    /// Returns the group's name and its available versions, in order of preference.
    fn available(self) -> (String, Vec<String>) {
        let versions = self.versions.unwrap_or_default().into_iter();
        let available = versions.filter(|version| version.freshness != STALE).map(|one| one.version);
        (self.metadata.unwrap_or_default().name, available.collect())
    }
}

fn whole(groups: Vec<AggregatedGroup>, unusable: &mut UnusableNames) -> DiscoveryDocument {
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for group in groups {
        let name = group.metadata.unwrap_or_default().name;
        if !unusable.check_group(&name) {
            continue;
        }
        for version in group.versions.unwrap_or_default() {
            if !unusable.check_version(&version.version) {
                continue;
            }
            if version.freshness == STALE {
                let reason = "the server is currently unable to handle the request".to_owned();
                let (group, version) = (name.clone(), version.version);
                missing.push(UnavailableGroup { group, version, reason, is_stale: true });
                continue;
            }
            let resources = version.resources.unwrap_or_default().into_iter();
            let resources = resources.filter_map(|resource| resource.read(&name, &version.version));
            found.extend(resources.filter(|found| unusable.check_resource(&found.resource.resource)));
        }
    }
    DiscoveryDocument::Aggregated(found, missing)
}

impl AggregatedResource {
    /// Returns the resource; `None` for an entry that only carries subresources, which has no kind.
    fn read(self, group: &str, version: &str) -> Option<DiscoveredResource> {
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
    /// Returns the group's name and its versions, the preferred one first.
    fn read(self) -> (String, Vec<String>) {
        let preferred = self.preferred_version.unwrap_or_default().version;
        let mut versions: Vec<String> =
            self.versions.unwrap_or_default().into_iter().map(|one| one.version).collect();
        versions.sort_by_key(|version| *version != preferred);
        (self.name, versions)
    }
}

/// `APIResourceList`: the resources of one group version.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ResourceList {
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
    /// Parses the document like [`Root::read`].
    pub(crate) fn read(self, of: &GroupVersion, unusable: &mut UnusableNames) -> Vec<DiscoveredResource> {
        let resources = self.resources.unwrap_or_default().into_iter();
        let whole = resources.filter(|resource| unusable.check_resource(&resource.name));
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
) -> DiscoveredResource {
    DiscoveredResource {
        singular: if singular.is_empty() { resource.kind.to_lowercase() } else { singular },
        short_names: short_names.unwrap_or_default(),
        categories: categories.unwrap_or_default(),
        verbs: verbs.unwrap_or_default(),
        preferred: false,
        resource,
    }
}
