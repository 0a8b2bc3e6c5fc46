//! Alternate versions of built-in resources: the same objects in another group or version, converted as they are written.
//! Cluster browsers request them by name.

mod autoscalers;
mod events;

use std::sync::Arc;

use super::source::Kind;

pub(crate) use autoscalers::old_autoscalers;
pub(crate) use events::{core_events, group_events};

/// Returns the alternate version of a stored resource, or `None` if it has none.
pub(crate) fn of(group: &str, version: &str, plural: &str, verbs: &'static [&'static str]) -> Option<Kind> {
    match (group, version, plural) {
        ("", "v1", "events") => Some(group_events(verbs)),
        ("events.k8s.io", "v1", "events") => Some(core_events(verbs)),
        ("autoscaling", "v2", "horizontalpodautoscalers") => Some(old_autoscalers(verbs)),
        _ => None,
    }
}

/// Inserts an alternate version into the resources of discovery.
pub(crate) fn insert(kinds: &mut Vec<Arc<Kind>>, kind: Arc<Kind>) {
    // After their own group, or at the position that a real server's priorities give them.
    let before = if kinds.iter().any(|own| own.group == kind.group) { kind.group.as_str() } else { "apps" };
    let last = kinds.iter().rposition(|own| own.group == before);
    let index = match last {
        Some(last) => last + 1,
        None if kind.group.is_empty() => 0,
        None => kinds.len(),
    };
    kinds.insert(index, kind);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::memory_source::core;

    #[test]
    fn alternate_versions_are_listed_after_their_groups() {
        let listed = |groups: &[&str], kind: Kind| -> Vec<String> {
            let own = |group: &&str| Arc::new(Kind { group: (*group).to_owned(), ..core("all", "All") });
            let mut kinds: Vec<_> = groups.iter().map(own).collect();
            insert(&mut kinds, Arc::new(kind));
            kinds.iter().map(|kind| kind.api_version()).collect()
        };
        assert_eq!(
            listed(&["", "apps", "batch"], group_events(&[])),
            ["v1", "apps/v1", "events.k8s.io/v1", "batch/v1"]
        );
        assert_eq!(listed(&["", "batch"], group_events(&[])), ["v1", "batch/v1", "events.k8s.io/v1"]);
        assert_eq!(listed(&["events.k8s.io"], core_events(&[])), ["v1", "events.k8s.io/v1"]);
        assert_eq!(listed(&["", "events.k8s.io"], core_events(&[])), ["v1", "v1", "events.k8s.io/v1"]);
    }

    #[test]
    fn each_alternate_version_is_another_version_of_the_stored_objects() {
        for names in [
            ["", "v1", "events"],
            ["events.k8s.io", "v1", "events"],
            ["autoscaling", "v2", "horizontalpodautoscalers"],
        ] {
            let [group, version, plural] = names;
            let kind = of(group, version, plural, &["get"]).expect("an alternate version");
            assert!(kind.conversion.is_some() && kind.plural == plural && kind.is_readable());
            assert_ne!((kind.group.as_str(), kind.version.as_str()), (group, version));
        }
        assert_eq!(of("", "v1", "pods", &[]), None);
    }
}
