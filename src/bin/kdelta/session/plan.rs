//! From what is asked for, and what is known of a cluster at the moment, to the parts that this comes to. Pure.

use std::collections::BTreeSet;
use std::sync::Arc;

use kdelta::api::{Discovered, Missing};
use kdelta::object::ApiResource;

use super::Part;
use crate::settings::{Namespaces, Pattern, Selection, Types};

/// What is asked for of one cluster. It is told what there is, and says which parts that comes to.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The parts are made from this one.
    template: Part,
    /// What words named, with the names asked for.
    named: Vec<(Arc<ApiResource>, Vec<String>)>,
    /// What is_included for types that come and go.
    open: Vec<Types>,
    /// Categories, which stand for such types, too.
    categories: Vec<String>,
    /// Whether `--all-kinds` is only what lives in namespaces.
    is_bound: bool,
    /// What the open types come to at the moment.
    kinds: Vec<Arc<ApiResource>>,
    scope: Scope,
    /// The namespaces that are there and whose labels match; `None` until they are known.
    live: Option<BTreeSet<Arc<str>>>,
    /// Whether they can't be listed any more; those that were known before stay so.
    unlistable: bool,
    /// What may not be asked for in all namespaces at once, and so is asked for in each.
    split: Vec<Arc<ApiResource>>,
}

/// A part, and how it came to be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedPart {
    pub(crate) part: Part,
    /// Nobody named its type: it may be gone tomorrow.
    pub(crate) open_type: bool,
    /// Nobody named its namespace.
    pub(crate) open_namespace: bool,
}

/// What remains of a plan when the namespaces can't be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemainingParts {
    /// All but the types that were to be asked for in each namespace.
    AllButSplit,
    /// What is in the namespaces that are known or named, and what lives in none.
    Known,
    /// There is no part, and there will be none.
    Nothing,
}

#[derive(Debug)]
enum Scope {
    All,
    These(Vec<Arc<str>>),
    Matching { always: Vec<Arc<str>>, patterns: Vec<Pattern> },
}

/// Groups that serve the objects of another one under the same plural: the first is left out where the second has it.
const DUPLICATE_GROUPS: &[(&str, &str)] = &[
    ("events.k8s.io", ""),
    ("extensions", "apps"),
    ("extensions", "networking.k8s.io"),
    ("extensions", "policy"),
    ("authorization.openshift.io", "rbac.authorization.k8s.io"),
];

impl Plan {
    /// A plan that knows what the words mean, and nothing else. `template` says which cluster, and which namespace where
    /// none is asked for.
    ///
    /// # Errors
    /// Names in all namespaces.
    pub(super) fn new(
        template: Part,
        selection: &Selection,
        named: Vec<(Arc<ApiResource>, Vec<String>)>,
    ) -> anyhow::Result<Self> {
        let all = |names: &[String]| names.iter().map(|name| Arc::from(name.as_str())).collect();
        let scope = match &selection.namespaces {
            Namespaces::All => Scope::All,
            Namespaces::Current => Scope::These(vec![Arc::clone(&template.namespace)]),
            Namespaces::Named(these) => Scope::These(all(these)),
            Namespaces::Matching { always, patterns, .. } => {
                Scope::Matching { always: all(always), patterns: patterns.clone() }
            }
        };
        if matches!(scope, Scope::All)
            && named.iter().any(|(resource, names)| resource.namespaced && !names.is_empty())
        {
            anyhow::bail!("a resource cannot be retrieved by name across all namespaces");
        }
        let types = selection.targets.iter().map(|target| &target.types);
        Ok(Self {
            template,
            named,
            open: types.filter(|types| types.is_open()).cloned().collect(),
            categories: Vec::new(),
            is_bound: !matches!(selection.namespaces, Namespaces::All | Namespaces::Current),
            kinds: Vec::new(),
            scope,
            live: None,
            unlistable: false,
            split: Vec::new(),
        })
    }

    /// An earlier plan for the same was made of what is no longer so. What it has learned of namespaces still holds.
    pub(super) fn carry_over(&mut self, earlier: &Self) {
        self.live.clone_from(&earlier.live);
        self.unlistable = earlier.unlistable;
        let is_split =
            |kind: &&Arc<ApiResource>| earlier.split.iter().any(|other| is_same_resource(other, kind));
        self.split = self.resources().filter(is_split).cloned().collect();
    }

    /// What is in this category is asked for, too, whenever it comes.
    pub(super) fn follow_category(&mut self, word: &str) {
        self.categories.push(word.to_owned());
    }

    /// Whether it has to be told which types there are.
    pub(super) fn needs_kinds(&self) -> bool {
        !self.open.is_empty() || !self.categories.is_empty()
    }

    /// Whether it has to be told which namespaces there are.
    pub(super) fn needs_namespaces(&self) -> bool {
        matches!(self.scope, Scope::Matching { .. }) || !self.split.is_empty()
    }

