//! The resources of a server, in the order in which words are resolved. Pure.

use std::collections::{BTreeSet, HashSet};

use crate::api::suggest::nearest;
use crate::object::ApiResource;
use crate::wire::{DiscoveredResource, UnavailableGroup};

/// All resources of a server, in order of preference: the core group first, then the groups in the server's order, in
/// each group the preferred version first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    pub(super) resources: Vec<DiscoveredResource>,
    pub(super) missing: Vec<UnavailableGroup>,
}

/// A word split at its dots: `deployments`, `deploy.apps`, `deployments.v1.apps`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    name: String,
    /// Version and group, if the first part after the name is taken as a version.
    version_and_group: Option<(String, String)>,
    /// Everything after the first dot; empty without one.
    group: String,
}

impl Word {
    pub(super) fn new(text: &str) -> Self {
        let lower = text.to_lowercase();
        let (name, group) = lower.split_once('.').unwrap_or((&lower, ""));
        let version_and_group =
            group.split_once('.').map(|(version, group)| (version.to_owned(), group.to_owned()));
        Self { name: name.to_owned(), version_and_group, group: group.to_owned() }
    }
}

/// Returns whether a group is built into Kubernetes. Groups without a dot can't be defined otherwise; groups of
/// `k8s.io` may be custom resources (`gateway.networking.k8s.io`) or aggregated servers (`metrics.k8s.io`), so the
/// built-in ones are listed by name.
pub(super) fn is_built_in(group: &str) -> bool {
    let Some(name) = group.strip_suffix(".k8s.io") else { return !group.contains('.') };
    matches!(
        name,
        "admissionregistration"
            | "apiextensions"
            | "apiregistration"
            | "authentication"
            | "authorization"
            | "certificates"
            | "coordination"
            | "discovery"
            | "events"
            | "flowcontrol.apiserver"
            | "internal.apiserver"
            | "networking"
            | "node"
            | "rbac.authorization"
            | "resource"
            | "scheduling"
            | "storage"
            | "storagemigration"
    )
}

/// Why a word resolves to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoMatch {
    Unknown,
    /// The resource can't be listed.
    NotListable(ApiResource),
}

impl Catalog {
    /// Orders the server's resources, group by group and version by version, preferred ones first.
    pub(crate) fn new(mut resources: Vec<DiscoveredResource>, missing: Vec<UnavailableGroup>) -> Self {
        // Stable: only the core group moves.
        resources.sort_by_key(|found| !found.resource.group.is_empty());
        let mut seen = BTreeSet::new();
        for found in &mut resources {
            found.preferred = seen.insert((found.resource.group.clone(), found.resource.resource.clone()));
        }
        Self { resources, missing }
    }

    /// Returns all resources in every version, in order of preference.
    #[must_use]
    pub fn resources(&self) -> &[DiscoveredResource] {
        &self.resources
    }

    /// Returns every resource once, in its preferred version, as `api-resources` shows them.
    pub fn preferred(&self) -> impl Iterator<Item = &DiscoveredResource> {
        self.resources.iter().filter(|found| found.preferred)
    }

    /// Returns the groups whose resources are unknown. A word that was not found may be in one of them.
    #[must_use]
    pub fn missing(&self) -> &[UnavailableGroup] {
        &self.missing
    }

    /// Resolves a word among the resources that can be listed: a category, or one resource.
    pub(crate) fn find(&self, text: &str) -> Result<Vec<DiscoveredResource>, NoMatch> {
        let members = self.category(text);
        if !members.is_empty() {
            return Ok(members);
        }
        let word = Word::new(text);
        let named = self.named(&word);
        match named.iter().find(|found| found.can("list")) {
            Some(found) => Ok(vec![(*found).clone()]),
            None => Err(named
                .first()
                .map_or(NoMatch::Unknown, |found| NoMatch::NotListable(found.resource.clone()))),
        }
    }

    /// Returns whether a word names the same resource until the server is upgraded: built-in resources can't be
    /// removed or change their scope, and precede custom ones. With a group unavailable, the word may have been meant
    /// for a resource in it.
    pub(super) fn is_stable(&self, text: &str) -> bool {
        let is_one = self.missing.is_empty() && self.category(text).is_empty();
        is_one && self.find(text).is_ok_and(|found| found.iter().all(|one| is_built_in(&one.resource.group)))
    }

    /// Returns the resources of other groups that a short name could mean as well, as `group_resource`; empty for
    /// other words.
    #[must_use]
    pub fn alternatives(&self, text: &str) -> Vec<String> {
        let word = Word::new(text);
        let named = self.named(&word);
        let Some((first, others)) = named.split_first() else { return Vec::new() };
        let is_short = |found: &DiscoveredResource| {
            found.resource.resource != word.name
                && found.singular != word.name
                && found.short_names.contains(&word.name)
        };
        if !is_short(first) || !self.category(text).is_empty() {
            return Vec::new();
        }
        let mut over: Vec<String> = Vec::new();
        for other in others.iter().filter(|other| !other.same_resource(first)) {
            let name = other.resource.group_resource();
            if !over.contains(&name) {
                over.push(name);
            }
        }
        over
    }

    /// Returns whether a word is a category, such as `all`.
    #[must_use]
    pub fn is_category(&self, word: &str) -> bool {
        !self.category(word).is_empty()
    }

    fn category(&self, word: &str) -> Vec<DiscoveredResource> {
        let members = self.resources.iter().filter(|found| found.can("list"));
        let members = members.filter(|found| found.categories.iter().any(|category| category == word));
        let mut seen = HashSet::new();
        members
            .filter(|member| seen.insert((&member.resource.group, &member.resource.resource)))
            .cloned()
            .collect()
    }

    /// Returns the resources that a word may mean, the best match first: a full or singular name, then a short name,
    /// then a kind; an exact group, then the start of one.
    fn named(&self, word: &Word) -> Vec<&DiscoveredResource> {
        let by_name: [fn(&DiscoveredResource, &str) -> bool; 3] = [
            |found, name| found.resource.resource == name || found.singular == name,
            |found, name| found.short_names.iter().any(|short| short == name),
            |found, name| found.resource.kind.to_lowercase() == name,
        ];
        let fits: [&dyn Fn(&ApiResource) -> bool; 3] = [
            &|of| word.version_and_group.as_ref().is_some_and(|(v, g)| of.version == *v && of.group == *g),
            &|of| word.group.is_empty() || of.group == word.group || of.api_version() == word.group,
            &|of| of.group.starts_with(&word.group),
        ];
        for fits in fits {
            for is_named in by_name {
                let all = self.resources.iter();
                let found: Vec<_> =
                    all.filter(|one| fits(&one.resource) && is_named(one, &word.name)).collect();
                if !found.is_empty() {
                    return found;
                }
            }
        }
        Vec::new()
    }

    /// Returns up to three names similar to a word, the nearest first.
    pub(crate) fn near(&self, text: &str) -> Vec<String> {
        let word = Word::new(text);
        let listable = self.preferred().filter(|found| found.can("list"));
        nearest(
            &word.name,
            listable.map(|found| {
                let kind = found.resource.kind.to_lowercase();
                let names = [found.resource.resource.clone(), found.singular.clone(), kind];
                let names = names.into_iter().chain(found.short_names.iter().cloned()).collect();
                (found.resource.group_resource(), names)
            }),
        )
    }
}
