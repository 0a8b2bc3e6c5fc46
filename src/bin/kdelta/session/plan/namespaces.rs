//! The namespaces of a plan: those that exist, and the types that are listed per namespace.

use std::collections::BTreeSet;
use std::sync::Arc;

use kdelta::object::ApiResource;

use super::requested_names::RequestedNames;
use super::{Plan, Scope};
use crate::session::Part;

/// The rest of a plan after listing namespaces fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum RemainingParts {
    /// All types except those that were to be listed per namespace.
    AllButSplit,
    /// The known and named namespaces, and cluster-scoped types.
    Known,
    /// No part, now or later.
    Nothing,
}

impl Plan {
    /// Replaces the existing namespaces, which are already selected by label.
    pub(in crate::session) fn update_namespaces(&mut self, existing_namespaces: BTreeSet<Arc<str>>) {
        self.existing_namespaces = Some(existing_namespaces);
    }

    /// Lists the part's type per namespace from now on, because listing it in all namespaces is forbidden. Returns
    /// whether that is possible.
    pub(in crate::session) fn split_by_namespace(&mut self, part: &Part) -> bool {
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
    pub(in crate::session) fn is_split(&self, part: &Part) -> bool {
        self.split_types.contains(&part.resource)
    }

    /// Returns the named objects that may be in any matching namespace, with an empty namespace; empty if namespaces
    /// can't be listed.
    pub(in crate::session) fn named_in_matching(&self) -> Vec<Part> {
        if !matches!(self.scope, Scope::Matching { .. }) || self.namespaces_unlistable {
            return Vec::new();
        }
        let mut found: Vec<Part> = Vec::new();
        for (resource, requested, _) in self.served_by_name().filter(|(resource, ..)| resource.namespaced) {
            let is_collection = |(other, requested, _): (&Arc<ApiResource>, &RequestedNames, bool)| {
                other == resource && requested.is_collection()
            };
            for name in requested.names.iter().filter(|_| !self.served_by_name().any(is_collection)) {
                let part = self.part(resource, &"".into(), Some(Arc::from(name.as_str())));
                if !found.contains(&part) {
                    found.push(part);
                }
            }
        }
        found
    }

    /// Records that namespaces can't be listed, or no longer. Known and named namespaces remain in the plan.
    pub(in crate::session) fn give_up_namespaces(&mut self) -> RemainingParts {
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
}
