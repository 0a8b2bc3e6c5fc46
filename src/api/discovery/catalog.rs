//! The resources of a server, in the order in which words are resolved. Pure.

use std::collections::{BTreeSet, HashSet};

use crate::api::suggest::nearest;
use crate::wire::{DiscoveredResource, UnavailableGroup};

/// All resources of a server, in order of preference: the core group first, then the groups in the server's order, in
/// each group the preferred version first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    pub(super) resources: Vec<DiscoveredResource>,
    pub(super) missing: Vec<UnavailableGroup>,
}

/// Returns whether a group is built into Kubernetes. Groups without a dot can't be defined otherwise; groups of
/// `k8s.io` may be custom resources (`gateway.networking.k8s.io`) or aggregated servers (`metrics.k8s.io`), so the
/// built-in ones are listed by name.
#[must_use]
pub fn is_built_in(group: &str) -> bool {
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

    /// Resolves a word: the members of a category that can be listed, or one resource. Empty if it names none.
    pub(crate) fn find(&self, text: &str) -> Vec<DiscoveredResource> {
        let members = self.category(text);
        if members.is_empty() { self.mapping(text).cloned().into_iter().collect() } else { members }
    }

    /// Returns whether a word names the same resource until the server is upgraded: built-in resources can't be
    /// removed or change their scope, and precede custom ones. With a group unavailable, the word may have been meant
    /// for a resource in it.
    pub(super) fn is_stable(&self, text: &str) -> bool {
        let is_one = self.missing.is_empty() && self.category(text).is_empty();
        is_one && self.mapping(text).is_some_and(|found| is_built_in(&found.resource.group))
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

    /// Returns up to three names similar to a word, the nearest first.
    pub(crate) fn near(&self, text: &str) -> Vec<String> {
        let word = text.to_lowercase();
        let name = word.split('.').next().unwrap_or_default();
        let listable = self.preferred().filter(|found| found.can("list"));
        nearest(
            name,
            listable.map(|found| {
                let kind = found.resource.kind.to_lowercase();
                let names = [found.resource.resource.clone(), found.singular.clone(), kind];
                let names = names.into_iter().chain(found.short_names.iter().cloned()).collect();
                (found.resource.group_resource(), names)
            }),
        )
    }
}