    /// Whether more parts may come than there are: of types nobody named, or in namespaces that match or are asked one
    /// by one.
    pub(super) fn is_open(&self) -> bool {
        self.needs_kinds() || (self.needs_namespaces() && !self.unlistable)
    }

    /// Whether its parts are all that there are at the moment.
    pub(super) fn is_settled(&self) -> bool {
        self.live.is_some() || !self.needs_namespaces()
    }

    /// These namespaces are there now, with the labels asked for.
    pub(super) fn update_namespaces(&mut self, live: BTreeSet<Arc<str>>) {
        self.live = Some(live);
    }

    /// This is what the server offers now, in the order of preference, and what of it could not be asked. A type stays
    /// in the version it is known in for as long as that is served, and what could not be asked stays.
    pub(super) fn update_kinds(&mut self, offered: &[Discovered], missing: &[Missing]) {
        let known = std::mem::take(&mut self.kinds);
        for found in offered.iter().filter(|found| found.can("list") && found.can("watch")) {
            let resource = &found.resource;
            if self.kinds.iter().any(|kind| is_same_resource(kind, resource))
                || !self.includes(found, offered)
            {
                continue;
            }
            let in_use = known.iter().find(|kind| is_same_resource(kind, resource));
            let served = |kind: &&Arc<ApiResource>| offered.iter().any(|other| other.resource == ***kind);
            let kind = in_use.filter(served).cloned().unwrap_or_else(|| Arc::new(resource.clone()));
            self.kinds.push(kind);
        }
        for kind in known {
            let may_be_there = missing.iter().any(|missing| may_contain(missing, &kind));
            if may_be_there && !self.kinds.iter().any(|other| is_same_resource(other, &kind)) {
                self.kinds.push(kind);
            }
        }
        // One that comes again may be allowed by then, and those that never come again would stay for ever.
        let split = std::mem::take(&mut self.split);
        let is_there = |split: &Arc<ApiResource>| self.resources().any(|resource| resource == split);
        self.split = split.into_iter().filter(is_there).collect();
    }

    /// The first pattern of types that matches none at the moment.
    pub(super) fn unmatched(&self) -> Option<&str> {
        self.open.iter().find_map(|types| match types {
            Types::Matching { text, .. } if !self.kinds.iter().any(|kind| matches_type(types, kind)) => {
                Some(text.as_str())
            }
            _ => None,
        })
    }

    /// A type may not be asked for in all namespaces at once: from now on it is asked for in each. `false` where that
    /// is no way out.
    pub(super) fn split_by_namespace(&mut self, part: &Part) -> bool {
        let can_split = matches!(self.scope, Scope::All)
            && part.resource.namespaced
            && part.namespace.is_empty()
            && !self.unlistable
            && !self.split.contains(&part.resource);
        if can_split {
            self.split.push(Arc::clone(&part.resource));
        }
        can_split
    }

    /// Whether it is asked for in each namespace instead.
    pub(super) fn is_split(&self, part: &Part) -> bool {
        self.split.contains(&part.resource)
    }

    /// The objects that are asked for by name in whatever namespaces match, where those are known; their own namespace is
    /// empty.
    pub(super) fn named_in_matching(&self) -> Vec<Part> {
        if !matches!(self.scope, Scope::Matching { .. }) || self.unlistable {
            return Vec::new();
        }
        let mut found: Vec<Part> = Vec::new();
        for (resource, names) in self.named.iter().filter(|(resource, _)| resource.namespaced) {
            let is_whole =
                |(other, names): &(Arc<ApiResource>, Vec<String>)| other == resource && names.is_empty();
            for name in names.iter().filter(|_| !self.named.iter().any(is_whole)) {
                let part = self.part(resource, &"".into(), Some(Arc::from(name.as_str())));
                if !found.contains(&part) {
                    found.push(part);
                }
            }
        }
        found
    }

    /// The namespaces can't be listed, or not any more. That says nothing of those that are known, nor of those that
    /// were named: what is asked for there is asked for still.
    pub(super) fn give_up_namespaces(&mut self) -> RemainingParts {
        self.unlistable = true;
        if self.live.is_none() {
            self.live = Some(BTreeSet::new());
            if !self.split.is_empty() {
                return RemainingParts::AllButSplit;
            }
        }
        let may_name = match &self.scope {
            Scope::All | Scope::These(_) => true,
            Scope::Matching { always, .. } => !always.is_empty(),
        };
        if may_name || !self.parts().is_empty() { RemainingParts::Known } else { RemainingParts::Nothing }
    }

    /// The types asked for, as far as they are known.
    pub(super) fn resources(&self) -> impl Iterator<Item = &Arc<ApiResource>> {
        self.named.iter().map(|(resource, _)| resource).chain(&self.kinds)
    }

