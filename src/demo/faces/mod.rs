//! Stored resources that have a second face: the same objects in another group or version, in other words. Browsers of
//! clusters ask for these by name. They can be read and deleted, and discovery says so; they are written as they are stored.

mod autoscalers;
mod events;

use std::sync::Arc;

use serde_json::Value;

use super::kinds::{self, Kind};
use super::store::KindId;
use super::stored::Stored;

/// What can be done by such a face.
pub(super) const VERBS: [&str; 5] = ["delete", "deletecollection", "get", "list", "watch"];

/// Those that there are, each with the number of the resource that it is a face of.
fn all() -> [(KindId, Kind); 2] {
    [(kinds::EVENTS, events::kind()), (kinds::AUTOSCALERS, autoscalers::kind())]
}

/// The face of that group, version and plural.
pub(super) fn find(group: &str, version: &str, plural: &str) -> Option<(KindId, Arc<Kind>)> {
    let is_it = |kind: &Kind| kind.group == group && kind.version == version && kind.plural == plural;
    all().into_iter().find(|(_, kind)| is_it(kind)).map(|(id, kind)| (id, Arc::new(kind)))
}

/// The resources with the faces among them, in the order in which discovery names their groups.
pub(super) fn among(mut stored: Vec<Arc<Kind>>) -> Vec<Arc<Kind>> {
    for (_, kind) in all() {
        // Behind their own group, or where a real server's priorities put it.
        let before = if stored.iter().any(|own| own.group == kind.group) { &kind.group } else { "apps" };
        let place = stored.iter().rposition(|own| own.group == before).map_or(0, |last| last + 1);
        stored.insert(place, Arc::new(kind));
    }
    stored
}

/// The faces, for what is told of all resources.
#[cfg(test)]
pub(super) fn kinds() -> impl Iterator<Item = Kind> {
    all().into_iter().map(|(_, kind)| kind)
}

/// Whether a resource is one of them.
pub(super) fn is_one(kind: &Kind) -> bool {
    is_event(kind) || autoscalers::is_it(kind)
}

/// Whether a resource is the second face of events.
pub(super) fn is_event(kind: &Kind) -> bool {
    events::is_it(kind)
}

/// A stored object in the words of one of them.
pub(super) fn shown(kind: &Kind, stored: &Stored) -> Stored {
    let mut object = stored.value();
    reword(kind, &mut object);
    Stored::new(kind, object, stored.version)
}

/// From the words in which an object is stored into those of a face.
pub(super) fn reword(kind: &Kind, object: &mut Value) {
    if is_event(kind) {
        events::reword(object);
    } else {
        autoscalers::reword(object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_face_is_found_by_its_own_name_and_stands_behind_its_group() {
        let (id, kind) = find("events.k8s.io", "v1", "events").expect("events");
        assert_eq!((id, is_one(&kind), is_event(&kind)), (kinds::EVENTS, true, true));
        assert_eq!(find("events.k8s.io", "v1", "pods"), None);
        let served = among(kinds::built_in().map(Arc::new).collect());
        let versions: Vec<_> = served.iter().map(|kind| kind.api_version()).collect();
        let place = |version: &str| versions.iter().position(|own| own == version).expect("it is served");
        assert_eq!(place("autoscaling/v1"), place("autoscaling/v2") + 1);
        assert!(place("apps/v1") < place("events.k8s.io/v1"));
        assert!(served.iter().filter(|kind| is_one(kind)).all(|kind| kind.verbs() == VERBS));
    }
}
