//! Grouping of parts into collections: the named objects of a resource in a namespace are watched one by one but synced
//! and reported as one collection.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use kdelta::object::{ApiResource, ResourceVersion};

use crate::session::Part;

/// The collections that the parts of a stream belong to.
#[derive(Default)]
pub(super) struct Collections {
    /// The collection of each part, and whether the collection still waits for it.
    parts: HashMap<usize, (CollectionKey, bool)>,
    all: HashMap<CollectionKey, Collection>,
}

/// Cluster, resource and namespace.
type CollectionKey = (usize, Arc<ApiResource>, Arc<str>);

#[derive(Default)]
struct Collection {
    parts: usize,
    pending: usize,
    /// The oldest version at which a part was listed: later changes may be missing.
    version: Option<ResourceVersion>,
    /// Whether the sync was reported, which happens once.
    is_synced_reported: bool,
}

impl Collections {
    /// Adds a part that is not synced. All parts of a collection are added before any of them syncs, except parts that
    /// were removed and added again.
    pub(super) fn add(&mut self, number: usize, part: &Part) {
        let id = (part.cluster, Arc::clone(&part.resource), Arc::clone(&part.namespace));
        let collection = self.all.entry(id.clone()).or_default();
        collection.parts += 1;
        collection.pending += 1;
        self.parts.insert(number, (id, true));
    }

    /// Removes a part. If its collection becomes empty, a later sync is reported again.
    pub(super) fn remove(&mut self, number: usize) {
        let Some((id, is_pending)) = self.parts.remove(&number) else { return };
        let Some(collection) = self.all.get_mut(&id) else { return };
        collection.parts -= 1;
        collection.pending -= usize::from(is_pending);
        if collection.parts == 0 {
            self.all.remove(&id);
        }
    }

    /// Whether the part is its whole collection.
    pub(super) fn is_whole(&self, number: usize) -> bool {
        let collection = self.parts.get(&number).and_then(|(id, _)| self.all.get(id));
        collection.is_some_and(|collection| collection.parts == 1)
    }

    /// Marks a part as synced. Returns the version of its collection if that is now synced too.
    pub(super) fn synced(&mut self, number: usize, version: &ResourceVersion) -> Option<ResourceVersion> {
        let collection = self.all.get_mut(&self.parts.get(&number)?.0)?;
        let is_older = |than: &ResourceVersion| version.compare(than) == Ok(Ordering::Less);
        if collection.version.as_ref().is_none_or(is_older) {
            collection.version = Some(version.clone());
        }
        self.finish_waiting(number)
    }

    /// Marks a part as ended. Returns the version of its collection if no other part is pending.
    pub(super) fn ended(&mut self, number: usize) -> Option<ResourceVersion> {
        self.finish_waiting(number)
    }

    fn finish_waiting(&mut self, number: usize) -> Option<ResourceVersion> {
        let (id, is_pending) = self.parts.get_mut(&number)?;
        if !std::mem::take(is_pending) {
            return None;
        }
        let collection = self.all.get_mut(id)?;
        collection.pending -= 1;
        let version =
            collection.version.clone().filter(|_| collection.pending == 0 && !collection.is_synced_reported);
        collection.is_synced_reported |= version.is_some();
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
        for (number, part) in parts.iter().enumerate() {
            collections.add(number, part);
        }
        collections
    }

    #[test]
    fn whole_collections_sync_separately() {
        let elsewhere = Part { cluster: 1, ..part("pods", "a", "") };
        let parts = [part("pods", "a", ""), part("pods", "b", ""), part("secrets", "a", "x"), elsewhere];
        let mut collections = of(&parts);
        for (at, version) in ["7", "5", "9", "3"].into_iter().enumerate() {
            assert!(collections.is_whole(at));
            assert_eq!(collections.synced(at, &version.into()), Some(version.into()));
        }
    }

    #[test]
    fn names_sync_with_last_part_at_oldest_version() {
        let mut collections = of(&["x", "y", "z"].map(|name| part("pods", "a", name)));
        assert!((0..3).all(|at| !collections.is_whole(at)));
        assert_eq!(collections.synced(2, &"9".into()), None);
        assert_eq!(collections.synced(0, &"8".into()), None);
        assert_eq!(collections.synced(1, &"10".into()), Some("8".into()));
        assert_eq!(collections.ended(1), None);
    }

    #[test]
    fn ended_name_is_not_pending() {
        let mut collections = of(&["x", "y"].map(|name| part("pods", "a", name)));
        assert_eq!(collections.synced(0, &"8".into()), None);
        assert_eq!(collections.ended(1), Some("8".into()));
        let mut collections = of(&["x", "y"].map(|name| part("pods", "a", name)));
        assert_eq!(collections.ended(0), None);
        assert_eq!(collections.ended(1), None);
    }

    #[test]
    fn rejoining_names_do_not_sync_again() {
        let name = |name| part("pods", "a", name);
        let mut collections = of(&["x", "y"].map(name));
        assert_eq!(collections.synced(0, &"7".into()), None);
        assert_eq!(collections.synced(1, &"8".into()), Some("7".into()));
        collections.remove(0);
        collections.add(2, &name("x"));
        assert_eq!(collections.synced(2, &"9".into()), None, "already synced");
        collections.remove(1);
        collections.remove(2);
        collections.add(3, &name("x"));
        assert_eq!(collections.synced(3, &"10".into()), Some("10".into()), "the collection was removed");
        collections.add(4, &name("y"));
        assert_eq!(collections.synced(4, &"11".into()), None);
        assert_eq!(collections.ended(4), None);
    }

    #[test]
    fn removed_collection_syncs_again() {
        let mut collections = of(&[part("pods", "a", "")]);
        assert_eq!(collections.synced(0, &"8".into()), Some("8".into()));
        collections.remove(0);
        assert_eq!(collections.synced(0, &"9".into()), None, "removed part");
        collections.add(1, &part("pods", "a", ""));
        assert!(collections.is_whole(1));
        assert_eq!(collections.synced(1, &"9".into()), Some("9".into()));
        assert!(collections.all.len() == 1 && collections.parts.len() == 1, "removed parts leave no state");
    }
}
