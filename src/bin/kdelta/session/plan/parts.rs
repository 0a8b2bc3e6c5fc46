//! The parts of a plan, in the order in which the selection names them.

use std::collections::BTreeMap;
use std::sync::Arc;

use kdelta::object::ApiResource;

use super::requested_names::RequestedNames;
use super::{Plan, Scope};
use crate::session::Part;

/// A part and how the selection names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedPart {
    pub(crate) part: Part,
    /// Whether the type comes from a pattern or category, or was awaited, so that it may disappear.
    pub(crate) open_type: bool,
    /// Whether the namespace comes from a pattern or from splitting all namespaces.
    pub(crate) open_namespace: bool,
}

impl Plan {
    /// Returns the parts, ordered by type, namespace and name as requested: each once, or named objects as often as they
    /// are named. A named object, and the objects that match a pattern, are no part of their own if their whole
    /// collection is one.
    pub(in crate::session) fn parts(&self) -> Vec<PlannedPart> {
        self.ordered_parts(self.keeps_repeated_names)
    }

    /// Returns the parts, named objects as often as they are named.
    pub(in crate::session) fn parts_with_repetitions(&self) -> Vec<PlannedPart> {
        self.ordered_parts(true)
    }

    fn ordered_parts(&self, keeps_repeated_names: bool) -> Vec<PlannedPart> {
        let mut ordered = OrderedParts::default();
        let no_names = RequestedNames::default();
        let matched = self.matched_types.iter().map(|resource| (resource, &no_names, true));
        for (resource, requested, open_type) in self.served_by_name().chain(matched) {
            for (namespace, open_namespace) in self.scopes(resource) {
                let planned = |part| PlannedPart { part, open_type, open_namespace };
                for name in &requested.names {
                    let part = self.part(resource, &namespace, Some(Arc::from(name.as_str())));
                    ordered.request(resource, planned(part), keeps_repeated_names);
                }
                if requested.is_collection() || requested.patterns.is_some() {
                    let part = self.part(resource, &namespace, None);
                    let part = Part { patterns: requested.patterns.clone(), ..part };
                    ordered.request(resource, planned(part), false);
                }
            }
        }
        for part in &self.file_objects {
            let planned = PlannedPart { part: part.clone(), open_type: false, open_namespace: false };
            ordered.request(&part.resource, planned, keeps_repeated_names);
        }
        ordered.without_parts_of_collections()
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

    pub(super) fn part(
        &self,
        resource: &Arc<ApiResource>,
        namespace: &Arc<str>,
        name: Option<Arc<str>>,
    ) -> Part {
        Part {
            resource: Arc::clone(resource),
            namespace: Arc::clone(namespace),
            name,
            ..self.template.clone()
        }
    }
}

/// Parts in the order of their first requests.
#[derive(Default)]
struct OrderedParts<'a> {
    parts: Vec<PlannedPart>,
    /// The number of requests for each part. A map for large plans; the vector keeps the order.
    requests: BTreeMap<PartKey<'a>, usize>,
}

/// The type, the namespace, the name and the patterns of a part.
type PartKey<'a> = ((&'a str, &'a str, &'a str), Arc<str>, Option<Arc<str>>, Option<String>);

impl<'a> OrderedParts<'a> {
    /// Adds a part of this type, which was requested before only if it may be repeated.
    fn request(&mut self, resource: &'a ApiResource, planned: PlannedPart, may_repeat: bool) {
        let PlannedPart { part, open_type, open_namespace } = planned;
        let patterns = part.patterns.as_ref().map(|patterns| patterns.text());
        let key = (type_of(resource), Arc::clone(&part.namespace), part.name.clone(), patterns);
        let count = self.requests.entry(key).or_default();
        if *count == 0 || may_repeat {
            let part = Part { repetition: *count, ..part };
            self.parts.push(PlannedPart { part, open_type, open_namespace });
        }
        *count += 1;
    }

    /// Returns the parts without those whose whole collection is a part.
    fn without_parts_of_collections(self) -> Vec<PlannedPart> {
        let Self { mut parts, requests } = self;
        parts.retain(|PlannedPart { part, .. }| {
            let is_collection = part.name.is_none() && part.patterns.is_none();
            let collection = (type_of(&part.resource), Arc::clone(&part.namespace), None, None);
            is_collection || !requests.contains_key(&collection)
        });
        parts
    }
}

/// Returns the group, version and name of a type.
fn type_of(resource: &ApiResource) -> (&str, &str, &str) {
    (&resource.group, &resource.version, &resource.resource)
}
