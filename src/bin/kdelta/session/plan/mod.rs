//! The plan of one cluster: computes the parts from the selection and the types and namespaces known so far. No I/O.

mod name_patterns;
mod type_match;

pub(crate) use name_patterns::{MatchedPatterns, NamePatterns};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kdelta::object::ApiResource;
use kdelta::wire::{DiscoveredResource, UnavailableGroup};

use self::type_match::{has_duplicate, is_excluded, is_same_resource, matches_type, may_contain};
use super::Part;
use crate::settings::{Namespaces, Pattern, Selection, Types};

/// The requested types and namespaces of one cluster. The caller updates it with the types and namespaces that exist, and
/// reads the resulting parts.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The template that the parts are copied from.
    template: Part,
    /// The types given by name, each with the object names.
    named_types: Vec<(Arc<ApiResource>, RequestedNames)>,
    /// The objects that files name.
    file_objects: Vec<Part>,
    /// The type patterns, including `--all-kinds`, whose matches change over time.
    type_patterns: Vec<Types>,
    /// The categories, whose members change over time.
    categories: Vec<String>,
    /// Whether an object that is named twice has two parts.
    keeps_repeated_names: bool,
    /// Whether `--all-kinds` covers only namespaced types.
    namespaced_only: bool,
    /// The types that the patterns and categories match now.
    matched_types: Vec<Arc<ApiResource>>,
    scope: Scope,
    /// The only namespace of namespaced types, of all namespaces.
    required_namespace: Option<Arc<str>>,
    /// The existing namespaces with matching labels; `None` until they are listed.
    existing_namespaces: Option<BTreeSet<Arc<str>>>,
    /// Whether listing namespaces has failed. Namespaces known before remain.
    namespaces_unlistable: bool,
    /// The types that are listed per namespace, because listing them in all namespaces is forbidden.
    split_types: Vec<Arc<ApiResource>>,
}

/// The names of a type's requested objects. Without any, the whole collection is requested.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestedNames {
    names: Vec<String>,
    patterns: Option<Arc<NamePatterns>>,
}

impl RequestedNames {
    pub(super) fn new(names: Vec<String>, patterns: Vec<Pattern>) -> Self {
        let patterns = (!patterns.is_empty()).then(|| Arc::new(NamePatterns::new(patterns, names.clone())));
        Self { names, patterns }
    }

    fn is_collection(&self) -> bool {
        self.names.is_empty() && self.patterns.is_none()
    }
}

/// A part and how the selection names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedPart {
    pub(crate) part: Part,
    /// Whether the type comes from a pattern or category, so that it may disappear.
    pub(crate) open_type: bool,
    /// Whether the namespace comes from a pattern or from splitting all namespaces.
    pub(crate) open_namespace: bool,
}

/// The rest of a plan after listing namespaces fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemainingParts {
    /// All types except those that were to be listed per namespace.
    AllButSplit,
    /// The known and named namespaces, and cluster-scoped types.
    Known,
    /// No part, now or later.
    Nothing,
}

#[derive(Debug)]
enum Scope {
    All,
    Named(Vec<Arc<str>>),
    Matching { always: Vec<Arc<str>>, patterns: Vec<Pattern> },
}

impl Plan {
    /// Creates a plan from the resolved names only. `template` gives the cluster and the default namespace.
    ///
    /// # Errors
    /// Names are combined with all namespaces.
    pub(super) fn new(
        template: Part,
        selection: &Selection,
        named: Vec<(Arc<ApiResource>, RequestedNames)>,
    ) -> anyhow::Result<Self> {
        let all = |names: &[String]| names.iter().map(|name| Arc::from(name.as_str())).collect();
        let scope = match &selection.namespaces {
            Namespaces::All => Scope::All,
            Namespaces::Current => Scope::Named(vec![Arc::clone(&template.namespace)]),
            Namespaces::Named(list) => Scope::Named(all(list)),
            Namespaces::Matching { always, patterns, .. } => {
                Scope::Matching { always: all(always), patterns: patterns.clone() }
            }
        };
        if matches!(scope, Scope::All)
            && named.iter().any(|(resource, requested)| resource.namespaced && !requested.names.is_empty())
        {
            anyhow::bail!("a resource cannot be retrieved by name across all namespaces");
        }
        let types = selection.targets.iter().map(|target| &target.types);
        Ok(Self {
            template,
            named_types: named,
            file_objects: Vec::new(),
            type_patterns: types.filter(|types| types.is_open()).cloned().collect(),
            categories: Vec::new(),
            keeps_repeated_names: selection.keeps_repeated_names,
            namespaced_only: !matches!(selection.namespaces, Namespaces::All | Namespaces::Current),
            matched_types: Vec::new(),
            scope,
            required_namespace: selection.required_namespace.as_deref().map(Arc::from),
            existing_namespaces: None,
            namespaces_unlistable: false,
            split_types: Vec::new(),
        })
    }