    /// The parts, each once: types in the order asked for, namespaces inside a type, names inside a namespace. One
    /// name is no part of its own where its whole collection is one.
    pub(super) fn parts(&self) -> Vec<PlannedPart> {
        let mut parts: Vec<PlannedPart> = Vec::new();
        // The sets are for large plans; the order is that of the vector.
        let mut seen = BTreeSet::new();
        let named = self.named.iter().map(|(resource, names)| (resource, names.as_slice(), false));
        let open = self.kinds.iter().map(|resource| (resource, &[][..], true));
        for (resource, names, open_type) in named.chain(open) {
            for (namespace, open_namespace) in self.scopes(resource) {
                let of_type = (&resource.group, &resource.version, &resource.resource);
                let mut add = |name: Option<Arc<str>>| {
                    if seen.insert((of_type, Arc::clone(&namespace), name.clone())) {
                        let part = self.part(resource, &namespace, name);
                        parts.push(PlannedPart { part, open_type, open_namespace });
                    }
                };
                if names.is_empty() {
                    add(None);
                }
                for name in names {
                    add(Some(Arc::from(name.as_str())));
                }
            }
        }
        parts.retain(|PlannedPart { part, .. }| {
            let of_type = (&part.resource.group, &part.resource.version, &part.resource.resource);
            part.name.is_none() || !seen.contains(&(of_type, Arc::clone(&part.namespace), None))
        });
        parts
    }

    /// Where a type is to be asked for, and whether nobody named the place. The empty namespace is all of them, or none.
    fn scopes(&self, resource: &ApiResource) -> Vec<(Arc<str>, bool)> {
        let live = || self.live.iter().flatten().cloned();
        match &self.scope {
            _ if !resource.namespaced => vec![("".into(), false)],
            Scope::All if self.split.iter().any(|split| **split == *resource) => {
                live().map(|namespace| (namespace, true)).collect()
            }
            Scope::All => vec![("".into(), false)],
            Scope::These(names) => names.iter().map(|name| (Arc::clone(name), false)).collect(),
            Scope::Matching { always, patterns } => {
                let matches = |name: &Arc<str>| {
                    patterns.iter().any(|pattern| pattern.matches(name)) && !always.contains(name)
                };
                let fixed = always.iter().map(|name| (Arc::clone(name), false));
                fixed.chain(live().filter(matches).map(|name| (name, true))).collect()
            }
        }
    }

    fn part(&self, resource: &Arc<ApiResource>, namespace: &Arc<str>, name: Option<Arc<str>>) -> Part {
        Part {
            resource: Arc::clone(resource),
            namespace: Arc::clone(namespace),
            name,
            ..self.template.clone()
        }
    }

    /// Whether one of the open types is_included for it, of all that the server offers.
    fn includes(&self, found: &Discovered, offered: &[Discovered]) -> bool {
        let resource = &found.resource;
        let is_named =
            self.named.iter().any(|(named, names)| names.is_empty() && is_same_resource(named, resource));
        let is_included = |types: &Types| match types {
            Types::All => {
                !is_excluded(resource)
                    && !has_duplicate(resource, offered)
                    && (resource.namespaced || !self.is_bound)
            }
            Types::Matching { group: Some(group), .. } if group.is_plain() => matches_type(types, resource),
            Types::Matching { .. } => matches_type(types, resource) && !has_duplicate(resource, offered),
            Types::Word(_) => false,
        };
        let is_member = found.categories.iter().any(|category| self.categories.contains(category));
        !is_named && (is_member || self.open.iter().any(is_included))
    }
}

/// Whether it is the same resource, perhaps in another version.
fn is_same_resource(one: &ApiResource, other: &ApiResource) -> bool {
    one.group == other.group && one.resource == other.resource
}

fn may_contain(missing: &Missing, kind: &ApiResource) -> bool {
    let Missing { group, version, .. } = missing;
    match (group.is_empty(), version.is_empty()) {
        (true, true) => true,
        (false, true) => *group == kind.group,
        (_, false) => *group == kind.group && *version == kind.version,
    }
}

fn matches_type(types: &Types, resource: &ApiResource) -> bool {
    match types {
        Types::Matching { plural, group, .. } => {
            plural.matches(&resource.resource)
                && group.as_ref().is_none_or(|group| group.matches(&resource.group))
        }
        Types::All => true,
        Types::Word(_) => false,
    }
}

/// What everybody makes and nobody includes to see among the rest: events and leases come several times a minute, and
/// metrics are no objects that are kept.
fn is_excluded(resource: &ApiResource) -> bool {
    let is_metric = resource.group == "metrics.k8s.io" || resource.group.ends_with(".metrics.k8s.io");
    is_metric
        || matches!(
            (resource.group.as_str(), resource.resource.as_str()),
            ("" | "events.k8s.io", "events") | ("coordination.k8s.io", "leases")
        )
}

fn has_duplicate(resource: &ApiResource, offered: &[Discovered]) -> bool {
    DUPLICATE_GROUPS.iter().filter(|(left_out, _)| *left_out == resource.group).any(|(_, kept)| {
        let is_duplicate = |found: &Discovered| {
            found.resource.group == *kept && found.resource.resource == resource.resource
        };
        offered.iter().any(is_duplicate)
    })
}

#[cfg(test)]
mod tests;
