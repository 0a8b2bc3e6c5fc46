//! The types of a plan that type patterns, `--all-kinds` and categories match, among those that the server serves.

use std::sync::Arc;

use kdelta::object::ApiResource;
use kdelta::wire::{DiscoveredResource, UnavailableGroup};

use super::Plan;
use super::type_match::{has_duplicate, is_excluded, is_same_resource, matches_type, may_contain};
use crate::settings::Types;

impl Plan {
    /// Replaces the types that the server serves, given in order of preference. A known type keeps its version while
    /// the server serves it. A type stays while the discovery of its group fails.
    pub(in crate::session) fn update_kinds(
        &mut self,
        offered: &[DiscoveredResource],
        missing: &[UnavailableGroup],
    ) {
        for awaited in &mut self.awaited_types {
            awaited.update(offered, missing);
        }
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
    pub(in crate::session) fn unmatched(&self) -> Option<&str> {
        self.type_patterns.iter().find_map(|types| match types {
            Types::Matching { text, .. }
                if !self.matched_types.iter().any(|kind| matches_type(types, kind)) =>
            {
                Some(text.as_str())
            }
            _ => None,
        })
    }

    /// Whether a type pattern or category includes a type, given all types that the server serves.
    fn includes(&self, found: &DiscoveredResource, offered: &[DiscoveredResource]) -> bool {
        let resource = &found.resource;
        let is_named = self
            .served_by_name()
            .any(|(named, names, _)| names.is_collection() && is_same_resource(named, resource));
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
