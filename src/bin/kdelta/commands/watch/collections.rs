//! Which parts are one collection to the reader: the names of a resource in a namespace are watched one by one, and told
//! as one.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use kdelta::object::{ApiResource, ResourceVersion};

use crate::session::Part;

/// The collections that the parts of a stream belong to.
#[derive(Default)]
pub(super) struct Collections {
    /// For each part its collection, and whether that still waits for it.
    parts: HashMap<usize, (Id, bool)>,
    all: HashMap<Id, Collection>,
}

/// Which cluster, which resource, which namespace.
type Id = (usize, Arc<ApiResource>, Arc<str>);

#[derive(Default)]
struct Collection {
    parts: usize,
    waits_for: usize,
    /// The oldest version that a part was listed at: nothing is said of what came after it.
    version: Option<ResourceVersion>,
    /// Its sync has been told, which is told once.
    told: bool,
}

impl Collections {
    /// A part joins, not synced. The parts of one collection join before any of them has synced; only one that has left
    /// and comes again may be later.
    pub(super) fn join(&mut self, place: usize, part: &Part) {
        let id = (part.cluster, Arc::clone(&part.resource), Arc::clone(&part.namespace));
        let collection = self.all.entry(id.clone()).or_default();
        collection.parts += 1;
        collection.waits_for += 1;
        self.parts.insert(place, (id, true));
    }

    /// A part leaves: when it comes again it is told anew.
    pub(super) fn leave(&mut self, place: usize) {
        let Some((id, waited_for)) = self.parts.remove(&place) else { return };
        let Some(collection) = self.all.get_mut(&id) else { return };
        collection.parts -= 1;
        collection.waits_for -= usize::from(waited_for);
        if collection.parts == 0 {
            self.all.remove(&id);
        }
    }

    /// Whether a part is all of its collection, so that what is said of the one holds for the other.
    pub(super) fn is_whole(&self, place: usize) -> bool {
        let collection = self.parts.get(&place).and_then(|(id, _)| self.all.get(id));
        collection.is_some_and(|collection| collection.parts == 1)
    }

    /// A part has synced: answers the version of its collection if that has now synced, too.
    pub(super) fn synced(&mut self, place: usize, version: &ResourceVersion) -> Option<ResourceVersion> {
        let collection = self.all.get_mut(&self.parts.get(&place)?.0)?;
        let is_older = |than: &ResourceVersion| version.compare(than) == Ok(Ordering::Less);
        if collection.version.as_ref().is_none_or(is_older) {
            collection.version = Some(version.clone());
        }
        self.settled(place)
    }

    /// A part has ended: answers the version of its collection if that waited for nothing else.
    pub(super) fn ended(&mut self, place: usize) -> Option<ResourceVersion> {
        self.settled(place)
    }

    fn settled(&mut self, place: usize) -> Option<ResourceVersion> {
        let (id, waited_for) = self.parts.get_mut(&place)?;
        if !std::mem::take(waited_for) {
            return None;
        }
        let collection = self.all.get_mut(id)?;
        collection.waits_for -= 1;
        let version = collection.version.clone().filter(|_| collection.waits_for == 0 && !collection.told);
        collection.told |= version.is_some();
        version
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::part_fixtures::{resource, template};

    fn part(plural: &str, namespace: &str, name: &str) -> Part {
        let name = Some(name).filter(|name| !name.is_empty()).map(Arc::from);
        Part { resource: resource(plural), name, ..template(namespace) }
    }

    fn of(parts: &[Part]) -> Collections {
        let mut collections = Collections::default();
        for (place, part) in parts.iter().enumerate() {
            collections.join(place, part);
        }
        collections
    }

    #[test]
    fn whole_parts_sync_each_by_itself() {
        let elsewhere = Part { cluster: 1, ..part("pods", "a", "") };
        let parts = [part("pods", "a", ""), part("pods", "b", ""), part("secrets", "a", "x"), elsewhere];
        let mut collections = of(&parts);
        for (at, version) in ["7", "5", "9", "3"].into_iter().enumerate() {
            assert!(collections.is_whole(at));
            assert_eq!(collections.synced(at, &version.into()), Some(version.into()));
        }
    }

    #[test]
    fn names_have_synced_with_the_last_of_them_up_to_the_oldest_list() {
        let mut collections = of(&["x", "y", "z"].map(|name| part("pods", "a", name)));
        assert!((0..3).all(|at| !collections.is_whole(at)));
        assert_eq!(collections.synced(2, &"9".into()), None);
        assert_eq!(collections.synced(0, &"8".into()), None);
        assert_eq!(collections.synced(1, &"10".into()), Some("8".into()));
        assert_eq!(collections.ended(1), None);
    }

    #[test]
    fn a_name_that_ends_is_not_waited_for() {
        let mut collections = of(&["x", "y"].map(|name| part("pods", "a", name)));
        assert_eq!(collections.synced(0, &"8".into()), None);
        assert_eq!(collections.ended(1), Some("8".into()));
        let mut collections = of(&["x", "y"].map(|name| part("pods", "a", name)));
        assert_eq!(collections.ended(0), None);
        assert_eq!(collections.ended(1), None);
    }

    #[test]
    fn names_that_come_again_one_by_one_do_not_sync_again() {
        let name = |name| part("pods", "a", name);
        let mut collections = of(&["x", "y"].map(name));
        assert_eq!(collections.synced(0, &"7".into()), None);
        assert_eq!(collections.synced(1, &"8".into()), Some("7".into()));
        collections.leave(0);
        collections.join(2, &name("x"));
        assert_eq!(collections.synced(2, &"9".into()), None, "it has synced before");
        collections.leave(1);
        collections.leave(2);
        collections.join(3, &name("x"));
        assert_eq!(collections.synced(3, &"10".into()), Some("10".into()), "all of it was gone");
        collections.join(4, &name("y"));
        assert_eq!(collections.synced(4, &"11".into()), None);
        assert_eq!(collections.ended(4), None);
    }

    #[test]
    fn what_left_and_comes_again_syncs_anew() {
        let mut collections = of(&[part("pods", "a", "")]);
        assert_eq!(collections.synced(0, &"8".into()), Some("8".into()));
        collections.leave(0);
        assert_eq!(collections.synced(0, &"9".into()), None, "a part that is gone");
        collections.join(1, &part("pods", "a", ""));
        assert!(collections.is_whole(1));
        assert_eq!(collections.synced(1, &"9".into()), Some("9".into()));
        assert!(collections.all.len() == 1 && collections.parts.len() == 1, "nothing is kept of what left");
    }
}