    /// Adds objects that files name.
    pub(super) fn with_objects(self, objects: Vec<Part>) -> Self {
        Self { file_objects: objects, ..self }
    }

    /// Copies the known namespaces and split types of an earlier plan for the same selection, whose types are outdated.
    pub(super) fn carry_over(&mut self, earlier: &Self) {
        self.existing_namespaces.clone_from(&earlier.existing_namespaces);
        self.namespaces_unlistable = earlier.namespaces_unlistable;
        let is_split =
            |kind: &&Arc<ApiResource>| earlier.split_types.iter().any(|other| is_same_resource(other, kind));
        self.split_types = self.resources().filter(is_split).cloned().collect();
    }

    /// Adds a category: its current and future members belong to the plan.
    pub(super) fn follow_category(&mut self, word: &str) {
        self.categories.push(word.to_owned());
    }

    /// Whether the plan depends on the list of types.
    pub(super) fn needs_kinds(&self) -> bool {
        !self.type_patterns.is_empty() || !self.categories.is_empty()
    }

    /// Whether the plan depends on the list of namespaces.
    pub(super) fn needs_namespaces(&self) -> bool {
        matches!(self.scope, Scope::Matching { .. }) || !self.split_types.is_empty()
    }

    /// Whether parts may be added later, for new types or new namespaces.
    pub(super) fn is_open(&self) -> bool {
        self.needs_kinds() || (self.needs_namespaces() && !self.namespaces_unlistable)
    }

    /// Whether the parts are complete for now.
    pub(super) fn is_settled(&self) -> bool {
        self.existing_namespaces.is_some() || !self.needs_namespaces()
    }

    /// Replaces the existing namespaces, which are already selected by label.
    pub(super) fn update_namespaces(&mut self, existing_namespaces: BTreeSet<Arc<str>>) {
        self.existing_namespaces = Some(existing_namespaces);
    }

    /// Replaces the types that the server serves, given in order of preference. A known type keeps its version while
    /// the server serves it. A type stays while the discovery of its group fails.
    pub(super) fn update_kinds(&mut self, offered: &[DiscoveredResource], missing: &[UnavailableGroup]) {
        let known = std::mem::take(&mut self.matched_types);
        for found in offered.iter().filter(|found| found.can("list") && found.can("watch")) {
            let resource = &found.resource;
            if self.matched_types.iter().any(|kind| is_same_resource(kind, resource))
                || !self.includes(found, offered)
            {
                continue;
            }
            let in_use = known.iter().find(|kind| is_same_resource(kind, resource));
            let served = |kind: &&Arc<ApiResource>| offered.iter().any(|other| other.resource == ***kind);
            let kind = in_use.filter(served).cloned().unwrap_or_else(|| Arc::new(resource.clone()));
            self.matched_types.push(kind);
        }
        for kind in known {
            let may_be_there = missing.iter().any(|missing| may_contain(missing, &kind));
            if may_be_there && !self.matched_types.iter().any(|other| is_same_resource(other, &kind)) {
                self.matched_types.push(kind);
            }
        }
        // Splits of deleted types are dropped: they would accumulate, and a type defined again may be allowed by then.
        let split = std::mem::take(&mut self.split_types);
        let is_there = |split: &Arc<ApiResource>| self.resources().any(|resource| resource == split);
        self.split_types = split.into_iter().filter(is_there).collect();
    }

