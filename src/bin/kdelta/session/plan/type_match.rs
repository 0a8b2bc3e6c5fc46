//! The types that patterns and `--all-kinds` match.

use kdelta::object::ApiResource;
use kdelta::wire::{DiscoveredResource, UnavailableGroup};

use crate::settings::Types;

/// Pairs of groups that serve the same objects under the same plural: the first is skipped if the second has the
/// resource.
const DUPLICATE_GROUPS: &[(&str, &str)] = &[
    ("events.k8s.io", ""),
    ("extensions", "apps"),
    ("extensions", "networking.k8s.io"),
    ("extensions", "policy"),
    ("authorization.openshift.io", "rbac.authorization.k8s.io"),
];

/// Whether both are the same resource, ignoring the version.
pub(super) fn is_same_resource(left: &ApiResource, right: &ApiResource) -> bool {
    left.group == right.group && left.resource == right.resource
}

/// Whether the type may belong to a group whose discovery failed.
pub(super) fn may_contain(missing: &UnavailableGroup, kind: &ApiResource) -> bool {
    let UnavailableGroup { group, version, .. } = missing;
    match (group.is_empty(), version.is_empty()) {
        (true, true) => true,
        (false, true) => *group == kind.group,
        (_, false) => *group == kind.group && *version == kind.version,
    }
}

/// Whether a type pattern matches the type.
pub(super) fn matches_type(types: &Types, resource: &ApiResource) -> bool {
    match types {
        Types::Matching { plural, group, .. } => {
            plural.matches(&resource.resource)
                && group.as_ref().is_none_or(|group| group.matches(&resource.group))
        }
        Types::All => true,
        Types::Word(_) => false,
    }
}

/// Whether `--all-kinds` and patterns skip a type: events and leases change several times a minute, and metrics are not
/// stored objects.
pub(super) fn is_excluded(resource: &ApiResource) -> bool {
    let is_metric = resource.group == "metrics.k8s.io" || resource.group.ends_with(".metrics.k8s.io");
    is_metric
        || matches!(
            (resource.group.as_str(), resource.resource.as_str()),
            ("" | "events.k8s.io", "events") | ("coordination.k8s.io", "leases")
        )
}

/// Whether another group serves the same objects, so that patterns skip the type.
pub(super) fn has_duplicate(resource: &ApiResource, offered: &[DiscoveredResource]) -> bool {
    DUPLICATE_GROUPS.iter().filter(|(left_out, _)| *left_out == resource.group).any(|(_, kept)| {
        let is_duplicate = |found: &DiscoveredResource| {
            found.resource.group == *kept && found.resource.resource == resource.resource
        };
        offered.iter().any(is_duplicate)
    })
}
