//! Which parts are one collection to the reader: the names of a resource in a namespace are watched one by one, and told
//! as one.

use std::cmp::Ordering;

use kdelta::object::ResourceVersion;

use crate::session::Part;

/// The collections that some parts belong to.
pub(super) struct Collections {
    /// For each part its collection, and whether that still waits for it.
    parts: Vec<(usize, bool)>,
    all: Vec<Collection>,
}

struct Collection {
    parts: usize,
    waits_for: usize,
    /// The oldest version that a part was listed at: nothing is said of what came after it.
    version: Option<ResourceVersion>,
}

impl Collections {
    /// Those of these parts, none of which has synced.
    pub(super) fn of(parts: &[Part]) -> Self {
        let mut firsts: Vec<&Part> = Vec::new();
        let mut these = Self { parts: Vec::with_capacity(parts.len()), all: Vec::new() };
        for part in parts {
            let same = |first: &&Part| first.resource == part.resource && first.namespace == part.namespace;
            let at = firsts.iter().position(same).unwrap_or(firsts.len());
            if at == firsts.len() {
                firsts.push(part);
                these.all.push(Collection { parts: 0, waits_for: 0, version: None });
            }
            these.all[at].parts += 1;
            these.all[at].waits_for += 1;
            these.parts.push((at, true));
        }
        these
    }

    /// Whether a part is all of its collection, so that what is said of the one holds for the other.
    pub(super) fn is_whole(&self, part: usize) -> bool {
        self.all[self.parts[part].0].parts == 1
    }

    /// A part has synced: answers the version of its collection if that has now synced, too.
    pub(super) fn synced(&mut self, part: usize, version: &ResourceVersion) -> Option<ResourceVersion> {
        let oldest = &mut self.all[self.parts[part].0].version;
        let is_older = |than: &ResourceVersion| version.compare(than) == Ok(Ordering::Less);
        if oldest.as_ref().is_none_or(is_older) {
            *oldest = Some(version.clone());
        }
        self.settled(part)
    }

    /// A part has ended: answers the version of its collection if that waited for nothing else.
    pub(super) fn ended(&mut self, part: usize) -> Option<ResourceVersion> {
        self.settled(part)
    }

    fn settled(&mut self, part: usize) -> Option<ResourceVersion> {
        let (at, waited_for) = &mut self.parts[part];
        if !std::mem::take(waited_for) {
            return None;
        }
        let collection = &mut self.all[*at];
        collection.waits_for -= 1;
        collection.version.clone().filter(|_| collection.waits_for == 0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kdelta::object::ApiResource;

    use super::*;

    fn part(resource: &str, namespace: &str, name: &str) -> Part {
        let resource = ApiResource {
            group: String::new(),
            version: "v1".into(),
            resource: resource.into(),
            kind: resource.into(),
            namespaced: true,
        };
        let name = Some(name).filter(|name| !name.is_empty()).map(Arc::from);
        Part { resource: Arc::new(resource), namespace: namespace.into(), name }
    }

    #[test]
    fn whole_parts_sync_each_by_itself() {
        let mut collections =
            Collections::of(&[part("pods", "a", ""), part("pods", "b", ""), part("secrets", "a", "x")]);
        for (at, version) in ["7", "5", "9"].into_iter().enumerate() {
            assert!(collections.is_whole(at));
            assert_eq!(collections.synced(at, &version.into()), Some(version.into()));
        }
    }

    #[test]
    fn names_have_synced_with_the_last_of_them_up_to_the_oldest_list() {
        let mut collections = Collections::of(&["x", "y", "z"].map(|name| part("pods", "a", name)));
        assert!((0..3).all(|at| !collections.is_whole(at)));
        assert_eq!(collections.synced(2, &"9".into()), None);
        assert_eq!(collections.synced(0, &"8".into()), None);
        assert_eq!(collections.synced(1, &"10".into()), Some("8".into()));
        assert_eq!(collections.ended(1), None);
    }

    #[test]
    fn a_name_that_ends_is_not_waited_for() {
        let mut collections = Collections::of(&["x", "y"].map(|name| part("pods", "a", name)));
        assert_eq!(collections.synced(0, &"8".into()), None);
        assert_eq!(collections.ended(1), Some("8".into()));
        let mut collections = Collections::of(&["x", "y"].map(|name| part("pods", "a", name)));
        assert_eq!(collections.ended(0), None);
        assert_eq!(collections.ended(1), None);
    }
}