    /// Returns the first type pattern without a match.
    pub(super) fn unmatched(&self) -> Option<&str> {
        self.type_patterns.iter().find_map(|types| match types {
            Types::Matching { text, .. }
                if !self.matched_types.iter().any(|kind| matches_type(types, kind)) =>
            {
                Some(text.as_str())
            }
            _ => None,
        })
    }

    /// Lists the part's type per namespace from now on, because listing it in all namespaces is forbidden. Returns
    /// whether that is possible.
    pub(super) fn split_by_namespace(&mut self, part: &Part) -> bool {
        let can_split = matches!(self.scope, Scope::All)
            && part.resource.namespaced
            && part.namespace.is_empty()
            && !self.namespaces_unlistable
            && !self.split_types.contains(&part.resource);
        if can_split {
            self.split_types.push(Arc::clone(&part.resource));
        }
        can_split
    }

    /// Whether the part's type is listed per namespace instead.
    pub(super) fn is_split(&self, part: &Part) -> bool {
        self.split_types.contains(&part.resource)
    }

    /// Returns the named objects that may be in any matching namespace, with an empty namespace; empty if namespaces
    /// can't be listed.
    pub(super) fn named_in_matching(&self) -> Vec<Part> {
        if !matches!(self.scope, Scope::Matching { .. }) || self.namespaces_unlistable {
            return Vec::new();
        }
        let mut found: Vec<Part> = Vec::new();
        for (resource, requested) in self.named_types.iter().filter(|(resource, _)| resource.namespaced) {
            let is_collection = |(other, requested): &(Arc<ApiResource>, RequestedNames)| {
                other == resource && requested.is_collection()
            };
            for name in requested.names.iter().filter(|_| !self.named_types.iter().any(is_collection)) {
                let part = self.part(resource, &"".into(), Some(Arc::from(name.as_str())));
                if !found.contains(&part) {
                    found.push(part);
                }
            }
        }
        found
    }

    /// Records that namespaces can't be listed, or no longer. Known and named namespaces remain in the plan.
    pub(super) fn give_up_namespaces(&mut self) -> RemainingParts {
        self.namespaces_unlistable = true;
        if self.existing_namespaces.is_none() {
            self.existing_namespaces = Some(BTreeSet::new());
            if !self.split_types.is_empty() {
                return RemainingParts::AllButSplit;
            }
        }
        let may_name = match &self.scope {
            Scope::All | Scope::Named(_) => true,
            Scope::Matching { always, .. } => !always.is_empty(),
        };
        if may_name || !self.parts().is_empty() { RemainingParts::Known } else { RemainingParts::Nothing }
    }

    /// Returns the requested types known so far.
    pub(super) fn resources(&self) -> impl Iterator<Item = &Arc<ApiResource>> {
        let of_objects = self.file_objects.iter().map(|part| &part.resource);
        self.named_types.iter().map(|(resource, _)| resource).chain(&self.matched_types).chain(of_objects)
    }

    /// Returns the parts, ordered by type, namespace and name as requested: each once, or named objects as often as they
    /// are named. A named object, and the objects that match a pattern, are no part of their own if their whole
    /// collection is one.
    pub(super) fn parts(&self) -> Vec<PlannedPart> {
        self.ordered_parts(self.keeps_repeated_names)
    }

    /// Returns the parts, named objects as often as they are named.
    pub(super) fn parts_with_repetitions(&self) -> Vec<PlannedPart> {
        self.ordered_parts(true)
    }

