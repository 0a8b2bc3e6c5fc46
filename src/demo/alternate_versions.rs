//! Alternate versions of stored resources: the same objects in another group or version. Cluster browsers request them
//! by name. They can be read and deleted, as discovery reports; they are written only in their stored version.

use std::sync::Arc;

use super::kinds;
use crate::server::alternate_versions::{self, group_events, old_autoscalers};
use crate::server::source::{Kind, KindId};

/// The verbs of an alternate version.
const VERBS: [&str; 5] = ["delete", "deletecollection", "get", "list", "watch"];

/// Returns all alternate versions, each with the number of its stored resource.
fn all() -> [(KindId, Kind); 2] {
    [(kinds::EVENTS, group_events(&VERBS)), (kinds::AUTOSCALERS, old_autoscalers(&VERBS))]
}

/// Returns the alternate version with this group, version and plural.
pub(super) fn find(group: &str, version: &str, plural: &str) -> Option<(KindId, Arc<Kind>)> {
    let is_match = |kind: &Kind| kind.group == group && kind.version == version && kind.plural == plural;
    all().into_iter().find(|(_, kind)| is_match(kind)).map(|(id, kind)| (id, Arc::new(kind)))
}

/// Inserts the alternate versions into the stored resources, in the order in which discovery lists their groups.
pub(super) fn insert_into(mut stored: Vec<Arc<Kind>>) -> Vec<Arc<Kind>> {
    for (_, kind) in all() {
        alternate_versions::insert(&mut stored, Arc::new(kind));
    }
    stored
}

/// Returns the alternate versions, for enumerations of all resources.
#[cfg(test)]
pub(super) fn kinds() -> impl Iterator<Item = Kind> {
    all().into_iter().map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alternate_version_is_found_and_listed_after_its_group() {
        let (id, kind) = find("events.k8s.io", "v1", "events").expect("events");
        assert_eq!((id, kind.conversion.is_some()), (kinds::EVENTS, true));
        assert_eq!(find("events.k8s.io", "v1", "pods"), None);
        let served = insert_into(kinds::built_in().map(Arc::new).collect());
        let versions: Vec<_> = served.iter().map(|kind| kind.api_version()).collect();
        let index = |version: &str| versions.iter().position(|own| own == version).expect("it is served");
        assert_eq!(index("autoscaling/v1"), index("autoscaling/v2") + 1);
        assert!(index("apps/v1") < index("events.k8s.io/v1"));
        assert!(served.iter().filter(|kind| kind.conversion.is_some()).all(|kind| kind.verbs == VERBS));
    }
}