    fn ordered_parts(&self, keeps_repeated_names: bool) -> Vec<PlannedPart> {
        let mut parts: Vec<PlannedPart> = Vec::new();
        // A map for large plans; the vector keeps the order. Counts how often each part is requested.
        let mut seen: BTreeMap<_, usize> = BTreeMap::new();
        let no_names = RequestedNames::default();
        let named = self.named_types.iter().map(|(resource, requested)| (resource, requested, false));
        let matched = self.matched_types.iter().map(|resource| (resource, &no_names, true));
        for (resource, requested, open_type) in named.chain(matched) {
            for (namespace, open_namespace) in self.scopes(resource) {
                let of_type = (&resource.group, &resource.version, &resource.resource);
                let mut add = |name: Option<Arc<str>>, patterns: Option<&Arc<NamePatterns>>| {
                    let text = patterns.map(|patterns| patterns.text());
                    let count =
                        seen.entry((of_type, Arc::clone(&namespace), name.clone(), text)).or_default();
                    if *count == 0 || (keeps_repeated_names && name.is_some()) {
                        let part = self.part(resource, &namespace, name);
                        let part = Part { repetition: *count, patterns: patterns.cloned(), ..part };
                        parts.push(PlannedPart { part, open_type, open_namespace });
                    }
                    *count += 1;
                };
                for name in &requested.names {
                    add(Some(Arc::from(name.as_str())), None);
                }
                if requested.is_collection() || requested.patterns.is_some() {
                    add(None, requested.patterns.as_ref());
                }
            }
        }
        for part in &self.file_objects {
            let of_type = (&part.resource.group, &part.resource.version, &part.resource.resource);
            let count =
                seen.entry((of_type, Arc::clone(&part.namespace), part.name.clone(), None)).or_default();
            if *count == 0 || keeps_repeated_names {
                let part = Part { repetition: *count, ..part.clone() };
                parts.push(PlannedPart { part, open_type: false, open_namespace: false });
            }
            *count += 1;
        }
        parts.retain(|PlannedPart { part, .. }| {
            let of_type = (&part.resource.group, &part.resource.version, &part.resource.resource);
            let is_collection = part.name.is_none() && part.patterns.is_none();
            is_collection || !seen.contains_key(&(of_type, Arc::clone(&part.namespace), None, None))
        });
        parts
    }

    /// Returns the namespaces of a type, each with whether it comes from a pattern. An empty namespace means all
    /// namespaces or a cluster-scoped type.
    fn scopes(&self, resource: &ApiResource) -> Vec<(Arc<str>, bool)> {
        let existing_namespaces = || self.existing_namespaces.iter().flatten().cloned();
        match &self.scope {
            _ if !resource.namespaced => vec![("".into(), false)],
            Scope::All if self.required_namespace.is_some() => {
                self.required_namespace.iter().map(|namespace| (Arc::clone(namespace), false)).collect()
            }
            Scope::All if self.split_types.iter().any(|split| **split == *resource) => {
                existing_namespaces().map(|namespace| (namespace, true)).collect()
            }
            Scope::All => vec![("".into(), false)],
            Scope::Named(names) => names.iter().map(|name| (Arc::clone(name), false)).collect(),
            Scope::Matching { always, patterns } => {
                let matches = |name: &Arc<str>| {
                    patterns.iter().any(|pattern| pattern.matches(name)) && !always.contains(name)
                };
                let fixed = always.iter().map(|name| (Arc::clone(name), false));
                fixed.chain(existing_namespaces().filter(matches).map(|name| (name, true))).collect()
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

    /// Whether a type pattern or category includes a type, given all types that the server serves.
    fn includes(&self, found: &DiscoveredResource, offered: &[DiscoveredResource]) -> bool {
        let resource = &found.resource;
        let is_named = self
            .named_types
            .iter()
            .any(|(named, names)| names.is_collection() && is_same_resource(named, resource));
        let is_included = |types: &Types| match types {
            Types::All => {
                !is_excluded(resource)
                    && !has_duplicate(resource, offered)
                    && (resource.namespaced || !self.namespaced_only)
            }
            Types::Matching { group: Some(group), .. } if group.is_plain() => matches_type(types, resource),
            Types::Matching { .. } => matches_type(types, resource) && !has_duplicate(resource, offered),
            Types::Word(_) => false,
        };
        let is_member = found.categories.iter().any(|category| self.categories.contains(category));
        !is_named && (is_member || self.type_patterns.iter().any(is_included))
    }
}

#[cfg(test)]
mod tests;
